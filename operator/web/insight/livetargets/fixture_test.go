package livetargets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch/watchtest"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	workloads "github.com/firekeeper-dev/firekeeper/operator/workload"
)

// cluster is a reader of objects in memory that counts its versions.
type cluster struct {
	mu      sync.Mutex
	refuses error // error of every Get of a pod
	objects map[schema.GroupVersionResource][]readers.Object
	version int
	secrets assets.Static
}

func (c *cluster) set(of schema.GroupVersionResource, o readers.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.objects[of] = slices.DeleteFunc(c.objects[of], func(old readers.Object) bool {
		return old.GetNamespace() == o.GetNamespace() && old.GetName() == o.GetName()
	})
	o.SetGeneration(int64(c.version))
	c.objects[of] = append(c.objects[of], o)
}

func (c *cluster) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.version)
}

func (c *cluster) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	if of == readers.Pods && c.refuses != nil {
		return nil, c.refuses
	}
	all, _ := c.List(ctx, readers.Query{GroupVersionResource: of, Namespace: key.Namespace})
	for _, o := range all {
		if o.GetName() == key.Name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

func (c *cluster) List(_ context.Context, q readers.Query) (out []readers.Object, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.objects[q.GroupVersionResource] {
		if q.Namespace == "" || o.GetNamespace() == q.Namespace {
			out = append(out, o)
		}
	}
	return out, nil
}

func (c *cluster) References(context.Context) assets.Reader { return &c.secrets }

func read[T any](t testing.TB, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

const prometheusText = `
metadata: {namespace: monitoring, name: main}
spec: {shards: 2, podMonitorSelector: {}, podMonitorNamespaceSelector: {}, probeSelector: {}}`

// monitorText keeps pods with the label app=web in two namespaces.
const monitorText = `
metadata: {namespace: demo, name: web}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchNames: [demo, other]}
  podMetricsEndpoints: [{port: http, params: {token: [s3cret]}}]`

var (
	main    = catalog.Ref{Kind: "Prometheus", Namespace: "monitoring", Name: "main"}
	web     = catalog.Ref{Kind: "PodMonitor", Namespace: "demo", Name: "web"}
	ofMain  = insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "monitoring", Name: "main"}}
	ofWeb   = insight.Object{Row: catalog.PodMonitor, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "web"}}
	webJob  = "podMonitor/demo/web/0"
	aMinute = time.Minute
)

// fixture is a source for a cluster with pods.
type fixture struct {
	*Source
	api     *watchtest.API
	cluster *cluster
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	c := &cluster{objects: map[schema.GroupVersionResource][]readers.Object{}}
	for _, ns := range []string{"demo", "other", "monitoring"} {
		c.set(readers.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
	}
	c.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, prometheusText))
	c.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText))
	api := watchtest.New(t)
	options := prometheus.Options{Workload: workloads.Config{PrometheusBaseImage: "prom", ConfigReloaderImage: "a", RulesReloaderImage: "b"}, Capabilities: promconfig.Capabilities{EndpointSlice: true, ShardRetention: true}}
	servers, agents := prometheus.Kinds(options, &rules.Cache{})
	b := &fixture{&Source{
		Reader: c, Setups: []engine.Setup{{Kind: servers}, {Kind: agents}}, Options: options, Groups: &watch.Cluster{Lists: api.Lists}, Denied: "grant it",
	}, api, c}
	return b
}

func inBubble(t *testing.T, test func(t *testing.T, b *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		b := newFixture(t)
		defer b.Close()
		test(t, b)
	})
}

func pod(ns, name, app string, ip int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": app}},
		Status: corev1.PodStatus{PodIP: fmt.Sprintf("10.0.%d.%d", ip/250, ip%250+1), Phase: corev1.PodRunning},
		Spec:   corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}}}}}
}

// settled waits until all goroutines are blocked, sleeps for d and waits again.
func settled(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

// everything allows all permission checks.
type everything struct{}

func (everything) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return true, nil
}

// only lists the allowed actions: "list pods in demo".
type only []string

func (o only) May(_ context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	return slices.Contains(o, fmt.Sprintf("%s %s in %s", verb, of.Resource, namespace)), nil
}

func (b *fixture) request(t testing.TB, r access.Rights, q insight.TargetQuery) *insight.Targets {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 1000
	}
	out, err := b.Targets(t.Context(), r, q)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func all(of insight.Object) insight.TargetQuery {
	return insight.TargetQuery{Of: of, Shard: preview.AllShards}
}

// names returns the names and states of targets: "demo/web-0 kept".
func names(items []preview.Target) (out []string) {
	for _, t := range items {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s/%s %s", t.Source.Namespace, t.Source.Name, t.State)))
	}
	return out
}
