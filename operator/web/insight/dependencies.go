package insight

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// selects updates the selected objects and reports whether they changed.
func (k *kept) selects(of explain.Candidate, w *snapshot, changed changes) (selectedChanged bool) {
	rulesOf := specOf(of)
	all := rulesOf != k.rulesOf
	if all {
		k.rulesOf = rulesOf
		k.rules, k.rulesErr = of.Setup.Selectors(of.Object)
		k.selected = map[*catalog.Row]map[types.NamespacedName]catalog.Object{}
	}
	for _, s := range of.Setup.Selects {
		have := k.selected[s.Row]
		if have == nil {
			have = map[types.NamespacedName]catalog.Object{}
			k.selected[s.Row] = have
		}
		rule := k.rules[s.Kind]
		consider := func(key types.NamespacedName, o catalog.Object) {
			_, had := have[key]
			switch {
			case o != nil && w.selects(rule, o):
				have[key], selectedChanged = o, true
			case had:
				delete(have, key)
				selectedChanged = true
			}
		}
		if all {
			for _, o := range w.lookup(s.Row).candidates(rule, of.Object.GetNamespace()) {
				consider(catalog.KeyOf(o), o)
			}
			continue
		}
		for key, o := range changed[s.Row] {
			consider(key, o)
		}
	}
	return selectedChanged || all
}

// specOf returns a key for the spec of a workload.
func specOf(of explain.Candidate) string {
	if of.Object.GetGeneration() > 0 && !capacity.IsStub(of.Object) {
		return string(of.Object.GetUID()) + " " + strconv.FormatInt(of.Object.GetGeneration(), 10)
	}
	return fmt.Sprintf("%p", of.Object) // no usable generation
}

// selects reports whether a rule is known to select an object.
func (w *snapshot) selects(rule selection.Rule, o catalog.Object) bool {
	if rule.Empty() || o.GetDeletionTimestamp() != nil || w.undecided(rule, o) {
		return false
	}
	set, exists := w.namespaceLabels(o.GetNamespace())
	return (exists || rule.OwnNamespaceOnly()) && rule.Why(o.GetNamespace(), set, o.GetLabels()) == selection.Selected
}

// undecided reports whether the result of a rule depends on unknown namespace labels.
func (w *snapshot) undecided(rule selection.Rule, o catalog.Object) bool {
	return w.namespacesUnread != "" && rule.Undecided(o.GetNamespace(), o.GetLabels())
}

// fingerprint returns a hash of the state of a workload, except for selected and referenced
// objects.
func (k *kept) fingerprint(f *status.Facts) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s %s %d %t %q", f.Object.GetUID(), f.Object.GetResourceVersion(), f.Object.GetGeneration(), f.PodsUnknown, f.Unread)
	if f.Object.GetResourceVersion() == "" || capacity.IsStub(f.Object) {
		fmt.Fprintf(h, " %p", f.Object)
	}
	for _, p := range f.Pods {
		fmt.Fprintf(h, " %s %s", p.UID, p.ResourceVersion)
	}
	for _, s := range f.StatefulSets {
		fmt.Fprintf(h, " %s %s", s.UID, s.ResourceVersion)
	}
	if d := f.DaemonSet; d != nil {
		fmt.Fprintf(h, " %s %s", d.UID, d.ResourceVersion)
	}
	return string(h.Sum(nil))
}

// patience is the minimum interval between comparisons of Secrets and ConfigMaps if each one
// requires a request to the API server.
const patience = 30 * time.Second

// current reports whether the Secrets and ConfigMaps that were read are unchanged.
func (k *kept) current(c *Cluster, references assets.Reader) bool {
	if _, is := c.Reader.(readers.Versioned); !is && c.Now().Sub(k.checked) < patience {
		return true
	}
	k.checked = c.Now()
	for ref, version := range k.read {
		if versionOf(references.Object(ref)) != version {
			return false
		}
	}
	return true
}

// versionOf returns a key for the result of reading an object.
func versionOf(o assets.Object, err error) string {
	if err != nil && !assets.IsNotFound(err) {
		return "unread"
	}
	return o.Version
}

// recorder records the versions of the objects that are read. It is safe for concurrent use because
// objects are compiled in parallel.
type recorder struct {
	assets.Reader
	mu   sync.Mutex
	read map[assets.Ref]string
}

// Object implements [assets.Reader].
func (r *recorder) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.Reader.Object(ref)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[ref] = versionOf(o, err)
	return o, err
}
