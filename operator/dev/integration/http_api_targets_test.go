package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// reading returns the decoded response of an API path.
func reading[T any](t *testing.T, o *operator, path string) (out T) {
	t.Helper()
	code, body := o.ask(t, path, "")
	if err := json.Unmarshal([]byte(body), &out); code != http.StatusOK || err != nil {
		t.Fatalf("%s: %d %v\n%s", path, code, err, body)
	}
	return out
}

// The operator responds from its caches. Only the first request for targets starts more watches; no request calls the
// API server otherwise.
func TestHTTPAPIKnowsTheCluster(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "http-api-targets", "", "--controller-id=http-api-targets", "--web.api=open")
	ns := w.namespace(t)
	manifests := strings.ReplaceAll(strings.ReplaceAll(beforeChange, "NAMESPACE", ns), "controller-id: nobody", "controller-id: http-api-targets")
	w.apply(t, manifests)
	w.reconciled(t, ns, "main", "True")
	group := "/apis/monitoring.coreos.com/v1/namespaces/" + ns
	paths := []string{
		"/api/v1/overview", group + "/prometheuses/main/overview", group + "/prometheuses/main/sources", group + "/prometheuses/main/rollout",
		"/", "/index.json", "/prometheuses/" + ns + "/main", "/prometheuses/" + ns + "/main?tab=targets", "/servicemonitors/" + ns + "/web", group + "/prometheuses/main/config", group + "/servicemonitors/web/explain", group + "/prometheuses/main/targets", group + "/servicemonitors/web/targets",
	}
	targets, ofMonitor := group+"/prometheuses/main/targets", group+"/servicemonitors/web/targets"
	if n, err := o.metric("prometheus_operator_web_informers"); err != nil || n != 0 {
		t.Errorf("%v informers before a question (%v)", n, err)
	}
	eventually(t, "the missing permission is named", func() error {
		got := reading[insight.Targets](t, o, targets)
		if text := fmt.Sprint(got.Notes); got.Counts.Unknown == 0 || !strings.Contains(text, "no permission to list endpointslices.discovery.k8s.io") || !strings.Contains(text, "the component http-api") {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	role, err := os.ReadFile(deploy(t, "components/http-api/targets.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, strings.NewReplacer("firekeeper-operator-targets", "integration-finds-targets", "name: prometheus-operator\n  namespace", "name: http-api-targets\n  namespace").Replace(string(role)))
	eventually(t, "targets are found", func() error {
		if got := reading[insight.Targets](t, o, targets); !got.Synced || got.Counts.Kept != 2 || got.Counts.Dropped["spec.selector.matchLabels[\"app\"]"] != 1 || len(got.Items) != 3 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	o.settle(t)
	before, began := len(w.audit.calls(t, o.user)), time.Now()
	for range 20 {
		for _, path := range paths {
			if code, body := o.ask(t, path, ""); code != http.StatusOK {
				t.Fatalf("%s: %d %s", path, code, body)
			}
		}
	}
	reviews := 0
	for _, c := range w.audit.calls(t, o.user)[before:] {
		switch {
		case strings.HasSuffix(c.URI, "accessreviews"): // responses are cached only for a short time
			reviews++
		case c.URI == "/readyz": // before permissions of accounts are reviewed again, every minute
		case c.Verb != "watch": // watches end and are restarted
			t.Errorf("a question led to: %s %s", c.what(), c.URI)
		}
	}
	if most := 20 * (1 + int(time.Since(began)/(2*time.Second))); reviews > most {
		t.Errorf("%d reviews for %d requests, want at most %d", reviews, 20*len(paths), most)
	}
	w.apply(t, fmt.Sprintf(`
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: %s, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 80}]
endpoints: [{addresses: [10.0.0.1]}, {addresses: [10.0.0.2]}, {addresses: [10.0.0.4]}]
`, ns))
	eventually(t, "the new target is known", func() error {
		if got := reading[insight.Targets](t, o, ofMonitor+"?state=kept"); got.Counts.Kept != 3 || len(got.Items) != 3 {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	got := reading[insight.Targets](t, o, targets+"?state=kept")
	trace := reading[insight.Trace](t, o, targets+"/"+got.Items[0].ID+"?job="+got.Items[0].Job)
	if len(trace.Steps) < 5 || trace.Target.URL != got.Items[0].URL {
		t.Errorf("%+v", trace)
	}
	if n, err := o.metric("prometheus_operator_web_followed_targets"); err != nil || n != 3 {
		t.Errorf("%v targets are followed (%v)", n, err)
	}
}
