package livetargets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// guesses returns a PodMonitor of a tenant with one endpoint per possible first letter of an
// annotation of a pod in another namespace. Endpoints with the right guess also drop, hash or push
// out a target of the tenant.
func guesses() string {
	var endpoints []string
	for i, letter := range strings.Split("abcdefghijklmnopqrstuvwxyz0", "") {
		step := "action: keep, sourceLabels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_annotation_pin], regex: (demo;.*|other;" + letter + ".*)"
		same := ""
		if i%3 == 1 { // the tenant's target becomes a duplicate of the other
			same = ", {action: replace, targetLabel: __address__, replacement: 'x:1'}, {action: replace, targetLabel: instance, replacement: x}"
		}
		if i%3 == 2 {
			step = "action: replace, sourceLabels: [__meta_kubernetes_pod_annotation_pin], regex: " + letter + ".*, targetLabel: __scheme__, replacement: wrong"
		}
		endpoints = append(endpoints, "{port: http, relabelings: [{"+step+"}"+same+"]}")
	}
	return "metadata: {namespace: demo, name: web}\nspec: {selector: {}, targetLimit: 1, namespaceSelector: {any: true}, podMetricsEndpoints: [" + strings.Join(endpoints, ", ") + "]}"
}

// TestNoOracle: responses are identical regardless of the contents of namespaces where the caller
// may list neither pods nor services, even though the caller controls the relabel steps.
func TestNoOracle(t *testing.T) {
	answers := func(r access.Rights) (x, y string) {
		inBubble(t, func(t *testing.T, b *fixture) {
			b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, guesses()))
			secrets := func(pin string, write func(runtime.Object)) {
				for i := range 3 {
					secret := pod("other", fmt.Sprintf("vault-%d", i), "vault", 10+i)
					secret.Annotations = map[string]string{"pin": pin}
					write(secret)
				}
				settled(aMinute)
			}
			secrets("x-ray", b.api.Kind("pods").Add)
			b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
			b.request(t, r, all(ofWeb))
			b.request(t, r, all(ofMain))
			settled(aMinute)
			x = everyAnswer(t, b, r)
			secrets("yankee", b.api.Kind("pods").Modify)
			y = everyAnswer(t, b, r)
		})
		return x, y
	}
	tenant := only{"get podmonitors in demo", "list pods in demo", "list services in demo"}
	viewer := append(only{"get prometheuses in monitoring", "list prometheuses in "}, tenant...)
	for name, r := range map[string]only{"nobody": {}, "tenant": tenant, "viewer of the workload": viewer} {
		if x, y := answers(r); x != y {
			xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
			for i := range min(len(xs), len(ys)) {
				if xs[i] != ys[i] {
					t.Fatalf("%s: the answers differ:\n%s\n%s", name, xs[i], ys[i])
				}
			}
		} else if strings.Contains(x, "vault") || strings.Contains(x, `"namespace":"other"`) || !strings.Contains(x, "web-0") {
			t.Errorf("%s: %s", name, x)
		}
	}
	if x, y := answers(everything{}); x == y || !strings.Contains(x, "vault") {
		t.Error("the query does not tell one annotation from another even with every permission: this test proves nothing")
	}
}

// everyAnswer returns all responses about targets as JSON.
func everyAnswer(t *testing.T, b *fixture, r access.Rights) string {
	t.Helper()
	var out strings.Builder
	add := func(what string, answer any, err error) {
		text, failed := json.Marshal(answer)
		if failed != nil {
			t.Fatal(failed)
		}
		fmt.Fprintf(&out, "%s: %s %v\n", what, text, err)
	}
	ofPod := insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
	for _, q := range []insight.TargetQuery{all(ofWeb), all(ofMain), ofPod} {
		for _, state := range []targets.State{"", targets.Kept, targets.Dropped, targets.Duplicate, targets.Invalid, targets.OverLimit, targets.OtherShard} {
			for _, limit := range []int{1, 1000} {
				for _, shard := range []int{preview.AllShards, 1} {
					q.State, q.Limit, q.Shard = state, limit, shard
					answer, err := b.Targets(t.Context(), r, q)
					add(string(state), answer, err)
				}
			}
		}
		q.State, q.Filter = "", "vault"
		answer, err := b.Targets(t.Context(), r, q)
		add("filter", answer, err)
	}
	seen, err := b.Targets(t.Context(), r, func() insight.TargetQuery { q := all(ofWeb); q.Limit = 1000; return q }())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range seen.Items {
		trace, err := b.Target(t.Context(), r, ofMain, item.Job, item.ID, "")
		add("target", trace, err)
	}
	trace, err := b.Target(t.Context(), r, ofMain, webJob, "none", "Pod/other/vault-0")
	add("guessed target", trace, err)
	return out.String()
}
