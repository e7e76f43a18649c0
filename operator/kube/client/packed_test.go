package client

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestPackedIsWhole: for each field of each kind that workloads select, an object that was packed is the object that
// was not, also where a value is empty and not missing.
func TestPackedIsWhole(t *testing.T) {
	for _, row := range catalog.All {
		if row.IsWorkload() {
			continue
		}
		packed, unpacked := 0, 0
		leaves(specOf(t, row), "spec", func(s string) string { return s }, func(field, spec string) {
			if !strings.HasPrefix(spec, "{") {
				return
			}
			text := fmt.Appendf(nil, `{"metadata":{"name":"a","labels":{"team":"x"}},"spec":{%64s%s,"status":{"bindings":[{"name":"w"}]}}`, "", spec[1:])
			want, got := row.New(), row.New().(packable)
			if err, other := manifest.DecodeStored(text, want), manifest.DecodePacked(text, got); err != nil || other != nil {
				t.Fatalf("%s: %v, packed %v", field, err, other)
			}
			if v1.Undecodable(want) != nil {
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: with a fault %+v, want %+v", field, got, want)
				}
				unpacked++
				return
			}
			packed++
			if got.GetDecoding().Packed == "" || !reflect.ValueOf(got).Elem().FieldByName("Spec").IsZero() || v1.Undecodable(got) == nil {
				t.Errorf("%s: not packed, or usable without its spec: %+v", field, got)
			}
			if whole := manifest.Whole[any](got); !reflect.DeepEqual(whole, want) {
				t.Errorf("%s: %+v, want %+v", field, whole, want)
			}
		})
		if packed < 10 || unpacked == 0 {
			t.Errorf("%s: tried %d packed objects and %d with faults", row.Kind, packed, unpacked)
		}
	}
}

// TestPackedBytes: a cached rule object takes a fraction of its JSON.
func TestPackedBytes(t *testing.T) {
	const objects = 200
	var rules []string
	for i := range 20 {
		rules = append(rules, fmt.Sprintf(`{"alert":"ServiceErrorRateHigh%d","expr":"sum by (job) (rate(http_requests_total{code=~\"5..\"}[5m])) > 0.%02d",`+
			`"for":"10m","labels":{"severity":"warning"},"annotations":{"summary":"{{ $labels.job }} answers many requests with an error."}}`, i, i))
	}
	text := fmt.Appendf(nil, `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"namespace":"shop","name":"alerts","uid":"1"},`+
		`"spec":{"groups":[{"name":"errors","rules":[%s]}]}}`, strings.Join(rules, ","))
	kept := make([]*v1.PrometheusRule, objects)
	each := func(decode func(into *v1.PrometheusRule) error) int64 {
		before := heap()
		for i := range kept {
			kept[i] = &v1.PrometheusRule{}
			if err := decode(kept[i]); err != nil {
				t.Fatal(err)
			}
		}
		grown := heap() - before
		clear(kept)
		return grown / objects
	}
	whole := each(func(into *v1.PrometheusRule) error { return manifest.DecodeStored(text, into) })
	packed := each(func(into *v1.PrometheusRule) error { return manifest.DecodePacked(text, into) })
	if t.Logf("%d bytes of JSON: %d bytes in memory, packed %d", len(text), whole, packed); packed*3 > int64(len(text)) || packed*10 > whole {
		t.Errorf("an object of %d bytes takes %d bytes, packed %d", len(text), whole, packed)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
