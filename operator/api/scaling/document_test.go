package scaling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
)

func TestDocument(t *testing.T) {
	want := scaling.Document{scaling.Name("Prometheus", "a", "b"): {Shards: 3, Target: 2, Since: time.Unix(1, 0).UTC(), Held: &scaling.Held{Reason: scaling.AtMaxShards, Message: "…"}}}
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := scaling.Decode(text); err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := scaling.Decode(nil); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	for text, part := range map[string]string{"[]": "no valid numbers of shards: json: ", `{"a":{"shards":"1"}}`: "no valid numbers of shards: json: ", strings.Repeat(" ", scaling.MaxBytes+1): "more than 983040"} {
		if _, err := scaling.Decode([]byte(text)); !errors.Is(err, scaling.ErrInvalid) || !strings.Contains(err.Error(), part) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// The number of shards of all workloads is written, also if there is no room for their history.
func TestManyWorkloads(t *testing.T) {
	all := scaling.Document{}
	for i := range 5000 {
		w := scaling.Workload{Shards: i, Target: i, Held: &scaling.Held{Reason: scaling.NotRetained, Message: strings.Repeat("m", 100)}}
		for range 20 {
			w.Remember(scaling.Step{From: 1, To: 2, Why: "more shards are needed"})
		}
		if len(w.Steps) != 10 {
			t.Fatalf("%d steps", len(w.Steps))
		}
		all[scaling.Name("Prometheus", fmt.Sprintf("namespace-%d", i), "k8s")] = w
	}
	text, err := all.Encode()
	if err != nil || len(text) > scaling.MaxBytes {
		t.Fatal(len(text), err)
	}
	got, err := scaling.Decode(text)
	if err != nil || len(got) != len(all) || got["Prometheus/namespace-77/k8s"].Shards != 77 || got["Prometheus/namespace-77/k8s"].Held.Reason != scaling.NotRetained {
		t.Errorf("%d workloads, %v", len(got), err)
	}
	if all["Prometheus/namespace-77/k8s"].Held.Message == "" || len(all["Prometheus/namespace-77/k8s"].Steps) == 0 {
		t.Error("the document itself was shortened")
	}
	for i := range 20_000 {
		all[fmt.Sprint(i)] = scaling.Workload{}
	}
	if _, err := all.Encode(); err == nil {
		t.Error("25,000 workloads have room")
	}
}
