package insight_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/thanosruler"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/evidence"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// now is the time of all responses.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var config = workload.Config{PrometheusBaseImage: "p", AlertmanagerBaseImage: "a", ThanosBaseImage: "t", ConfigReloaderImage: "r:v1", RulesReloaderImage: "r:v1"}

// setups returns all kinds of workloads.
func setups() ([]engine.Setup, error) {
	cache := &rules.Cache{}
	servers, agents := prometheus.Kinds(prometheus.Options{Workload: config, Capabilities: promconfig.Capabilities{AgentDaemonSet: true}}, cache)
	var out []engine.Setup
	for _, k := range []*engine.Kind{servers, agents, thanosruler.Kind(config, cache), alertmanager.Kind(config)} {
		out = append(out, engine.Setup{Kind: k})
	}
	return out, nil
}

// store is a cluster in memory.
type store struct {
	mu         sync.Mutex
	objects    map[schema.GroupVersionResource][]readers.Object
	references assets.Reader
	refuses    []string // resources, or resource/namespace
	lists      int
	packed     map[readers.Object]readers.Object // what packing returned
}

// pack returns an object as the caches of the operator hold it.
func (s *store) pack(o readers.Object) readers.Object {
	if s.packed == nil {
		s.packed = map[readers.Object]readers.Object{}
	}
	config, is := o.(interface {
		v1.ConfigResource
		GetDecoding() *v1.Decoding
	})
	if !is || len(config.GetDecoding().Faults) > 0 {
		return o
	}
	if s.packed[o] == nil {
		out := reflect.New(reflect.TypeOf(o).Elem()).Interface().(interface {
			readers.Object
			GetDecoding() *v1.Decoding
		})
		raw, err := json.Marshal(o)
		if err == nil {
			err = manifest.DecodePacked(raw, out)
		}
		if err != nil {
			panic(err)
		}
		s.packed[o] = out
		if len(out.GetDecoding().Faults) > 0 { // larger than an API server stores
			s.packed[o] = o
		}
	}
	return s.packed[o]
}

// Get implements [readers.Reader].
func (s *store) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.refuses, of.Resource) {
		return nil, apierrors.NewForbidden(of.GroupResource(), key.Name, nil)
	}
	for _, o := range s.objects[of] {
		if o.GetNamespace() == key.Namespace && o.GetName() == key.Name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

// List implements [readers.Reader].
func (s *store) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	if slices.Contains(s.refuses, q.Resource) || q.Namespace == "" && slices.Contains(s.refuses, q.Resource+" everywhere") {
		return nil, apierrors.NewForbidden(q.GroupResource(), "", nil)
	}
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, err
	}
	for _, o := range s.objects[q.GroupVersionResource] {
		if (q.Namespace == "" || o.GetNamespace() == q.Namespace) && (q.Name == "" || o.GetName() == q.Name) && (q.Labels == "" || selector.Matches(labels.Set(o.GetLabels()))) {
			if q.Packed {
				o = s.pack(o)
			}
			if o = q.Kept(o); o != nil {
				out = append(out, o)
			}
		}
	}
	return out, nil
}

// References implements [readers.Reader].
func (s *store) References(context.Context) assets.Reader { return s.references }

// put replaces or adds an object.
func (s *store) put(of schema.GroupVersionResource, o readers.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(s.objects[of]), func(old readers.Object) bool {
		return old.GetNamespace() == o.GetNamespace() && old.GetName() == o.GetName()
	})
	s.objects[of] = append(all, o)
}

// loaded returns a cluster with manifests.
func loaded(t testing.TB, text []byte) *store {
	t.Helper()
	kinds, _ := setups()
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.LoadStored([]string{file}, explain.Kinds(kinds))
	if err != nil {
		t.Fatal(err)
	}
	out := &store{objects: map[schema.GroupVersionResource][]readers.Object{}, references: &objects.References}
	for _, row := range catalog.All {
		for _, o := range objects.All(row) {
			out.put(row.GroupVersionResource(), o)
		}
	}
	for _, o := range objects.Native() {
		of := map[string]schema.GroupVersionResource{
			"*v1.Pod": readers.Pods, "*v1.Service": readers.Services, "*v1.Namespace": readers.Namespaces, "*v1.EndpointSlice": readers.EndpointSlices,
			"*v1.StatefulSet": readers.StatefulSets, "*v1.DaemonSet": readers.DaemonSets, "*v1.ServiceAccount": readers.ServiceAccounts,
		}[fmt.Sprintf("%T", o)]
		out.put(of, o)
	}
	namespaces := map[string]bool{}
	for of, all := range out.objects {
		for _, o := range all {
			if of.Resource != "namespaces" && !namespaces[o.GetNamespace()] {
				namespaces[o.GetNamespace()] = true
			}
		}
	}
	for name := range namespaces {
		if _, err := out.Get(t.Context(), readers.Namespaces, types.NamespacedName{Name: name}); err != nil {
			n := &corev1.Namespace{}
			n.Name, n.Labels = name, map[string]string{corev1.LabelMetadataName: name}
			out.put(readers.Namespaces, n)
		}
	}
	return out
}

// answers returns a Cluster that reads r.
func answers(t testing.TB, r readers.Reader, counts insight.TargetSource) *insight.Cluster {
	t.Helper()
	kinds, _ := setups()
	return insight.New(insight.Parts{
		Reader: r, Setups: kinds, Fresh: setups, Options: prometheus.Options{Workload: config}, Targets: counts,
		Look:   func(ctx context.Context, r readers.Reader) nearmiss.Look { return evidence.New(ctx, r).Look },
		Finder: func(_ readers.Reader, over *discovery.Objects) preview.Finder { return found{over} },
		Now:    func() time.Time { return now },
	})
}

// found finds targets only in manifests.
type found struct{ objects *discovery.Objects }

// allowed are permissions, with or without a namespace: "get prometheuses demo".
type allowed []string

// May implements [access.Rights].
func (a allowed) May(_ context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	if slices.Contains(a, "error") {
		return false, fmt.Errorf("the API server does not answer")
	}
	for _, rule := range a {
		words := strings.Fields(rule)
		if (words[0] == "*" || words[0] == verb) && (words[1] == "*" || words[1] == of.Resource) && (len(words) == 2 || words[2] == namespace) {
			return true, nil
		}
	}
	return false, nil
}

// everything allows all requests.
var everything = allowed{"* *"}
