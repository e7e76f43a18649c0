package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload/rollout"
)

// harness runs controllers of fake kinds like the operator does, but against an in-memory API server
// and in synthetic time.
type harness struct {
	*apiServer
	t       *testing.T
	sources *Sources
	log     *logText
	lead    func(context.Context) bool // of Options
	id      string                     // ControllerID of Options
	labels  string                     // InstanceSelector of Options
	added   map[string]string          // Labels of Options
	unbound bool                       // the controllers write no bindings
	changed func(Change)               // of Options
	stop    func()
	configs []string // namespaces of selected objects; none for all
	repair  rollout.RepairPolicy
	refused func(*catalog.Row) string // Forbidden of Clients
	may     func(ctx context.Context, resource, verb, namespace string) (bool, error)
	room    int64 // for stored objects; 0 for enough
}

type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// inBubble runs a test in synthetic time, with a harness of one fake kind. The namespace team exists;
// nothing runs before start.
func inBubble(t *testing.T, test func(t *testing.T, b *harness, f *fakeKind)) {
	synctest.Test(t, func(t *testing.T) {
		b := &harness{apiServer: newAPIServer(), t: t, log: &logText{}}
		b.set(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})
		test(t, b, newFake(catalog.ThanosRuler, "ruler"))
	})
}

// start runs controllers until the test ends, and waits until they are idle.
func (b *harness) start(absent []*catalog.Row, kinds ...*fakeKind) []*Controller {
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		b.t.Fatal(err)
	}
	cfg := &rest.Config{Host: "http://memory", Transport: b.apiServer, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	kube, err1 := kubernetes.NewForConfig(cfg)
	meta, err2 := metadata.NewForConfig(cfg)
	crds, err3 := client.NewPacking(cfg, scheme, v1.SchemeGroupVersion)
	all, err4 := informer.NewNamespaces(nil, nil)
	configs, err5 := informer.NewNamespaces(b.configs, nil)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		b.t.Fatal(err)
	}
	clients := Clients{Kube: kube, Metadata: meta, CRDs: map[schema.GroupVersion]*client.Client{v1.SchemeGroupVersion: crds}, Absent: absent, Forbidden: b.refused, Claims: true, May: b.may}
	b.sources = NewSources(clients, Scopes{Instances: all, Configs: configs})
	if b.room > 0 {
		b.sources.stored = capacity.New(b.room)
	}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	ctx, cancel := context.WithCancel(b.t.Context())
	var wg sync.WaitGroup
	var out []*Controller
	for _, f := range kinds {
		opts := Options{Instances: all, References: all, InstantDelivery: func() bool { return true }, StorageClasses: true, ConfigStatus: !b.unbound, ControllerID: b.id, InstanceSelector: b.labels, Labels: b.added, Workers: 2, Repair: b.repair, Lead: b.lead, Changed: b.changed}
		c := New(f.Kind, opts, b.sources, clients, log, prometheus.NewRegistry())
		out = append(out, c)
		wg.Go(func() {
			if err := c.Run(ctx); err != nil {
				b.t.Error(err)
			}
		})
	}
	b.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		time.Sleep(time.Second) // of the bubble: a watch may have begun in this moment, and time stands still at its end
	})
	b.t.Cleanup(b.stop)
	b.settle()
	return out
}

// after advances the time and waits until everything is idle.
func (b *harness) after(d time.Duration) { time.Sleep(d); synctest.Wait() }

// settle advances the time by a few seconds.
func (b *harness) settle() { b.after(5 * time.Second) }

// set stores an object in the API server unchanged, as another client would.
func (b *harness) set(o runtime.Object) {
	text, err := json.Marshal(o)
	if err != nil {
		b.t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(text, &out); err != nil {
		b.t.Fatal(err)
	}
	c := b.callFor(o)
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := meta(out); str(m, "uid") == "" {
		m["uid"] = fmt.Sprintf("uid-of-%s-%d", c.name, b.version)
	}
	b.store(c, out)
}

// gone deletes an object from the API server, ignoring finalizers.
func (b *harness) gone(o runtime.Object) {
	c := b.callFor(o)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(c, b.objects[c.resource][c.key()])
}

// deleted deletes an object like kubectl delete.
func (b *harness) deleted(o runtime.Object) {
	c := b.callFor(o)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(c, b.objects[c.resource][c.key()])
}

func (b *harness) callFor(o runtime.Object) call {
	m := o.(metav1.Object)
	kind := strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")
	for resource, of := range kindsOf {
		if of.Kind == kind {
			return call{resource: resource, namespace: m.GetNamespace(), name: m.GetName()}
		}
	}
	b.t.Fatalf("no resource of %T", o)
	return call{}
}

// get reads an object of the namespace team; ok is false if it does not exist.
func get[T any](b *harness, resource, name string) (out T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[resource]["team/"+name]
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return out, ok
}

// edit reads an object of the namespace team, changes it and stores it with a new generation.
func edit[T any, P interface {
	*T
	runtime.Object
	metav1.Object
}](b *harness, resource, name string, how func(P)) {
	b.t.Helper()
	o, ok := get[T](b, resource, name)
	if !ok {
		b.t.Fatalf("there is no %s %s", resource, name)
	}
	p := P(&o)
	p.SetGeneration(p.GetGeneration() + 1)
	if p.GetAnnotations() == nil {
		p.SetAnnotations(map[string]string{})
	}
	how(p)
	b.set(p)
}

// written returns the writes since the last call, without those of statuses and of the finalizer
// unless also matches them.
func (b *harness) written(also ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.DeleteFunc(b.writes, func(w string) bool {
		noise := strings.Contains(w, "/status") || strings.HasPrefix(w, "patch thanosrulers ") || strings.HasPrefix(w, "patch prometheuses ")
		return noise && !slices.ContainsFunc(also, func(a string) bool { return strings.Contains(w, a) })
	})
	b.writes = nil
	return out
}

// condition returns a condition of a ThanosRuler: its status, reason and message.
func (b *harness) condition(name string, kind v1.ConditionType) string {
	w, _ := get[v1.ThanosRuler](b, "thanosrulers", name)
	for _, c := range w.Status.Conditions {
		if c.Type == kind {
			return strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Status, c.Reason, c.Message))
		}
	}
	return "none"
}

// config returns the last written configuration of a ThanosRuler.
func (b *harness) config(secret string) string {
	s, ok := get[corev1.Secret](b, "secrets", secret)
	if !ok {
		return "none"
	}
	return string(s.Data["config"])
}

// bound returns the workloads in the bindings of a rule object: "ruler-a=True".
func (b *harness) bound(rule string) string {
	r, _ := get[v1.PrometheusRule](b, "prometheusrules", rule)
	var out []string
	for _, binding := range r.Status.Bindings {
		out = append(out, fmt.Sprintf("%s/%s=%s", binding.Resource, binding.Name, binding.Conditions[0].Status))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// ruler returns a workload that selects all rules of its namespace.
func ruler(name string, change ...func(*v1.ThanosRuler)) *v1.ThanosRuler {
	w := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Generation: 1, UID: types.UID("uid-" + name), Annotations: map[string]string{}}}
	w.Spec.RuleSelector = &metav1.LabelSelector{}
	for _, c := range change {
		c(w)
	}
	return w
}

func rule(name string, labels ...string) *v1.PrometheusRule {
	r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, Generation: 1, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		r.Labels[labels[i]] = labels[i+1]
	}
	return r
}

func secretOf(name, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Data: map[string][]byte{"value": []byte(value)}}
}

// refusing makes calls with a prefix fail with a status.
func (b *harness) refusing(prefix string, code int32, reason metav1.StatusReason) {
	b.answers(func(c call) *metav1.Status {
		if strings.HasPrefix(c.String(), prefix) {
			st := failure(code, reason, c)
			if code == http.StatusUnprocessableEntity {
				st.Details.Causes = []metav1.StatusCause{{Field: "spec", Message: "is wrong"}}
			}
			return st
		}
		return nil
	})
}

func class(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func setIn(s apply.Step) (*appsv1.StatefulSet, bool) {
	sts, is := s.Object.(*appsv1.StatefulSet)
	return sts, is
}

// sizeOf returns the storage that the StatefulSet of a requests.
func sizeOf(b *harness) string {
	sts, _ := get[appsv1.StatefulSet](b, "statefulsets", "ruler-a")
	for i := range sts.Spec.VolumeClaimTemplates {
		size, _ := storageOf(&sts.Spec.VolumeClaimTemplates[i])
		return size.String()
	}
	return "nothing"
}

func templateOf(b *harness) corev1.PodTemplateSpec {
	sts, _ := get[appsv1.StatefulSet](b, "statefulsets", "ruler-a")
	return sts.Spec.Template
}
