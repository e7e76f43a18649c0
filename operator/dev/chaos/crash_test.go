package chaos

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// The programs of the control plane are killed at the first write of each step.
func TestControlPlaneKilled(t *testing.T) {
	needsAll(t)
	w := own(t)
	c := newCycle(t, w, scenario(t, "shards"))
	for _, crash := range Crashes() {
		for _, step := range c.Steps {
			try(t, crash.Name, c.Name, len(c.Steps), crash.Name+" "+step.Name, func(t *testing.T) {
				c.operator.Idle(t)
				c.operator.Proxy.Reset()
				c.mirror.Begin()
				made, reached := make(chan struct{}), make(chan struct{})
				first := sync.OnceFunc(func() { close(reached) })
				restarted := make(chan struct{})
				c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Writes, func(w http.ResponseWriter, r *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
					<-made
					first()
					<-restarted
					forward(w, r)
				}))
				at := c.step(t)
				close(made)
				select {
				case <-reached:
				case <-time.After(trial.Deadline):
					t.Error("the step writes nothing")
				}
				restart, err := w.Cluster.Crash(crash.Programs...)
				if err != nil {
					t.Fatal(err)
				}
				if crash.Compacts {
					compact(t, w)
				}
				if err := restart(t.Context()); err != nil {
					t.Fatal(err)
				}
				back := time.Now()
				c.operator.Proxy.Disturb(nil)
				close(restarted)
				// Each list and watch may be tried some times until the API server responds.
				c.recovers(t, at, allow{calls: 10*c.idle + c.doing(at)})
				t.Logf("done %s after the API server responded", time.Since(back).Round(100*time.Millisecond))
			})
		}
	}
}

// compact makes etcd forget all versions but the current ones.
func compact(t *testing.T, w *trial.World) {
	t.Helper()
	ask := func(path string, body, into any) {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.Cluster.Etcd+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Fatalf("etcd: %s answers %s", path, response.Status)
		}
		if err := json.NewDecoder(response.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	var found struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	ask("/v3/kv/range", map[string]any{"key": "AA==", "limit": "1"}, &found)
	ask("/v3/kv/compaction", map[string]any{"revision": found.Header.Revision, "physical": true}, &struct{}{})
}

func scenario(t *testing.T, name string) Scenario {
	t.Helper()
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no scenario %s", name)
	return Scenario{}
}
