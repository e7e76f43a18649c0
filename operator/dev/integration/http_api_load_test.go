package integration

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// loaded returns a Prometheus that selects 50 monitors with 1,000 targets.
func loaded(ns, id string) string {
	var out strings.Builder
	fmt.Fprintf(&out, `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: %[1]s, annotations: {operator.prometheus.io/controller-id: %[2]s}}
spec: {shards: 2, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}}
`, ns, id)
	for i := range 50 {
		var endpoints []string
		for k := range 20 {
			endpoints = append(endpoints, fmt.Sprintf("{addresses: [10.1.%d.%d]}", i, k))
		}
		fmt.Fprintf(&out, `---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web-%[2]d, namespace: %[1]s}
spec: {selector: {matchLabels: {app: web-%[2]d}}, endpoints: [{port: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: web-%[2]d, namespace: %[1]s, labels: {app: web-%[2]d}}
spec: {clusterIP: None, ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-%[2]d-1, namespace: %[1]s, labels: {kubernetes.io/service-name: web-%[2]d}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [%[3]s]
`, ns, i, strings.Join(endpoints, ", "))
	}
	return out.String()
}

// load is the activity of an operator during an interval.
type load struct {
	reconciled, seconds, resident float64
	changes                       int64
	answers                       map[int]int
}

func (l load) String() string {
	return fmt.Sprintf("%d changes, %.0f reconciliations of %.1f ms, %.0f MB, answers by code %v", l.changes, l.reconciled, 1000*l.seconds/max(1, l.reconciled), l.resident/1e6, l.answers)
}

// TestHTTPAPILoad (on demand) compares an operator with 200 callers to one without, while up to 100 monitors change per
// second.
func TestHTTPAPILoad(t *testing.T) {
	if os.Getenv("FIREKEEPER_LOAD") == "" {
		t.Skip("set FIREKEEPER_LOAD=1 for a load test of a minute")
	}
	w := start(t)
	o := w.operator(t, "http-api-load", "", "--controller-id=http-api-load")
	ns := w.namespace(t)
	w.apply(t, loaded(ns, "http-api-load"))
	w.apply(t, fmt.Sprintf(callers, ns))
	for _, more := range []string{"targets", "rbac"} {
		text, err := os.ReadFile(deploy(t, "components/http-api/"+more+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		w.apply(t, strings.NewReplacer("firekeeper-operator-", "integration-load-"+more+"-", "name: prometheus-operator\n  namespace", "name: http-api-load\n  namespace").Replace(string(text)))
	}
	w.reconciled(t, ns, "main", "True")
	token := w.token(t, ns, "reader")
	group := "/apis/monitoring.coreos.com/v1/namespaces/" + ns + "/prometheuses/main/"
	eventually(t, "the API answers", func() error {
		code, body := o.ask(t, group+"targets?state=kept", token)
		if code != http.StatusOK || !strings.Contains(body, `"synced":true`) {
			return fmt.Errorf("%d %.300s", code, body)
		}
		return nil
	})
	paths := []string{group + "status", group + "overview", group + "sources?limit=100", group + "rollout", group + "targets", group + "targets?state=kept&limit=100", "/api/v1/overview"}
	alone := o.under(t, ns, token, nil)
	before := len(w.audit.calls(t, o.user))
	together := o.under(t, ns, token, paths)
	other := map[string]int{}
	for _, c := range w.audit.calls(t, o.user)[before:] {
		other[c.Verb+" "+c.resource()]++
	}
	t.Logf("alone: %s", alone)
	t.Logf("with 200 callers: %s", together)
	t.Logf("calls with callers: %v", other)
	if together.answers[http.StatusOK] == 0 || other["list endpointslices"]+other["get secrets"]+other["list servicemonitors"] > 0 {
		t.Error("no answers, or answers that cost calls")
	}
	if together.resident > 2*alone.resident+100e6 {
		t.Error("the memory grows with the callers")
	}
}

// under measures an operator for 20 s, with callers that request the paths, if there are any.
func (o *operator) under(t *testing.T, ns, token string, paths []string) (out load) {
	t.Helper()
	began, stop := o.now(t), make(chan struct{})
	monitors := o.environment.resource(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns)
	var running sync.WaitGroup
	var changes atomic.Int64
	for writer := range 4 {
		running.Go(func() {
			tick := time.NewTicker(40 * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				patch := fmt.Appendf(nil, `{"spec": {"endpoints": [{"port": "http", "interval": "%ds"}]}}`, 30+n%20)
				if _, err := monitors.Patch(t.Context(), fmt.Sprintf("web-%d", (4*n+writer)%50), types.MergePatchType, patch, metav1.PatchOptions{}); err == nil {
					changes.Add(1)
				}
			}
		})
	}
	var mu sync.Mutex
	out.answers = map[int]int{}
	for caller := range 200 * min(1, len(paths)) {
		running.Go(func() {
			for n := caller; ; n++ {
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
				}
				r, err := http.NewRequest(http.MethodGet, o.url+paths[n%len(paths)], nil)
				if err != nil {
					panic(err)
				}
				r.Header.Set("Authorization", "Bearer "+token)
				code := 0
				if resp, err := http.DefaultClient.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					code = resp.StatusCode
				}
				mu.Lock()
				out.answers[code]++
				mu.Unlock()
			}
		})
	}
	time.Sleep(20 * time.Second)
	close(stop)
	running.Wait()
	ended := o.now(t)
	out.reconciled, out.seconds, out.resident, out.changes = ended.reconciled-began.reconciled, ended.seconds-began.seconds, ended.resident, changes.Load()
	return out
}

// now returns the activity of the operator since its start.
func (o *operator) now(t *testing.T) (out load) {
	t.Helper()
	families, err := o.families()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range families["prometheus_operator_reconcile_duration_seconds"].Metric {
		if h := m.GetHistogram(); matches(m, []string{"controller", "prometheus"}) {
			out.reconciled, out.seconds = float64(h.GetSampleCount()), h.GetSampleSum()
		}
	}
	if f := families["process_resident_memory_bytes"]; f != nil {
		out.resident = f.Metric[0].GetGauge().GetValue()
	}
	return out
}
