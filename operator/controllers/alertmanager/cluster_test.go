package alertmanager

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// fakeCluster is a fake cluster with AlertmanagerConfigs and Secrets.
type fakeCluster struct {
	t        *testing.T
	configs  []*v1alpha1.AlertmanagerConfig
	secrets  map[string]map[string][]byte // in the namespace demo
	broken   bool                         // the API server is not available
	live     engine.Live
	kind     *engine.Kind
	gatherer engine.Gatherer
	compiled int // number of objects read through References
	renew    func(namespace string, bytes int) bool
	// reads (optional) replaces what reads references.
	reads func(*engine.Cluster)
}

func newFakeCluster(t *testing.T) *fakeCluster { return newConfiguredCluster(t, testConfig()) }

func newConfiguredCluster(t *testing.T, cfg workload.Config) *fakeCluster {
	k := Kind(cfg)
	return &fakeCluster{
		t: t, secrets: map[string]map[string][]byte{}, kind: k,
		gatherer: k.Open(types.NamespacedName{Namespace: "demo", Name: "main"}),
		live:     engine.Live{StatefulSets: map[string]*appsv1.StatefulSet{}, Secrets: map[string]*corev1.Secret{}},
	}
}

// Object implements [assets.Reader]. The version of an object is its content.
func (w *fakeCluster) Object(ref assets.Ref) (assets.Object, error) {
	w.compiled++
	if w.broken {
		return assets.Object{}, errors.New("the API server does not answer")
	}
	data, ok := w.secrets[ref.Name]
	if !ok || ref.Namespace != "demo" {
		return assets.Object{}, &assets.NotFoundError{Ref: ref}
	}
	return assets.Object{Version: fmt.Sprint(data), Values: data}, nil
}

func (w *fakeCluster) current(deps []assets.Dependency) bool {
	for _, d := range deps {
		obj, err := w.Object(d.Ref)
		if err != nil && !assets.IsNotFound(err) || obj.Version != d.Version {
			return false
		}
	}
	return true
}

func (w *fakeCluster) cluster() engine.Cluster {
	return engine.Cluster{
		NamespaceLabels: func(name string) (labels.Set, bool) { return labels.Set{"kubernetes.io/metadata.name": name}, true },
		Objects: func(kind string) iter.Seq[catalog.Object] {
			return func(yield func(catalog.Object) bool) {
				for _, c := range w.configs {
					if kind != v1alpha1.AlertmanagerConfigKind || !yield(c) {
						return
					}
				}
			}
		},
		References: w, Live: w.live, Current: w.current, Renew: w.renew,
	}
}

// plan runs one reconciliation.
func (w *fakeCluster) plan(am *v1.Alertmanager) (engine.Inputs, engine.Plan, error) {
	c := w.cluster()
	if w.reads != nil {
		w.reads(&c)
	}
	in, err := w.gatherer.Gather(am, c)
	if err != nil {
		return in, engine.Plan{}, err
	}
	plan, err := in.Desired()
	return in, plan, err
}

// config returns the plain configuration after a reconciliation.
func (w *fakeCluster) config(am *v1.Alertmanager) string {
	w.t.Helper()
	_, plan, err := w.plan(am)
	if err != nil {
		w.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := plan.Plain[0].Text(&out); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

func parse[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict([]byte(text), out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// alertmanager returns an Alertmanager in the namespace demo.
func alertmanager(t *testing.T, spec string) *v1.Alertmanager {
	t.Helper()
	am := &v1.Alertmanager{Spec: *parse[v1.AlertmanagerSpec](t, spec)}
	am.Namespace, am.Name, am.UID = "demo", "main", "am-main"
	return am
}

// routed returns an AlertmanagerConfig with one receiver.
func routed(namespace, name, receiver string) *v1alpha1.AlertmanagerConfig {
	c := &v1alpha1.AlertmanagerConfig{}
	c.Namespace, c.Name, c.UID, c.Labels = namespace, name, types.UID(namespace+name+receiver), map[string]string{"name": name}
	c.Spec.Route = &v1alpha1.Route{Receiver: receiver}
	c.Spec.Receivers = []v1alpha1.Receiver{{Name: receiver}}
	return c
}

// broken returns an AlertmanagerConfig that refers to a missing receiver.
func broken(namespace, name string) *v1alpha1.AlertmanagerConfig {
	c := routed(namespace, name, "r")
	c.Spec.Route.Receiver = "nobody"
	return c
}

// steps formats the writes of a plan as "put Secret/name".
func steps(all []apply.Step) (out []string) {
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s/%s", s.Verb, apply.KindOf(s.Object), s.Object.GetName()))
	}
	return out
}

func results(in engine.Inputs) (out []string) {
	for v := range in.Results() {
		out = append(out, fmt.Sprintf("%s/%s %t", v.Object.GetNamespace(), v.Object.GetName(), v.Err == nil))
	}
	return out
}

const selectsAll = `alertmanagerConfigSelector: {}`
