package trial

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// State is the objects of a namespace as they are compared, by "resource/name".
type State map[string]any

// Mirror follows all objects of a namespace, on its own connection to the API server, and watches what happens to them.
type Mirror struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	state   State
	atoms   map[string][]string // what an object contributes to present
	present map[string]int
	life    Life
	last    map[string]string // last pod template, UID or revision, by "what name"
	// revisions are the revisions of pods that StatefulSets want.
	revisions map[string]string
}

// Life has the replacements and absences of objects since [Mirror.Begin].
type Life struct {
	Replaced map[string]int  // by "template web", "StatefulSet web", "pod web-0": how often another one came
	Missing  map[string]bool // atoms that were not there for a while
	before   map[string]bool // atoms at the beginning
}

// NewMirror starts to follow a namespace.
func NewMirror(t *testing.T, w *Environment, namespace string) *Mirror {
	t.Helper()
	m := &Mirror{
		changed: make(chan struct{}), state: State{}, atoms: map[string][]string{}, present: map[string]int{}, last: map[string]string{}, revisions: map[string]string{},
	}
	m.Begin()
	ctx, cancel := context.WithCancel(context.Background())
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.Objects, 0, namespace, nil)
	for _, k := range Kinds {
		change := func(o any) { m.put(k.Resource, o.(*unstructured.Unstructured)) }
		informer := factory.ForResource(k).Informer()
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    change,
			UpdateFunc: func(_, o any) { change(o) },
			DeleteFunc: func(o any) {
				if tomb, is := o.(cache.DeletedFinalStateUnknown); is {
					o = tomb.Obj
				}
				m.drop(k.Resource, o.(*unstructured.Unstructured))
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	factory.Start(ctx.Done())
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	for k, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			t.Fatalf("%s are not readable", k)
		}
	}
	return m
}

// Begin starts a new life and returns the finished one.
func (m *Mirror) Begin() Life {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.life
	maps.DeleteFunc(out.Missing, func(atom string, _ bool) bool { return !out.before[atom] || m.present[atom] == 0 })
	m.life = Life{Replaced: map[string]int{}, Missing: map[string]bool{}, before: map[string]bool{}}
	for atom, n := range m.present {
		if n > 0 {
			m.life.before[atom] = true
		}
	}
	return out
}

func (m *Mirror) put(resource string, o *unstructured.Unstructured) {
	key := resource + "/" + o.GetName()
	normal, atoms := normalize(resource, o), atomsOf(resource, o)
	m.mu.Lock()
	defer m.mu.Unlock()
	if normal == nil {
		return
	}
	m.state[key] = normal
	m.contribute(key, atoms)
	switch resource {
	case "statefulsets":
		template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
		text, _ := json.Marshal(template)
		m.replaced("template "+o.GetName(), string(text))
		m.replaced("StatefulSet "+o.GetName(), string(o.GetUID()))
		m.revisions[o.GetName()], _, _ = unstructured.NestedString(o.Object, "status", "updateRevision")
	case "pods":
		if !m.outdated(o) {
			m.replaced("pod "+o.GetName(), string(o.GetUID()))
		}
	case "persistentvolumeclaims":
		m.replaced("PVC "+o.GetName(), string(o.GetUID()))
	}
	m.tell()
}

// outdated reports whether a pod has the revision of its predecessor, and its StatefulSet another one. The StatefulSet
// controller creates such pods, and replaces them, when its cache of the status is late. A StatefulSet that was just
// created has no revision yet: its pods are new, whichever of the two events comes first.
func (m *Mirror) outdated(pod *unstructured.Unstructured) bool {
	set := pod.GetName()[:max(0, strings.LastIndexByte(pod.GetName(), '-'))]
	revision := pod.GetLabels()[appsv1.ControllerRevisionHashLabelKey]
	before := m.last["revision of "+pod.GetName()]
	m.last["revision of "+pod.GetName()] = revision
	return before == revision && m.revisions[set] != "" && m.revisions[set] != revision
}

func (m *Mirror) replaced(what, now string) {
	if m.last[what] != now {
		m.last[what] = now
		m.life.Replaced[what]++
	}
}

func (m *Mirror) drop(resource string, o *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := resource + "/" + o.GetName()
	delete(m.state, key)
	m.contribute(key, nil)
	m.tell()
}

// contribute replaces what an object contributes at once.
func (m *Mirror) contribute(key string, atoms []string) {
	before := m.atoms[key]
	m.atoms[key] = atoms
	for _, a := range atoms {
		m.present[a]++
	}
	for _, a := range before {
		if m.present[a]--; m.present[a] == 0 {
			m.life.Missing[a] = true
		}
	}
}

func (m *Mirror) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Snapshot returns the current objects.
func (m *Mirror) Snapshot() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return merged(m.state)
}

// merged returns a state in which rule files are objects of their own: which of its ConfigMaps has a file depends on the
// order in which they came.
func merged(s State) State {
	out := make(State, len(s))
	for key, o := range s {
		config := o.(map[string]any)
		owner := ""
		if labels, ok := config["metadata"].(map[string]any)["labels"].(map[string]any); ok && strings.HasPrefix(key, "configmaps/") {
			owner = ownerOfRules(labels)
		}
		if owner == "" {
			out[key] = o
			continue
		}
		without := maps.Clone(config)
		delete(without, "data")
		out[key] = without
		files, _ := config["data"].(map[string]any)
		for name, text := range files {
			file := "rule files/" + owner + "/" + name
			if before, twice := out[file]; twice {
				text = fmt.Sprint(before, " and in another ConfigMap ", text)
			}
			out[file] = text
		}
	}
	return renumbered(out)
}

// ownerOfRules returns the workload of a ConfigMap with rules; empty if it is none.
func ownerOfRules(labels map[string]any) string {
	for label, prefix := range map[string]string{"prometheus-name": "prometheus ", "thanos-ruler-name": "ruler "} {
		if name, ok := labels[label].(string); ok {
			return prefix + name
		}
	}
	return ""
}

// Reaches waits until the objects equal want, or stop is closed.
//
// Errors: the remaining differences when ctx ends.
func (m *Mirror) Reaches(ctx context.Context, want State, stop <-chan struct{}) (stopped bool, err error) {
	for {
		m.mu.Lock()
		key := Differs(want, merged(m.state))
		changed := m.changed
		m.mu.Unlock()
		if key == "" {
			return false, nil
		}
		select {
		case <-changed:
		case <-stop:
			return true, nil
		case <-ctx.Done():
			return false, fmt.Errorf("not reached: %s", Difference(want, m.Snapshot()))
		}
	}
}

// Differs returns the first object that is not the same; empty if there is none.
func Differs(want, have State) string {
	for key, o := range want {
		if !reflect.DeepEqual(o, have[key]) {
			return key
		}
	}
	for key := range have {
		if _, ok := want[key]; !ok {
			return key
		}
	}
	return ""
}

// Difference describes the objects that are not the same.
func Difference(want, have State) string {
	out := ""
	all := maps.Clone(want)
	maps.Copy(all, have)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		w, wanted := want[key]
		h, is := have[key]
		switch {
		case !wanted:
			out += "\n" + key + " is too much"
		case !is:
			out += "\n" + key + " is missing"
		case !reflect.DeepEqual(w, h):
			out += "\n" + key + " (-want +have):\n" + cmp.Diff(w, h)
		}
	}
	const most = 6000
	return excerpt.Of(out, most)
}

// Rests waits until nothing changes for a while. It is used once per step, for the state that later runs are compared
// with.
func (m *Mirror) Rests(ctx context.Context, quiet time.Duration) error {
	for {
		m.mu.Lock()
		changed := m.changed
		m.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(quiet):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// normalize returns an object without what differs between runs that reach the same. nil means that the object is not
// compared.
func normalize(resource string, o *unstructured.Unstructured) any {
	if resource == "configmaps" && o.GetName() == "kube-root-ca.crt" {
		return nil
	}
	out := o.DeepCopy().Object
	generation := o.GetGeneration()
	metadata := out["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink", "deletionGracePeriodSeconds"} {
		delete(metadata, field)
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return strings.HasPrefix(key, Foreign) })
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	if metadata["deletionTimestamp"] != nil {
		metadata["deletionTimestamp"] = "set"
	}
	if owners, ok := metadata["ownerReferences"].([]any); ok {
		for _, ref := range owners {
			delete(ref.(map[string]any), "uid")
		}
	}
	switch resource {
	case "statefulsets":
		delete(out, "status")
		if annotations, ok := metadata["annotations"].(map[string]any); ok && annotations[wellknown.AnnotationInputHash] != nil {
			annotations[wellknown.AnnotationInputHash] = "of the generation"
		}
	case "persistentvolumeclaims":
		delete(out, "status")
		delete(out["spec"].(map[string]any), "volumeName")
	case "pods":
		delete(out, "status")
		delete(out, "spec")
	case "services":
		delete(out, "status")
	case "secrets":
		plainData(out)
	}
	if status, ok := out["status"]; ok {
		out["status"] = timeless(status, generation)
	}
	return compared(out)
}

// uid matches the UIDs of rule objects in the names of their files.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// longest is the size up to which texts are kept. Of longer ones, the beginning and the checksum are.
const longest = 4 << 10

// compared replaces UIDs in keys and shortens texts.
func compared(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[uid.ReplaceAllString(key, "UID")] = compared(value)
		}
		return out
	case []any:
		for i := range v {
			v[i] = compared(v[i])
		}
	case string:
		if len(v) > longest {
			return fmt.Sprintf("%s… %x", v[:200], sha256.Sum256([]byte(v)))
		}
		return uid.ReplaceAllString(v, "UID")
	}
	return v
}

// timeless replaces times, and generations by whether they are that of the object.
func timeless(v any, generation int64) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch key {
			case "lastTransitionTime":
				v[key] = "some time"
			case "observedGeneration":
				v[key] = value == generation
			case "bindings": // in the order in which controllers came
				list := timeless(value, generation).([]any)
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				v[key] = list
			default:
				v[key] = timeless(value, generation)
			}
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i], generation)
		}
	}
	return v
}

// Foreign is the prefix of annotations that others set in tests. They are not compared.
const Foreign = "others.example/"
