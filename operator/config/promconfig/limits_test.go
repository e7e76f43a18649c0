package promconfig

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestJobLimit(t *testing.T) {
	show := func(v *uint64) any {
		if v == nil {
			return "nothing"
		}
		return *v
	}
	for name, tc := range map[string]struct {
		user, limit *uint64
		inherits    bool
		want        any
	}{
		"no cap keeps nothing":                   {nil, nil, true, "nothing"},
		"no cap keeps zero":                      {new(uint64(0)), nil, true, uint64(0)},
		"a zero cap is none":                     {new(uint64(5)), new(uint64(0)), true, uint64(5)},
		"no value inherits":                      {nil, new(uint64(9)), true, "nothing"},
		"zero inherits and does not escape":      {new(uint64(0)), new(uint64(9)), true, "nothing"},
		"no value takes the cap without it":      {nil, new(uint64(9)), false, uint64(9)},
		"zero takes the cap without inheritance": {new(uint64(0)), new(uint64(9)), false, uint64(9)},
		"the smaller value wins":                 {new(uint64(5)), new(uint64(9)), true, uint64(5)},
		"the smaller cap wins":                   {new(uint64(12)), new(uint64(9)), false, uint64(9)},
	} {
		if got := show(jobLimit(tc.user, tc.limit, tc.inherits)); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

func FuzzJobLimitNeverExceedsTheCap(f *testing.F) {
	f.Add(uint64(7), uint64(5), true)
	f.Add(uint64(0), uint64(5), false)
	f.Fuzz(func(t *testing.T, user, limit uint64, inherits bool) {
		got := jobLimit(&user, &limit, inherits)
		if limit > 0 && got != nil && (*got == 0 || *got > limit) {
			t.Errorf("jobLimit(%d, %d) = %d escapes the cap", user, limit, *got)
		}
		if limit > 0 && !inherits && got == nil {
			t.Errorf("jobLimit(%d, %d) has no cap", user, limit)
		}
	})
}

func FuzzBodySizeNeverExceedsTheCap(f *testing.F) {
	f.Add("2GB", "1000MB")
	f.Add("0", "1MB")
	f.Add("junk", "1MB")
	f.Add("8EB", "1MB") // accepted by the CRD, and negative where it is parsed
	f.Add("-5MB", "1MB")
	f.Fuzz(func(t *testing.T, user, limit string) {
		got := enforcedLimits{BodySize: v1.ByteSize(limit)}.jobBodySize(v1.ByteSize(user))
		if max := bytesOf(v1.ByteSize(limit)); max > 0 && (bytesOf(got) <= 0 || bytesOf(got) > max) {
			t.Errorf("jobBodySize(%q, %q) = %q escapes the cap", user, limit, got)
		}
	})
}
