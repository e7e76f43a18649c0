//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package kubelet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// fixture is a controller with a fake API server.
type fixture struct {
	*Controller
	kube  *fake.Clientset
	reg   *prometheus.Registry
	logs  *bytes.Buffer
	nodes []*corev1.Node
	deny  map[string]error // key: "verb resource"
}

func newFixture(t *testing.T, o Options, objects ...runtime.Object) *fixture {
	t.Helper()
	o.SyncPeriod = time.Minute
	b := &fixture{kube: fake.NewClientset(objects...), reg: prometheus.NewRegistry(), logs: &bytes.Buffer{}, deny: map[string]error{}}
	version := 0
	b.kube.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if err := b.deny[a.GetVerb()+" "+a.GetResource().Resource]; err != nil {
			return true, nil, err
		}
		if create, is := a.(clienttesting.CreateAction); is { // update actions match too
			o, err := meta.Accessor(create.GetObject())
			if err != nil {
				t.Fatal(err)
			}
			version++
			o.SetResourceVersion(fmt.Sprint(version))
			if o.GetName() == "" {
				o.SetName(fmt.Sprint(o.GetGenerateName(), version))
			}
			o.SetUID("uid-service")
		}
		return false, nil, nil
	})
	b.Controller = New(o, b.kube, nil, slog.New(slog.NewTextHandler(b.logs, nil)), b.reg)
	b.sorted = func() iter.Seq[*corev1.Node] { return slices.Values(b.nodes) }
	return b
}

// sync runs one sync and returns its API requests and error.
func (b *fixture) sync(t *testing.T) (calls string, err error) {
	t.Helper()
	b.kube.ClearActions()
	err = b.Controller.sync(t.Context())
	if err != nil {
		b.stale.Store(true)
	}
	var out []string
	for _, a := range b.kube.Actions() {
		out = append(out, a.GetVerb()+" "+a.GetResource().Resource)
	}
	return strings.Join(out, ", "), err
}

func (b *fixture) expect(t *testing.T, what, want string) {
	t.Helper()
	if got, err := b.sync(t); err != nil || got != want {
		t.Errorf("%s: %q, %v; want %q", what, got, err, want)
	}
}

const reads = "get services, get endpoints, list endpointslices"

func TestSync(t *testing.T) {
	b := newFixture(t, testOptions)
	b.nodes = nodes("a internal=10.0.0.1", "b internal=10.0.0.2")
	b.expect(t, "first", reads+", create services, create endpoints, create endpointslices")
	b.expect(t, "nothing new", "")
	b.nodes[1] = node("b internal=10.0.0.7")
	b.expect(t, "a changed node", "update endpoints, update endpointslices")
	b.stale.Store(true)
	b.expect(t, "a period without news", reads)

	s, err := b.kube.CoreV1().Services("kube-system").Get(t.Context(), "kubelet", metav1.GetOptions{})
	if err != nil || s.Spec.ClusterIP != "None" || len(s.Spec.Ports) != 3 || s.Labels["k8s-app"] != "kubelet" || s.Spec.Selector != nil {
		t.Errorf("Service %+v, %v", s, err)
	}
	e, err := b.kube.CoreV1().Endpoints("kube-system").Get(t.Context(), "kubelet", metav1.GetOptions{})
	if err != nil || len(e.Subsets) != 1 || len(e.Subsets[0].Addresses) != 2 || e.Labels["endpointslice.kubernetes.io/skip-mirror"] != "true" {
		t.Fatalf("Endpoints %+v, %v", e, err)
	}
	if a := e.Subsets[0].Addresses[1]; a.IP != "10.0.0.7" || *a.NodeName != "b" || a.TargetRef.Kind != "Node" || a.TargetRef.UID != "uid-b" {
		t.Errorf("address %+v", a)
	}

	s.Spec.Ports[0].Port = 1
	e.Subsets[0].Addresses = e.Subsets[0].Addresses[:1]
	if _, err := b.kube.CoreV1().Services("kube-system").Update(t.Context(), s, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.kube.CoreV1().Endpoints("kube-system").Update(t.Context(), e, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	b.stale.Store(true)
	b.expect(t, "a period with foreign edits", reads+", update services, update endpoints")
	b.nodes = nil
	b.expect(t, "no nodes", "update endpoints, delete endpointslices")
}

// A failure does not affect the other objects, and the next sync reads again.
func TestSyncFailures(t *testing.T) {
	b := newFixture(t, testOptions)
	b.nodes = nodes("a internal=10.0.0.1")
	broken := errors.New("broken")
	b.deny["create services"] = broken
	got, err := b.sync(t)
	if want := reads + ", create services, create endpoints"; got != want || !errors.Is(err, broken) || !strings.Contains(err.Error(), "the EndpointSlices need the Service") {
		t.Errorf("calls %q, want %q; %v", got, want, err)
	}
	delete(b.deny, "create services")
	b.expect(t, "retry", reads+", create services, create endpointslices")

	b.deny["update endpointslices"] = apierrors.NewConflict(schema.GroupResource{Resource: "endpointslices"}, "kubelet-1", broken)
	b.nodes = nodes("a internal=10.0.0.2")
	if got, err := b.sync(t); got != "update endpoints, update endpointslices" || !apierrors.IsConflict(err) {
		t.Errorf("calls %q, %v", got, err)
	}
	delete(b.deny, "update endpointslices")
	b.expect(t, "after a conflict", reads+", update endpointslices")
	const metrics = `
# HELP prometheus_operator_node_syncs_failed_total Comparisons of the kubelet endpoints with the nodes that failed.
# TYPE prometheus_operator_node_syncs_failed_total counter
prometheus_operator_node_syncs_failed_total{resource="endpoints"} 0
prometheus_operator_node_syncs_failed_total{resource="endpointslice"} 2
# HELP prometheus_operator_node_syncs_total Comparisons of the kubelet endpoints with the nodes.
# TYPE prometheus_operator_node_syncs_total counter
prometheus_operator_node_syncs_total{resource="endpoints"} 4
prometheus_operator_node_syncs_total{resource="endpointslice"} 4
# HELP prometheus_operator_kubelet_managed_resource 1 if the operator keeps the kubelet endpoints as this resource, else 0.
# TYPE prometheus_operator_kubelet_managed_resource gauge
prometheus_operator_kubelet_managed_resource{resource="endpoints"} 1
prometheus_operator_kubelet_managed_resource{resource="endpointslice"} 1
`
	if err := testutil.GatherAndCompare(b.reg, strings.NewReader(metrics), "prometheus_operator_node_syncs_total",
		"prometheus_operator_node_syncs_failed_total", "prometheus_operator_kubelet_managed_resource"); err != nil {
		t.Error(err)
	}
}

// Each attempt that read or wrote one more object got further, so that it is repeated soon. One that failed where the last
// one did got no further.
func TestReached(t *testing.T) {
	b := newFixture(t, testOptions)
	b.nodes = nodes("a internal=10.0.0.1")
	broken := errors.New("broken")
	last := -1
	for _, call := range []string{"get services", "get endpoints", "list endpointslices", "create endpointslices"} {
		b.deny = map[string]error{call: broken}
		if call == "create endpointslices" {
			b.deny["create endpoints"] = broken
			if _, err := b.sync(t); err == nil || b.reached <= last {
				t.Errorf("with two objects left: reached %d after %d, %v", b.reached, last, err)
			}
			last = b.reached
			delete(b.deny, "create endpoints")
		}
		if _, err := b.sync(t); err == nil || b.reached <= last {
			t.Errorf("%s fails: reached %d after %d, %v", call, b.reached, last, err)
		}
		last = b.reached
		if _, err := b.sync(t); err == nil || b.reached != last {
			t.Errorf("%s fails again: reached %d after %d, %v", call, b.reached, last, err)
		}
	}
}

// A node without address is logged once and counted once per period.
func TestProblems(t *testing.T) {
	b := newFixture(t, testOptions)
	b.nodes = nodes("a host=a", "b internal=10.0.0.2")
	for range 3 { // only the first one reads
		if _, err := b.sync(t); err != nil {
			t.Fatal(err)
		}
	}
	b.stale.Store(true)
	if _, err := b.sync(t); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.logs.String(), "node has no usable address"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, b.logs)
	}
	if n := testutil.ToFloat64(b.metrics.lookupErrors); n != 2 {
		t.Errorf("counted %v times", n)
	}
}

// Kubernetes mirrors the Endpoints to slices unless the controller writes slices.
func TestMirrored(t *testing.T) {
	granted := false
	o := testOptions
	o.MayWriteSlices = func() bool { return granted }
	b := newFixture(t, o)
	b.nodes = nodes("a internal=10.0.0.1")
	b.expect(t, "without permission", "get services, get endpoints, create services, create endpoints")
	granted = true
	b.Refresh()
	b.expect(t, "with permission", reads+", update endpoints, create endpointslices")
	granted = false
	b.Refresh()
	b.expect(t, "without again", "get services, get endpoints, update endpoints")
	e, err := b.kube.CoreV1().Endpoints("kube-system").Get(t.Context(), "kubelet", metav1.GetOptions{})
	if err != nil || e.Labels["endpointslice.kubernetes.io/skip-mirror"] != "" || e.Labels["k8s-app"] != "kubelet" {
		t.Errorf("labels %v, %v", e.Labels, err)
	}
}

// Obsolete objects of a former setting are deleted if the operator created them.
func TestTidy(t *testing.T) {
	object := metav1.ObjectMeta{Namespace: "kube-system", Name: "kubelet", Labels: map[string]string{"app.kubernetes.io/managed-by": "prometheus-operator"}}
	foreign := metav1.ObjectMeta{Namespace: "kube-system", Name: "kubelet"}
	for name, tc := range map[string]struct {
		live   *corev1.Endpoints
		denied bool
		want   string
	}{
		"ours":        {&corev1.Endpoints{ObjectMeta: object}, false, "get endpoints, delete endpoints"},
		"of others":   {&corev1.Endpoints{ObjectMeta: foreign}, false, "get endpoints"},
		"none":        {&corev1.Endpoints{}, false, "get endpoints"},
		"not allowed": {&corev1.Endpoints{ObjectMeta: object}, true, "get endpoints, delete endpoints"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions
			o.Endpoints = false
			b := newFixture(t, o, tc.live)
			if tc.denied {
				b.deny["delete endpoints"] = apierrors.NewForbidden(schema.GroupResource{Resource: "endpoints"}, "kubelet", nil)
			}
			b.expect(t, "first", "get services, list endpointslices, create services, "+tc.want)
			b.stale.Store(true)
			b.expect(t, "second", "get services, list endpointslices")
		})
	}
	o := testOptions
	o.Slices = false
	b := newFixture(t, testOptions)
	b.nodes = nodes("a internal=10.0.0.1")
	if _, err := b.sync(t); err != nil {
		t.Fatal(err)
	}
	b.opts = o
	b.stale.Store(true)
	b.tidied = false
	b.expect(t, "slices", "get services, get endpoints, update endpoints, list endpointslices, delete endpointslices")
}

// Without the lead, the controller neither reads nor writes the live objects.
func TestFollower(t *testing.T) {
	o := testOptions
	o.Lead = func(ctx context.Context) bool { <-ctx.Done(); return false }
	b := newFixture(t, o)
	b.nodes = nodes("a internal=10.0.0.1")
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	}))
	defer api.Close()
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	b.Controller.nodes = informer.NewStore(kube.CoreV1().RESTClient(), "nodes", &corev1.Node{}, informer.Watch{}, trim)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	if err := b.Controller.nodes.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil || len(b.kube.Actions()) > 0 {
		t.Errorf("%v; calls %v", err, b.kube.Actions())
	}
}
