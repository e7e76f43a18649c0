package central

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch/watchtest"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/livetargets"
	workloads "github.com/firekeeper-dev/firekeeper/operator/workload"
)

const prometheusText = `
metadata: {namespace: monitoring, name: main, annotations: {firekeeper.dev/target-discovery: central}}
spec: {shards: 2, podMonitorSelector: {}, podMonitorNamespaceSelector: {}, scrapeConfigSelector: {}, serviceAccountName: prometheus}`

const monitorText = `
metadata: {namespace: demo, name: web}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchNames: [demo, other]}
  podMetricsEndpoints: [{port: http}]`

const webJob = "podMonitor/demo/web/0"

// objects is a reader of objects in memory.
type objects struct {
	mu      sync.Mutex
	of      map[schema.GroupVersionResource][]readers.Object
	version int
	fails   error // of lists
}

func (c *objects) set(of schema.GroupVersionResource, o readers.Object) {
	c.remove(of, o.GetName())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	o.SetGeneration(int64(c.version))
	c.of[of] = append(c.of[of], o)
}

func (c *objects) remove(of schema.GroupVersionResource, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	c.of[of] = slices.DeleteFunc(slices.Clone(c.of[of]), func(o readers.Object) bool { return o.GetName() == name })
}

func (c *objects) Version() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.version)
}

func (c *objects) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	all, err := c.List(ctx, readers.Query{GroupVersionResource: of, Namespace: key.Namespace})
	for _, o := range all {
		if o.GetName() == key.Name {
			return o, nil
		}
	}
	if err == nil {
		err = apierrors.NewNotFound(of.GroupResource(), key.Name)
	}
	return nil, err
}

func (c *objects) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.of[q.GroupVersionResource] {
		if q.Namespace == "" || o.GetNamespace() == q.Namespace {
			out = append(out, o)
		}
	}
	return out, c.fails
}

func (c *objects) References(context.Context) assets.Reader { return &assets.Static{} }

// reviewer reviews permissions: it denies listing pods in namespace other, fails, or takes some time.
type reviewer struct {
	denies, fails atomic.Bool
	takes         atomic.Int64 // a [time.Duration]
}

func (r *reviewer) kube() kubernetes.Interface {
	out := fake.NewClientset()
	out.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if r.fails.Load() {
			return true, nil, errors.New("etcd is away")
		}
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		a := review.Spec.ResourceAttributes
		review.Status.Allowed = strings.HasSuffix(review.Spec.User, ":prometheus") && (!r.denies.Load() || a.Resource != "pods" || a.Namespace != "other")
		return true, review, nil
	})
	return out
}

// slowly reviews permissions after the time that the reviewer takes.
type slowly struct {
	livetargets.Permissions
	by *reviewer
}

func (s slowly) Denied(ctx context.Context, jobs []targets.Job, of lister.Workload) (lister.Denials, []string) {
	time.Sleep(time.Duration(s.by.takes.Load()))
	return s.Permissions.Denied(ctx, jobs, of)
}

// fixture is central discovery of a cluster in memory.
type fixture struct {
	said logtest.Log // the log of the Runner
	*Runner
	server  *feed.Server
	objects *objects
	api     *watchtest.API
	reviews *reviewer
	expired atomic.Bool
	events  *events.FakeRecorder
	pods    fleet
}

// sent returns the Events since the last call.
func (b *fixture) sent() (out []string) {
	for {
		select {
		case text := <-b.events.Events:
			out = append(out, text)
		default:
			return out
		}
	}
}

func read[T any](t testing.TB, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// inBubble runs a test with a fixture. begin prepares the cluster before the Runner starts.
func inBubble(t *testing.T, begin func(*fixture), test func(t *testing.T, b *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &fixture{objects: &objects{of: map[schema.GroupVersionResource][]readers.Object{}}, api: watchtest.New(t), reviews: &reviewer{}}
		for _, ns := range []string{"demo", "other", "monitoring"} {
			b.objects.set(readers.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}})
		}
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, prometheusText))
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText))
		options := prometheus.Options{Workload: workloads.Config{PrometheusBaseImage: "prom", ConfigReloaderImage: "a", RulesReloaderImage: "b", ShardRetention: true}, Capabilities: promconfig.Capabilities{EndpointSlice: true, ShardRetention: true}}
		servers, agents := prometheus.Kinds(options, &rules.Cache{})
		source := &livetargets.Source{
			Reader: b.objects, Setups: []engine.Setup{{Kind: servers}, {Kind: agents}}, Options: options, Groups: &watch.Cluster{Lists: b.lists},
			Permissions: slowly{lister.Cluster{Kube: b.reviews.kube()}, b.reviews},
		}
		f := feed.New()
		b.Runner = New(source, f, 1<<30, slog.New(slog.NewTextHandler(&b.said, nil)))
		b.events = events.NewFakeRecorder(100)
		b.Events = b.events
		b.server = &feed.Server{Feed: f, Identity: feed.Identity{Tokens: b, Pods: b}, Log: slog.New(slog.DiscardHandler)}
		b.Replicas, b.Streams, b.server.Listener = &b.pods, b.server, b.Runner
		f.Lead(3)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		defer func() {
			stop()
			<-done
		}()
		begin(b)
		go func() {
			defer close(done)
			b.Run(ctx)
		}()
		test(t, b)
	})
}

// lists are the lists of the API server. While expired is true, the next watch fails, so that informers list
// again.
func (b *fixture) lists(kind discovery.Kind, namespace string) *cache.ListWatch {
	api := b.api.Lists(kind, namespace)
	return &cache.ListWatch{ListWithContextFunc: api.ListWithContextFunc, WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
		if b.expired.Load() && o.SendInitialEvents == nil {
			b.expired.Store(false)
			return nil, apierrors.NewResourceExpired("too old")
		}
		return api.WatchWithContext(ctx, o)
	}}
}

// AuthenticateToken implements authenticator.Token: the token is the name of a pod.
func (b *fixture) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	return &authenticator.Response{Audiences: authenticator.Audiences{feed.Audience}, User: &user.DefaultInfo{Name: "system:serviceaccount:monitoring:prometheus",
		Extra: map[string][]string{"authentication.kubernetes.io/pod-name": {token}, "authentication.kubernetes.io/pod-uid": {uidOf(token)}}}}, true, nil
}

// Pod implements feed.Pods: every pod of every StatefulSet exists.
func (b *fixture) Pod(_ context.Context, key types.NamespacedName) (*corev1.Pod, error) {
	return podOf(key.Namespace, key.Name), nil
}

// podOf returns a pod of a StatefulSet, by its name.
func podOf(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uidOf(name)),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: name[:strings.LastIndex(name, "-")], Controller: new(true)}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
}

func uidOf(pod string) string { return "uid of " + pod }

// settled waits until all goroutines are blocked, sleeps for d and waits again.
func settled(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

func pod(ns, name, app string, ip int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": app}},
		Status: corev1.PodStatus{PodIP: fmt.Sprintf("10.0.%d.%d", ip/250, ip%250+1), Phase: corev1.PodRunning},
		Spec:   corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}}}}}
}

// response is a response that can be read while it is written.
type response struct {
	*httptest.ResponseRecorder
	body bytes.Buffer
}

func (r *response) SetReadDeadline(time.Time) error  { return nil }
func (r *response) SetWriteDeadline(time.Time) error { return nil }
func (r *response) Write(p []byte) (int, error)      { return r.body.Write(p) }

// list returns the addresses of the jobs in the list of a StatefulSet's pod.
//
// code is the status of the response; there is a list only for 200.
func (b *fixture) list(t testing.TB, set string) (jobs map[string][]string, code int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &response{ResponseRecorder: httptest.NewRecorder()}
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, feed.Path, nil)
	request.Header.Set("Authorization", "Bearer "+set+"-0")
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.server.ServeHTTP(w, request)
	}()
	synctest.Wait()
	stop()
	<-done
	if w.Code != http.StatusOK {
		return nil, w.Code
	}
	jobs = map[string][]string{}
	for line := range bytes.Lines(w.body.Bytes()) {
		var m struct {
			Job    string
			Groups []struct{ Targets []string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if m.Job != "" {
			jobs[m.Job] = []string{}
		}
		for _, g := range m.Groups {
			jobs[m.Job] = append(jobs[m.Job], g.Targets...)
		}
	}
	time.Sleep(time.Second) // streams of a pod start no more often
	return jobs, w.Code
}

// shards returns the shard of each address of a job and fails if one is on two.
func (b *fixture) shards(t testing.TB, job string, n int) map[string]int {
	t.Helper()
	out := map[string]int{}
	for shard := range n {
		set := "prometheus-main"
		if shard > 0 {
			set = fmt.Sprintf("prometheus-main-shard-%d", shard)
		}
		jobs, code := b.list(t, set)
		if _, has := jobs[job]; !has {
			t.Fatalf("shard %d, status %d, has the jobs %v", shard, code, slices.Sorted(maps.Keys(jobs)))
		}
		for _, address := range jobs[job] {
			if other, is := out[address]; is {
				t.Errorf("%s is on the shards %d and %d", address, other, shard)
			}
			out[address] = shard
		}
	}
	return out
}
