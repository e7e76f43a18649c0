package promconfig

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/randfill"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A field of a PodMonitor that a ServiceMonitor has too reaches the code that compiles both.
func TestPodMonitorKeepsFields(t *testing.T) {
	var pods v1.PodMonitorSpec
	filler := randfill.NewWithSeed(1).NilChance(0).NumElements(1, 1).Funcs(func(q *resource.Quantity, _ randfill.Continue) { *q = resource.MustParse("1.5") })
	for len(pods.PodMetricsEndpoints) == 0 || !pods.PodMetricsEndpoints[0].HonorLabels { // the only field that may be filled with its zero value
		filler.Fill(&pods)
	}
	common := commonSpec(&pods)
	requireSame(t, pods, common, "podMetricsEndpoints")
	requireSame(t, pods.PodMetricsEndpoints[0], common.Endpoints[0], "portNumber", "tlsConfig") // read by podSteps and checkPodEndpoint
}

// requireSame fails if a field of one object is not set or missing in another one.
func requireSame(t *testing.T, want, got any, except ...string) {
	t.Helper()
	wanted, have := fieldsOf(t, want), fieldsOf(t, got)
	for _, field := range except {
		if wanted[field] == nil {
			t.Errorf("%s is not set", field)
		}
		delete(wanted, field)
	}
	if len(wanted) < 10 {
		t.Fatalf("only %d fields are set", len(wanted))
	}
	for field, value := range wanted {
		if !reflect.DeepEqual(have[field], value) {
			t.Errorf("%s: %v, want %v", field, have[field], value)
		}
	}
}

func fieldsOf(t *testing.T, object any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
