package client

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestPackedIsWhole: for each field of each kind that workloads select, an object that was packed is the object that
// was not, also where a value is empty and not missing, or does not fit.
func TestPackedIsWhole(t *testing.T) {
	for _, row := range catalog.All {
		if row.IsWorkload() {
			continue
		}
		fit, faulty := 0, 0
		leaves(specOf(t, row), "spec", func(s string) string { return s }, func(field, spec string) {
			if !strings.HasPrefix(spec, "{") {
				return
			}
			text := fmt.Appendf(nil, `{"metadata":{"name":"a","labels":{"team":"x"},"managedFields":[{"manager":"kubectl"}]},"spec":{%64s%s,"status":{"bindings":[{"name":"w"}]}}`, "", spec[1:])
			want, got := row.New(), row.New().(packable)
			if err, other := manifest.DecodeStored(text, want), manifest.DecodePacked(text, got); err != nil || other != nil {
				t.Fatalf("%s: %v, packed %v", field, err, other)
			}
			want.SetManagedFields(nil)
			if v1.Undecodable(want) == nil {
				fit++
			} else {
				faulty++
			}
			if got.GetDecoding().Packed == "" || !reflect.ValueOf(got).Elem().FieldByName("Spec").IsZero() || v1.Undecodable(got) == nil {
				t.Errorf("%s: not packed, or usable without its spec: %+v", field, got)
			}
			if whole := manifest.Whole[any](got); !reflect.DeepEqual(whole, want) {
				t.Errorf("%s: %+v, want %+v", field, whole, want)
			}
		})
		if fit < 10 || faulty == 0 {
			t.Errorf("%s: tried %d objects without and %d with faults", row.Kind, fit, faulty)
		}
	}
}

// TestPackedInAnyOrder: the order of the members, which API servers sort, does not matter.
func TestPackedInAnyOrder(t *testing.T) {
	spec := `"spec":{"jobLabel":"` + strings.Repeat("x", 100) + `"}`
	for _, text := range []string{`{` + spec + `,"metadata":{"managedFields":[{}],"name":"a"}}`, `{"metadata":{},` + spec + `,"metadata":{"managedFields":[{}],"name":"a"}}`} {
		m := &v1.ServiceMonitor{}
		if err := manifest.DecodePacked([]byte(text), m); err != nil || m.Name != "a" || m.ManagedFields != nil || len(manifest.Whole(m).Spec.JobLabel) != 100 {
			t.Errorf("%s: %v, %+v", text, err, m)
		}
	}
}

// TestPackedSize: the size of a packed object is about that of the decoded one.
func TestPackedSize(t *testing.T) {
	for text, into := range map[string]packable{
		`{"kind":"PrometheusRule","metadata":{"name":"a"},"spec":{"groups":[{"name":"g","rules":[` + strings.Repeat(`{"alert":"A","expr":"up == 0","labels":{"severity":"warning"}},`, 50) + `{}]}]}}`: &v1.PrometheusRule{},
		`{"kind":"ServiceMonitor","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"app":"cart"}},"endpoints":[{"port":"http","relabelings":[{"sourceLabels":["a"],"targetLabel":"b"}]}]}}`:  &v1.ServiceMonitor{},
		`{"kind":"Probe","metadata":{"name":"a"},"spec":{"targets":{"staticConfig":{"static":["` + strings.Repeat("x", 100_000) + `"]}}}}`:                                                             &v1.Probe{},
	} {
		if err := manifest.DecodePacked([]byte(text), into); err != nil || into.GetDecoding().Packed == "" {
			t.Fatalf("%v, packed %q", err, into.GetDecoding().Packed)
		}
		size, want := into.GetDecoding().Size, budget.Size(manifest.Whole[any](into), budget.DecodedBytes)
		if size < want || size > want*5/4 {
			t.Errorf("%s: %d bytes, decoded %d", text[:60], size, want)
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

// TestPackedMonitor: the spec of a usual monitor takes a third of its JSON.
func TestPackedMonitor(t *testing.T) {
	spec := `{"endpoints":[{"interval":"15s","port":"web","relabelings":[{"action":"replace","sourceLabels":["__meta_kubernetes_pod_label_tier"],"targetLabel":"tier"},` +
		`{"action":"drop","regex":"canary","sourceLabels":["__meta_kubernetes_pod_label_track"]}],"tlsConfig":{"insecureSkipVerify":true}}],"namespaceSelector":{"matchNames":["checkout"]},"selector":{"matchLabels":{"app":"cart","team":"shop"}}}`
	m := &v1.ServiceMonitor{}
	if err := manifest.DecodePacked([]byte(`{"kind":"ServiceMonitor","metadata":{"name":"a"},"spec":`+spec+`}`), m); err != nil {
		t.Fatal(err)
	}
	if n := len(m.Packed); n == 0 || n*3 > len(spec) {
		t.Errorf("%d bytes of JSON take %d bytes", len(spec), n)
	} else {
		t.Logf("%d bytes of JSON take %d bytes", len(spec), n)
	}
	if port := manifest.Whole(m).Spec.Endpoints[0].Port; port != "web" {
		t.Errorf("port %q", port)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkDecode measures the work of the cache for an object of a watch, and the additional work of a compilation.
func BenchmarkDecode(b *testing.B) {
	for name, of := range map[string]struct {
		text string
		into packable
	}{
		"monitor": {`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"labels":{"team":"a"},"name":"cart","namespace":"shop","uid":"8b0c7f6e-1234-4c1e-9d0a-0123456789ab","resourceVersion":"1"},"spec":{"selector":{"matchLabels":{"app":"cart"}},"endpoints":[` +
			strings.TrimSuffix(strings.Repeat(`{"port":"http","interval":"30s","path":"/metrics","relabelings":[{"sourceLabels":["__meta_kubernetes_pod_node_name"],"targetLabel":"node"},{"action":"labeldrop","regex":"pod_template_hash"}]},`, 2), ",") + `]}}`, &v1.ServiceMonitor{}},
		"rules": {`{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"labels":{"team":"a"},"name":"cart","namespace":"shop","uid":"8b0c7f6e-1234-4c1e-9d0a-0123456789ab","resourceVersion":"1"},"spec":{"groups":[{"name":"errors","rules":[` +
			strings.TrimSuffix(strings.Repeat(`{"alert":"ServiceErrorRateHigh","expr":"sum by (job) (rate(http_requests_total{code=~\"5..\"}[5m])) > 0.1","for":"10m","labels":{"severity":"warning"},"annotations":{"summary":"{{ $labels.job }} answers many requests with an error."}},`, 20), ",") + `]}]}}`, &v1.PrometheusRule{}},
	} {
		b.Run("cache/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(of.text)))
			b.ReportAllocs()
			for b.Loop() {
				into := reflect.New(reflect.TypeOf(of.into).Elem()).Interface().(packable)
				if err := manifest.DecodePacked([]byte(of.text), into); err != nil {
					b.Fatal(err)
				}
				of.into = into
			}
		})
		b.Run("whole/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v1.Undecodable(manifest.Whole[any](of.into)) != nil {
					b.Fatal("not decoded")
				}
			}
		})
	}
}
