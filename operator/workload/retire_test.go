package workload

import (
	"testing"
	"time"
)

func TestRetire(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	const retain = `shardRetentionPolicy: {whenScaled: Retain}`
	deadline := func(s string) map[string]string { return map[string]string{AnnotationDeletionDeadline: s} }
	for name, tc := range map[string]struct {
		spec        string
		annotations map[string]string
		want        Retirement
		bad         bool
	}{
		"no policy deletes":              {``, deadline("0001-01-01T00:00:00Z"), Retirement{Delete: true}, false},
		"policy Delete deletes":          {`shardRetentionPolicy: {whenScaled: Delete}`, deadline("2099-01-01T00:00:00Z"), Retirement{Delete: true}, false},
		"default time":                   {retain, nil, Retirement{Deadline: "2026-03-02T11:00:00Z"}, false},
		"retention of the server":        {`{retention: 15d, retentionSize: 1GB, ` + retain + `}`, nil, Retirement{Deadline: "2026-03-16T11:00:00Z"}, false},
		"size only keeps forever":        {`{retentionSize: 1GB, ` + retain + `}`, nil, Retirement{Deadline: "0001-01-01T00:00:00Z"}, false},
		"its own period wins":            {`{retention: 15d, shardRetentionPolicy: {whenScaled: Retain, retain: {retentionPeriod: 1h}}}`, nil, Retirement{Deadline: "2026-03-01T12:00:00Z"}, false},
		"a period of zero is forever":    {`shardRetentionPolicy: {whenScaled: Retain, retain: {retentionPeriod: "0"}}`, nil, Retirement{Deadline: "0001-01-01T00:00:00Z"}, false},
		"a deadline to come is kept":     {retain, deadline("2026-03-01T11:00:01Z"), Retirement{}, false},
		"a deadline that passed deletes": {retain, deadline("2026-03-01T10:59:59Z"), Retirement{Delete: true}, false},
		"the zero time never passes":     {retain, deadline("0001-01-01T00:00:00Z"), Retirement{}, false},
		"an unreadable deadline keeps":   {retain, deadline("soon"), Retirement{}, true},
		"an unreadable duration keeps":   {`{retention: soon, ` + retain + `}`, nil, Retirement{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := serverOwner(t, tc.spec).Retire(tc.annotations, now)
			if got != tc.want || (err != nil) != tc.bad {
				t.Errorf("Retire = %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
	off := testConfig()
	off.ShardRetention = false
	if got, err := ForServer(server(t, retain), off).Retire(nil, now); err != nil || !got.Delete {
		t.Errorf("gate off: %+v, %v", got, err)
	}
}
