package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// step is one change to the objects of testdata/web.yaml.
type step struct {
	name   string
	change func(t *testing.T, s space)
	pods   []string
	// expr and config are expected in the servers afterwards.
	expr, config string
}

var allWebPods = []string{"prometheus-web-0", "prometheus-web-1", "prometheus-web-2"}

var steps = []step{
	{"create", func(t *testing.T, s space) { s.web(t, "replicas: 2") }, webPods, "sum(up)", "/app/0"},
	{"change a rule", func(t *testing.T, s space) {
		s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", `[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"sum(up) * 3"}]`)
	}, webPods, "sum(up) * 3", ""},
	{"add a monitor and a rule", func(t *testing.T, s space) {
		s.apply(t, `
{apiVersion: monitoring.coreos.com/v1, kind: PodMonitor, metadata: {name: more, namespace: NAMESPACE}, spec: {selector: {}, podMetricsEndpoints: [{port: web}]}}
---
{apiVersion: monitoring.coreos.com/v1, kind: PrometheusRule, metadata: {name: more, namespace: NAMESPACE}, spec: {groups: [{name: third, rules: [{record: "three", expr: vector(3)}]}]}}
`)
		s.patch(t, "web", `{"spec":{"podMonitorSelector":{}}}`)
	}, webPods, "vector(3)", "/more/0"},
	{"change a monitor", func(t *testing.T, s space) {
		s.in(t, "patch", "servicemonitor", "app", "--type=merge", "-p", `{"spec":{"targetLabels":["e2e_kill"]}}`)
	}, webPods, "", "e2e_kill"},
	{"scale up", func(t *testing.T, s space) { s.patch(t, "web", `{"spec":{"replicas":3}}`) }, allWebPods, "vector(3)", "e2e_kill"},
	{"roll out", func(t *testing.T, s space) { s.patch(t, "web", `{"spec":{"logLevel":"warn"}}`) }, allWebPods, "vector(3)", "e2e_kill"},
	{"shard and scale down", func(t *testing.T, s space) { s.patch(t, "web", `{"spec":{"replicas":1,"shards":2}}`) },
		[]string{"prometheus-web-0", "prometheus-web-shard-1-0"}, "vector(3)", "e2e_kill"},
	{"unshard", func(t *testing.T, s space) { s.patch(t, "web", `{"spec":{"shards":1}}`) }, webPods[:1], "vector(3)", "e2e_kill"},
}

// An operator that is killed at its first write of every step, and started again, reaches the same final state as an
// uninterrupted one. No rule and no job is lost in between.
func TestKilledOperator(t *testing.T) {
	n := start(t)
	t.Parallel()
	calm, killed := n.space(t, "calm"), n.space(t, "killed")
	calm.operatorOf(t, "--config-reloader-cpu-limit=0")
	o := killed.operatorOf(t, "--config-reloader-cpu-limit=0")
	var g *guard
	for _, step := range steps {
		fresh := g == nil
		killed.killedDuring(t, o, step)
		step.change(t, calm)
		o.start(t)
		for _, s := range []space{calm, killed} {
			s.rolledOut(t, "web", step.pods...)
			s.runs(t, step.expr, step.config, step.pods...)
		}
		until(t, "the same objects after "+step.name, patience, func(ctx context.Context) (bool, error) {
			diff := cmp.Diff(calm.written(t), killed.written(t))
			return diff == "", fmt.Errorf("left alone -, killed +\n%s", diff)
		})
		t.Logf("%s: the same", step.name)
		if fresh {
			g = killed.guard(t, webGroups, killed.webJobs(), webPods...)
		}
	}
	g.end(t)

	killed.killedDuring(t, o, step{name: "delete", change: func(t *testing.T, s space) { s.in(t, "delete", "prometheus", "web", "--wait=false") }})
	o.start(t)
	killed.gone(t)
}

// killedDuring makes a change and kills the operator as soon as it has written something.
func (s space) killedDuring(t *testing.T, o *operator, step step) {
	t.Helper()
	wrote := s.firstWrite(t, "Secret", "ConfigMap", "StatefulSet")
	step.change(t, s)
	select {
	case what := <-wrote:
		o.kill(t)
		t.Logf("%s: killed after the first write: %s", step.name, what)
	case <-time.After(patience):
		t.Fatalf("%s: the operator wrote nothing within %s", step.name, patience)
	}
}

// firstWrite returns a channel that receives the first change to an object of these kinds that operators write.
func (s space) firstWrite(t *testing.T, kinds ...string) <-chan string {
	t.Helper()
	options := metav1.ListOptions{LabelSelector: "managed-by=prometheus-operator", TimeoutSeconds: new(int64(3600))}
	first := make(chan string, 1)
	var once sync.Once
	for what, open := range map[string]func() (watch.Interface, error){
		"Secret": func() (watch.Interface, error) { return s.kube.CoreV1().Secrets(s.name).Watch(t.Context(), options) },
		"ConfigMap": func() (watch.Interface, error) {
			return s.kube.CoreV1().ConfigMaps(s.name).Watch(t.Context(), options)
		},
		"StatefulSet": func() (watch.Interface, error) {
			return s.kube.AppsV1().StatefulSets(s.name).Watch(t.Context(), options)
		},
	} {
		if !slices.Contains(kinds, what) {
			continue
		}
		w, err := open()
		if err != nil {
			t.Fatal(err)
		}
		known := s.versions(t)
		go func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				object, ok := e.Object.(metav1.Object)
				if ok && known[string(object.GetUID())] != object.GetResourceVersion() {
					once.Do(func() { first <- fmt.Sprintf("%s %s %s", what, object.GetName(), e.Type) })
					return
				}
			}
		}()
	}
	return first
}

// versions returns the resource versions of everything that the operator has written, by UID.
func (s space) versions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pair := range strings.Fields(s.in(t, "get", "secrets,configmaps,statefulsets", "-l", "managed-by=prometheus-operator",
		"-o", `jsonpath={range .items[*]}{.metadata.uid}={.metadata.resourceVersion} {end}`)) {
		uid, version, _ := strings.Cut(pair, "=")
		out[uid] = version
	}
	return out
}

var uids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// written returns everything that the operator has written, by kind and name, without the fields that depend on the
// namespace.
func (s space) written(t *testing.T) map[string]any {
	t.Helper()
	var list struct{ Items []map[string]any }
	text := s.in(t, "get", "secrets,configmaps,services,statefulsets", "-l", "managed-by=prometheus-operator", "-o", "json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, object := range list.Items {
		meta := object["metadata"].(map[string]any)
		id := fmt.Sprint(object["kind"], " ", meta["name"])
		if id == "Secret prometheus-web" {
			object["data"] = unzip(t, s.secret(t, "prometheus-web"))
		}
		for _, own := range []string{"resourceVersion", "generation", "creationTimestamp", "managedFields", "namespace"} {
			delete(meta, own)
		}
		if a, ok := meta["annotations"].(map[string]any); ok {
			delete(a, "prometheus-operator-input-hash")
		}
		if spec, ok := object["spec"].(map[string]any); ok {
			delete(spec, "revisionHistoryLimit")
		}
		delete(object, "status")
		plain, err := json.MarshalIndent(object, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out[id] = strings.ReplaceAll(uids.ReplaceAllString(string(plain), "UID"), s.name, "NAMESPACE")
	}
	return out
}
