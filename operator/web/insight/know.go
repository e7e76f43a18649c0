package insight

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// entry is what is known of a workload. Nobody changes it.
type entry struct {
	candidate explain.Candidate
	shape     engine.Shape
	ref       catalog.Ref
	// facts has the objects that the workload selects, and no others; report is its page.
	facts  status.Facts
	report status.Report
	states map[catalog.Ref]verdict
	rules  selection.Rules
	// unjudged says that it is not known what the workload makes of objects.
	unjudged bool
	// since is when its configuration changed last, as far as that was seen.
	since     time.Time
	attention []Attention

	counted atomic.Pointer[counted] // what follows from targets
}

// verdict is what a workload makes of an object that it selects.
type verdict struct {
	state   status.State
	message string
	jobs    int // that the object became
}

// kept is what makes the next entry of a workload cheap.
type kept struct {
	gatherer engine.Gatherer
	due      time.Time // when it may be compiled again, if what was compiled is not kept
	behind   bool      // the entry is older than that
	rules    selection.Rules
	rulesErr error  // a selector does not parse
	rulesOf  string // the workload as its selectors were parsed
	selected map[*catalog.Row]map[types.NamespacedName]catalog.Object
	shape    engine.Shape
	shapeOf  string // the workload as the shape was made

	madeOf  string                // the entry
	read    map[assets.Ref]string // the versions of what it refers to
	checked time.Time             // when these were compared
	entry   *entry
	wanted  string // hash of the configuration
	since   time.Time
}

// know adds what is known of each workload. What was known before of those about which
// nothing changed is taken over.
func (c *Cluster) know(ctx context.Context, w *world, all []explain.Candidate) {
	changed := c.worlds.changed(w)
	c.forget(changed)
	references := c.Reader.References(ctx)
	w.behind = map[*entry]bool{}
	seen := map[catalog.Ref]bool{}
	for _, candidate := range all {
		ref := candidate.Ref()
		seen[ref] = true
		k := c.worlds.kept(ref)
		e := k.know(c, w, candidate, references, changed)
		if k.behind {
			w.behind[e] = true
		}
		w.entries = append(w.entries, e)
		w.byRef[ref] = e
	}
	for ref, k := range c.worlds.keep {
		if !seen[ref] {
			k.close()
			delete(c.worlds.keep, ref)
			c.worlds.held.Set(ref, share.Object{})
		}
	}
	w.lookups = nil // nobody needs them any more
	w.unselectedByAny = sync.OnceValue(w.findUnselected)
	slices.SortFunc(w.entries, func(a, b *entry) int { return compareRefs(a.ref, b.ref) })
}

func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// keyOfRef is in the order of compareRefs.
func keyOfRef(r catalog.Ref) string { return r.Kind + "\x00" + r.Namespace + "\x00" + r.Name }

// kept is what is kept of a workload.
func (s *worlds) kept(ref catalog.Ref) *kept {
	k := s.keep[ref]
	if k == nil {
		k = &kept{}
		s.keep[ref] = k
	}
	return k
}

// shape is that of a workload. It is made again when its spec changes.
func (s *worlds) shape(of explain.Candidate) engine.Shape {
	k := s.kept(of.Ref())
	if now := specOf(of); k.shapeOf != now {
		k.shapeOf, k.shape = now, of.Setup.Shape(of.Object)
	}
	return k.shape
}

// changes are the objects of a kind that differ from those of the world before; nil for those
// that do not exist any more.
type changes map[*catalog.Row]map[types.NamespacedName]catalog.Object

// changed compares with the world before. An object whose namespace has other labels counts.
func (s *worlds) changed(w *world) changes {
	out, known, namespaces := changes{}, map[*catalog.Row]map[types.NamespacedName]catalog.Object{}, map[string]string{}
	labelsChanged := map[string]bool{}
	labelsOf := func(namespace string) bool {
		if _, asked := namespaces[namespace]; !asked {
			set, ok := w.namespaceLabels(namespace)
			namespaces[namespace] = strconv.FormatBool(ok) + set.String() + w.namespacesUnread
			labelsChanged[namespace] = s.labels[namespace] != namespaces[namespace]
		}
		return labelsChanged[namespace]
	}
	for row, objects := range w.objects {
		before, now := s.known[row], make(map[types.NamespacedName]catalog.Object, len(objects))
		differ := map[types.NamespacedName]catalog.Object{}
		for _, o := range objects {
			key := keyOf(o)
			now[key] = o
			if old := before[key]; labelsOf(key.Namespace) || old == nil || !same(old, o) {
				differ[key] = o
			}
		}
		for key := range before {
			if now[key] == nil {
				differ[key] = nil
			}
		}
		out[row], known[row] = differ, now
	}
	s.known, s.labels = known, namespaces
	return out
}

// same reports whether two objects of a name are one in one version.
func same(a, b catalog.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != "" && capacity.IsStub(a) == capacity.IsStub(b)
}

func keyOf(o catalog.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// forget drops what was compiled of objects that do not exist any more.
func (c *Cluster) forget(all changes) {
	for row, changed := range all {
		for key, o := range changed {
			for _, s := range c.Setups {
				if o == nil && s.SelectsBy(row.Kind).Row != nil {
					s.Gone(row.Kind, key)
				}
			}
		}
	}
}

// know returns what is known of a workload now.
func (k *kept) know(c *Cluster, w *world, candidate explain.Candidate, references assets.Reader, changed changes) *entry {
	specBefore := k.rulesOf
	selectedChanged := k.selects(candidate, w, changed) || k.behind
	shape := c.worlds.shape(candidate)
	facts := status.Facts{
		Candidate: candidate, Configs: c.Scopes.SelectedBy(candidate.Setup.Kind), Objects: map[*catalog.Row][]catalog.Object{},
		NamespaceLabels: w.namespaceLabels, NamespaceUnknown: w.namespaceUnknown(), References: references,
		Pods: w.podsOf(candidate, shape), StatefulSets: w.setsOf(candidate, shape), DaemonSet: w.daemonOf(candidate, shape),
	}
	for _, s := range candidate.Setup.Selects {
		if why, is := w.unlisted[s.Row]; is {
			facts.Unread = append(facts.Unread, why)
		}
	}
	if w.namespacesUnread != "" {
		facts.Unread = append(facts.Unread, w.namespacesUnread)
	}
	w.notRead(&facts, shape)
	madeOf := k.fingerprint(&facts)
	if k.entry != nil && !selectedChanged && madeOf == k.madeOf && k.current(c, references) {
		return k.entry
	}
	if k.behind = k.entry != nil && k.rulesOf == specBefore && c.Now().Before(k.due); k.behind {
		return k.entry
	}
	for _, s := range candidate.Setup.Selects {
		facts.Objects[s.Row] = slices.Collect(maps.Values(k.selected[s.Row]))
	}
	k.madeOf = madeOf
	k.note(&facts, c.Now(), w.before)
	k.checked = c.Now()
	began := time.Now()
	k.entry, k.due = k.make(facts, shape), time.Time{}
	if dropped := c.worlds.keepWithin(candidate.Ref()); dropped {
		pause := min(afreshPause*time.Since(began), longestPause)
		k.due = c.Now().Add(pause)
		k.entry.report.Unread = append(slices.Clone(k.entry.report.Unread), fmt.Sprintf("this is as of %s, and not looked at again for %s: what the workload compiles to takes more memory than there is to keep it here",
			c.Now().UTC().Format(time.RFC3339), pause.Round(time.Second)))
	}
	return k.entry
}

// What is not kept is compiled afresh after a pause: in times that it took, and at most.
const (
	afreshPause  = 10
	longestPause = 30 * time.Second
)

// heldShare bounds what is kept of all workloads, as a part of the memory of the process.
const heldShare = 16

// keepWithin drops what was compiled while too much is kept: of the workload that was compiled last,
// or of larger ones in the namespaces for which most is kept. It reports whether that of the last was
// dropped.
func (s *worlds) keepWithin(last catalog.Ref) (dropped bool) {
	bytes := 0
	if g := s.keep[last].gatherer; g != nil {
		bytes = g.Held()
	}
	for _, ref := range s.held.Set(last, share.Object{Namespace: last.Namespace, Name: last.Kind + "/" + last.Name, Bytes: bytes}) {
		s.rest(ref)
		dropped = dropped || ref == last
	}
	return dropped
}

// rest drops what was compiled for a workload. It is compiled afresh when something changes.
func (s *worlds) rest(ref catalog.Ref) {
	k := s.keep[ref]
	k.close()
	k.gatherer = nil
	s.held.Set(ref, share.Object{})
}

// selects brings what the workload selects up to date, and reports whether it changed.
func (k *kept) selects(of explain.Candidate, w *world, changed changes) (selectedChanged bool) {
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
				consider(keyOf(o), o)
			}
			continue
		}
		for key, o := range changed[s.Row] {
			consider(key, o)
		}
	}
	return selectedChanged || all
}

// specOf stands for the spec of a workload.
func specOf(of explain.Candidate) string {
	if of.Object.GetGeneration() > 0 && !capacity.IsStub(of.Object) {
		return string(of.Object.GetUID()) + " " + strconv.FormatInt(of.Object.GetGeneration(), 10)
	}
	return fmt.Sprintf("%p", of.Object) // nobody counts
}

// selects reports whether a rule selects an object, as far as that is known.
func (w *world) selects(rule selection.Rule, o catalog.Object) bool {
	if rule.Empty() || o.GetDeletionTimestamp() != nil || w.undecided(rule, o) {
		return false
	}
	set, exists := w.namespaceLabels(o.GetNamespace())
	return (exists || rule.OwnNamespaceOnly()) && rule.Why(o.GetNamespace(), set, o.GetLabels()) == selection.Selected
}

// undecided reports whether labels of a namespace that are not known decide about an object.
func (w *world) undecided(rule selection.Rule, o catalog.Object) bool {
	return w.namespacesUnread != "" && rule.Undecided(o.GetNamespace(), o.GetLabels())
}

// fingerprint stands for everything about a workload but what it selects and refers to.
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

// patience is how long Secrets and ConfigMaps are not compared that each take a call to the API
// server.
const patience = 30 * time.Second

// current reports whether the Secrets and ConfigMaps that were read have not changed.
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

// versionOf stands for what reading an object gave.
func versionOf(o assets.Object, err error) string {
	if err != nil && !assets.IsNotFound(err) {
		return "unread"
	}
	return o.Version
}

// recorder notes what is read. Objects are compiled on several CPUs.
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

// noticed is how soon a change must be noticed for the time of it to be known.
const noticed = time.Minute

// note notes when the hash of the configuration is seen to change. before is when somebody looked
// last.
func (k *kept) note(f *status.Facts, now, before time.Time) {
	wanted := ""
	for _, p := range f.Pods {
		hash, _, _ := strings.Cut(p.Annotations[delivery.Annotation], "-")
		wanted = max(wanted, hash)
	}
	if k.wanted != "" && wanted != "" && wanted != k.wanted {
		k.since = time.Time{}
		if now.Sub(before) <= noticed {
			k.since = now.UTC()
		}
	}
	if wanted != "" {
		k.wanted = wanted
	}
}

func (k *kept) close() {
	if k.gatherer != nil {
		k.gatherer.Close()
	}
}
