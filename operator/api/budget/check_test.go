package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/jsonfields"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func repeat(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

func TestCheck(t *testing.T) {
	for name, tc := range map[string]struct{ kind, text, want string }{
		"small":                   {"ServiceMonitor", `{"spec":{"endpoints":[{}]}}`, ""},
		"many endpoints":          {"ServiceMonitor", `{"spec":{"selector":{},"endpoints":[` + repeat(`{"port":"a, [\"b]","interval":"30s"}`, Endpoints) + `]}}`, ""},
		"too many endpoints":      {"ServiceMonitor", `{"spec":{"endpoints":[` + repeat("{}", 70_000) + `]}}`, "spec.endpoints: has more than 2500 elements, the limit of one ServiceMonitor"},
		"one endpoint too many":   {"PodMonitor", `{"spec": {"podMetricsEndpoints" : [ ` + repeat(` {"port":"http"}`, Endpoints+1) + `] } }`, "spec.podMetricsEndpoints: has more than 2500 elements"},
		"empty values":            {"ServiceMonitor", `{"spec":{"endpoints":[` + repeat("null", 70_000) + `]}}`, "spec.endpoints: has more than"},
		"relabelings":             {"ServiceMonitor", `{"spec":{"endpoints":[` + repeat(`{"relabelings":[`+repeat("{}", 100)+`]}`, 300) + `]}}`, "spec.endpoints.relabelings: has more than 20000 elements"},
		"rules":                   {"PrometheusRule", `{"spec":{"groups":[{"name":"g","rules":[` + repeat(`{"expr":0}`, 140_000) + `]}]}}`, "spec.groups.rules: has more than 20000 elements"},
		"rules of 10,000 records": {"PrometheusRule", `{"spec":{"groups":[{"name":"g","rules":[` + repeat(`{"record":"a:b","expr":"sum(up)","labels":{"a":"b"}}`, 10_000) + `]}]}}`, ""},
		"groups":                  {"PrometheusRule", `{"spec":{"groups":[` + repeat(`{}`, 70_000) + `]}}`, "spec.groups: has more than"},
		"receivers":               {"AlertmanagerConfig", `{"spec":{"receivers":[` + repeat(`{}`, 70_000) + `]}}`, "spec.receivers: has more than"},
		"entries of a receiver":   {"AlertmanagerConfig", `{"spec":{"receivers":[{"slackConfigs":[` + repeat(`{}`, 70_000) + `]}]}}`, "the object has more than 4194304 bytes in memory"},
		"containers":              {"Prometheus", `{"spec":{"containers":[` + repeat(`{}`, 70_000) + `]}}`, "spec.containers: has more than 100 elements"},
		"patches of a container":  {"Alertmanager", `{"spec":{"initContainers":[{}],"containers":[` + repeat(`{"name":"alertmanager","env":[{"name":"A"}]}`, 1_000) + `]}}`, "spec.containers: has more than 100 elements"},
		"variables":               {"ThanosRuler", `{"spec":{"containers":[{"name":"a","env":[` + repeat(`{"name":"A"}`, 20_000) + `]}]}}`, "spec.containers.env: has more than 1000 elements"},
		"many variables":          {"PrometheusAgent", `{"spec":{"containers":[` + repeat(`{"name":"a","env":[`+repeat(`{"name":"A","value":"abcdefghijklmnop"}`, 10)+`]}`, 100) + `]}}`, ""},
		"annotations":             {"Probe", `{"metadata":{"annotations":{` + repeat(`"a":""`, 200_000) + `}}}`, "bytes in memory"},
		"unknown fields":          {"Probe", `{"spec":{"x":[` + repeat(`{"a":[1,"}",{}]}`, 70_000) + `],"jobName":"a"}}`, ""},
		"a field after others":    {"ServiceMonitor", `{"spec":{"x":[[{"a":"]"}],1e9,true],"selector":{"matchLabels":{"a":"\\"}},"endpoints":[` + repeat("{}", 3_000) + `]}}`, "spec.endpoints: has more than"},
		"size":                    {"ConfigMap", `"` + strings.Repeat("x", StoredBytes) + `"`, "the object has more than 1572864 bytes"},
		"another kind":            {"ConfigMap", `{"data":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, ""},
		"routes":                  {"AlertmanagerConfig", `{"spec":{"route":{"routes":[` + strings.Repeat(`{"routes":[`, 20_000) + strings.Repeat(`]}`, 20_000) + `]}}}`, ""},
	} {
		var err error
		raw := []byte(tc.text)
		budgettest.AtMost(t, name, 64<<10, func() { err = Check(tc.kind, raw) })
		if text := fmt.Sprint(err); (err == nil) != (tc.want == "") || !strings.Contains(text, tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if limit := new(Error); err != nil && !errors.As(err, &limit) {
			t.Errorf("%s: an error of type %T", name, err)
		}
	}
}

// Invalid JSON ends the scan at any position.
func TestCheckReadsAnything(t *testing.T) {
	whole := `{"metadata":{"labels":{"a":"\"b"}},"spec":{"selector":{"matchLabels":{"x":"y"}},"endpoints":[{"port":"web","relabelings":[{"sourceLabels":["a"]}],"params":{"a":["b"]}},null,1,"x",[]]}}`
	padding := strings.Repeat(" ", DecodedBytes/mostGrowth+1)
	for i := range whole {
		for _, c := range []string{"", "}", "]", ",", `"`, "{", "[", ":", `\`, "\x00"} {
			if err := Check("ServiceMonitor", []byte(padding+whole[:i]+c+whole[i:])); err != nil {
				t.Fatalf("%q at %d: %v", c, i, err)
			}
			if err := Check("ServiceMonitor", []byte(padding+whole[:i]+c)); err != nil {
				t.Fatalf("%q at %d: %v", c, i, err)
			}
		}
	}
}

// The estimate is close to the memory that the decoder allocates.
func TestEstimate(t *testing.T) {
	for kind, text := range map[string]string{
		"ServiceMonitor": `{"spec":{"endpoints":[` + repeat(`{"port":"web","relabelings":[{},{}]}`, 2_000) + `]}}`,
		"PrometheusRule": `{"spec":{"groups":[{"rules":[` + repeat(`{"expr":0}`, 15_000) + `]}]}}`,
		"Probe":          `{"spec":{"targets":{"staticConfig":{"static":[` + repeat(`"a"`, 50_000) + `]}}}}`,
	} {
		into := reflect.New(kinds[kind][0]).Interface()
		taken := budgettest.Allocated(func() {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		})
		s := scanner{text: []byte(text), kind: kind}
		s.value(kinds[kind][0])
		if s.err != nil || taken > 8*int64(s.memory) || int64(s.memory) > 2*taken {
			t.Errorf("%s: %d bytes estimated, %d allocated with garbage; %v", kind, s.memory, taken, s.err)
		}
	}
}

// No element type grows more than is assumed for objects that are not scanned.
func TestMostGrowth(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Map {
			typ = typ.Elem()
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Slice:
			if least := len("{},"); int(typ.Elem().Size()) > least*mostGrowth {
				t.Errorf("%s takes %d bytes", typ.Elem(), typ.Elem().Size())
			}
			visit(typ.Elem())
		case reflect.Struct:
			for _, f := range jsonfields.Of(typ) {
				visit(f)
			}
		}
	}
	for _, types := range kinds {
		for _, typ := range types {
			visit(typ)
		}
	}
	if !seen[reflect.TypeFor[v1.Endpoint]()] {
		t.Error("no endpoint found")
	}
}

func TestElements(t *testing.T) {
	if err := Elements("PodMonitor", "spec.x", 5, 5); err != nil {
		t.Error(err)
	}
	if err := Elements("PodMonitor", "spec.x", 6, 5); err == nil || err.Error() != "spec.x: has more than 5 elements, the limit of one PodMonitor" {
		t.Error(err)
	}
}
