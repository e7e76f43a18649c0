package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// The programs of the control plane are killed at the first write of each step, or etcd refuses writes or stops.
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
				release, refused := make(chan struct{}), faultproxy.NewTally(6)
				c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Writes, func(w http.ResponseWriter, r *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
					<-made
					first()
					<-release
					faultproxy.Refused(refused)(w, r, call, forward)
				}))
				at := c.step(t)
				close(made)
				await(t, "the first write of the step", reached)
				lift := begin(t, w, crash)
				switch crash.Then {
				case Fills:
					close(release)
					await(t, "six refused writes", refused.Full())
					lift()
				case Stops:
					close(release)
					lift()
				default:
					lift()
					close(release)
				}
				back := time.Now()
				c.operator.Proxy.Disturb(nil)
				// Each list and watch may be tried some times until the API server responds.
				c.recovers(t, at, allow{calls: 10*c.idle + c.doing(at) + 2*refused.N()})
				t.Logf("done %s after the API server responded", time.Since(back).Round(100*time.Millisecond))
			})
		}
	}
}

// await waits until a channel is closed, and fails the test if that takes too long.
func await(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(trial.Deadline):
		t.Errorf("%s: not within %s", what, trial.Deadline)
	}
}

// begin kills, fills or stops what a crash names. lift ends that, and waits until the API server responds.
func begin(t *testing.T, w *trial.Environment, crash Crash) (lift func()) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	switch crash.Then {
	case Fills:
		id := memberOf(t, w)
		alarm(t, w, "ACTIVATE", id)
		return func() { alarm(t, w, "DEACTIVATE", id) }
	case Stops:
		pid := w.Cluster.Processes()["etcd"]
		must(syscall.Kill(pid, syscall.SIGSTOP))
		t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // if the test ends before lift
		return func() {
			untilReady(t, w, false)
			must(syscall.Kill(pid, syscall.SIGCONT))
			untilReady(t, w, true)
		}
	}
	restart, err := w.Cluster.Crash(crash.Lost...)
	must(err)
	return func() {
		if crash.Then == Compacts {
			compact(t, w)
		}
		must(restart(t.Context()))
	}
}

// untilReady waits until kube-apiserver reports that it is ready, or that it is not.
func untilReady(t *testing.T, w *trial.Environment, want bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, trial.Deadline, true, func(ctx context.Context) (bool, error) {
		err := w.Kube.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		return (err == nil) == want, nil
	})
	if err != nil {
		t.Fatalf("kube-apiserver ready: not %v in time: %v", want, err)
	}
}

// compact makes etcd forget all versions but the current ones.
func compact(t *testing.T, w *trial.Environment) {
	t.Helper()
	var found struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	askEtcd(t, w, "/v3/kv/range", map[string]any{"key": "AA==", "limit": "1"}, &found)
	askEtcd(t, w, "/v3/kv/compaction", map[string]any{"revision": found.Header.Revision, "physical": true}, &struct{}{})
}

// memberOf returns the ID of the only member of etcd.
func memberOf(t *testing.T, w *trial.Environment) string {
	t.Helper()
	var found struct {
		Members []struct {
			ID string `json:"ID"`
		} `json:"members"`
	}
	askEtcd(t, w, "/v3/cluster/member/list", struct{}{}, &found)
	if len(found.Members) != 1 {
		t.Fatalf("etcd has %d members", len(found.Members))
	}
	return found.Members[0].ID
}

// alarm sets or removes what etcd sets when its file exceeds its quota: it refuses writes until the alarm is removed.
func alarm(t *testing.T, w *trial.Environment, action, member string) {
	t.Helper()
	askEtcd(t, w, "/v3/maintenance/alarm", map[string]any{"action": action, "memberID": member, "alarm": "NOSPACE"}, &struct{}{})
}

// askEtcd sends a request to the HTTP API of etcd and decodes its response.
func askEtcd(t *testing.T, w *trial.Environment, path string, body, into any) {
	t.Helper()
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
