package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A caller who may read the Prometheus objects of one namespace gets these in lists, and neither names nor counts of
// others. The operator requests nothing from the API server except authentication and authorization of the caller.
func TestHTTPAPICallers(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "http-api-callers", "", "--controller-id=http-api-callers")
	w.apply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-http-api-callers-reviews}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: system:auth-delegator}
subjects: [{kind: ServiceAccount, name: http-api-callers, namespace: firekeeper}]
`)
	mine, other := w.namespace(t), w.namespace(t)
	for _, ns := range []string{mine, other} {
		w.apply(t, strings.ReplaceAll(strings.ReplaceAll(withSecrets, "NAMESPACE", ns), "http-api-secrets", "http-api-callers"))
		w.reconciled(t, ns, "main", "True")
	}
	w.apply(t, strings.Replace(fmt.Sprintf(callers, mine), "verbs: [get]", "verbs: [get, list]", 1))
	token := w.token(t, mine, "reader")
	eventually(t, "the overview has the caller's Prometheus", func() error {
		code, body := o.ask(t, "/api/v1/overview", token)
		if code != http.StatusOK || !strings.Contains(body, mine) {
			return fmt.Errorf("%d %s", code, body)
		}
		return nil
	})
	o.settle(t)
	before, began := len(w.audit.calls(t, o.user)), time.Now()
	group := "/apis/monitoring.coreos.com/v1/namespaces/"
	for path, want := range map[string]int{
		"/api/v1/overview": 200, "/": 200, "/index.json": 200,
		group + mine + "/prometheuses/main/overview": 200, group + mine + "/prometheuses/main/sources": 200, group + mine + "/prometheuses/main/rollout": 200,
		group + mine + "/prometheuses/main/config": 200, group + mine + "/prometheuses/main/shards": 200, "/prometheuses/" + mine + "/main": 200,
		group + mine + "/prometheuses/none/sources": 404, group + mine + "/servicemonitors/web/explain": 403, group + mine + "/alertmanagers/main/routes": 403,
		group + other + "/prometheuses/main/overview": 403, "/prometheuses/" + other + "/main": 403, "/api/v1/namespaces/" + mine + "/pods/x/targets": 403,
	} {
		for range 5 {
			code, body := o.ask(t, path, token)
			if code != want || want == 200 && strings.Contains(body, other) {
				t.Fatalf("%s: %d, want %d\n%s", path, code, want, body)
			}
		}
		if code, body := o.ask(t, path, "x.y.z"); code != http.StatusUnauthorized || strings.Contains(body, "canary") {
			t.Errorf("%s without a token: %d %s", path, code, body)
		}
	}
	reviews := 0
	for _, c := range w.audit.calls(t, o.user)[before:] {
		switch {
		case strings.HasSuffix(c.URI, "/tokenreviews"), strings.HasSuffix(c.URI, "/subjectaccessreviews"):
			reviews++
		case strings.HasSuffix(c.URI, "/selfsubjectaccessreviews"): // the operator's own permissions
		case c.Verb != "watch": // watches end and are restarted
			t.Errorf("a question led to: %s %s", c.what(), c.URI)
		}
	}
	// Denials are cached for two seconds.
	if most := 200 * (1 + int(time.Since(began)/(2*time.Second))); reviews == 0 || reviews > most {
		t.Errorf("%d reviews for 90 requests, want at most %d", reviews, most)
	}
}
