package insight

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// entry is the immutable state of a workload.
type entry struct {
	candidate explain.Candidate
	shape     engine.Shape
	ref       catalog.Ref
	// facts has only the objects that the workload selects. report is the response built from them.
	facts  status.Facts
	report status.Report
	states map[catalog.Ref]objectState
	rules  selection.Rules
	// statesUnknown is true if the results on objects are not known.
	statesUnknown bool
	// since is the time of the last configuration change; zero if it was not observed.
	since     time.Time
	attention []Attention
	history   []Change // of objects, the last one first

	counted atomic.Pointer[countedAttention] // cached result for target counts
}

// objectState is the result for an object that a workload selects.
type objectState struct {
	state   status.State
	message string
	jobs    int // number of compiled jobs
}

// kept is the cache from which the next entry of a workload is built.
type kept struct {
	gatherer engine.Gatherer
	due      time.Time // when it may be recompiled, if compiled objects were evicted
	behind   bool      // the entry is stale until then
	rules    selection.Rules
	rulesErr error  // error of parsing the selectors
	rulesOf  string // specOf of the workload when rules were parsed
	selected map[*catalog.Row]map[types.NamespacedName]catalog.Object
	shape    engine.Shape
	shapeOf  string // specOf of the workload when shape was computed

	madeOf  string                // fingerprint of the entry
	read    map[assets.Ref]string // versions of referenced objects
	checked time.Time             // when read was last compared
	entry   *entry
	changes []Change
	wanted  string // hash of the configuration
	since   time.Time
}

// update fills in the state of each workload and reuses the entries of unchanged ones.
func (c *Cluster) update(ctx context.Context, w *snapshot, all []explain.Candidate) {
	changed := c.snapshots.changed(w)
	c.forget(changed)
	references := c.Reader.References(ctx)
	w.behind = map[*entry]bool{}
	seen := map[catalog.Ref]bool{}
	for _, candidate := range all {
		ref := candidate.Ref()
		seen[ref] = true
		k := c.snapshots.kept(ref)
		e := k.update(c, w, candidate, references, changed)
		if k.behind {
			w.behind[e] = true
		}
		w.entries = append(w.entries, e)
		w.byRef[ref] = e
	}
	for ref, k := range c.snapshots.keep {
		if !seen[ref] {
			k.close()
			delete(c.snapshots.keep, ref)
			c.snapshots.held.Set(ref, share.Object{})
		}
	}
	w.lookups = nil // no longer needed
	w.unselectedByAny, w.standings, w.spaces = sync.OnceValue(w.findUnselected), sync.OnceValue(w.findStandings), sync.OnceValue(w.findSpaces)
	slices.SortFunc(w.entries, func(a, b *entry) int { return compareRefs(a.ref, b.ref) })
}

func compareRefs(a, b catalog.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// keyOfRef returns a key that sorts like compareRefs.
func keyOfRef(r catalog.Ref) string { return r.Kind + "\x00" + r.Namespace + "\x00" + r.Name }

// kept returns the cache of a workload and creates it if needed.
func (s *snapshots) kept(ref catalog.Ref) *kept {
	k := s.keep[ref]
	if k == nil {
		k = &kept{}
		s.keep[ref] = k
	}
	return k
}

// shape returns the shape of a workload. It is recomputed only when its spec changes, unless its number of shards follows
// the series.
func (s *snapshots) shape(of explain.Candidate) engine.Shape {
	if of.Object.GetAnnotations()[wellknown.AnnotationMaxShards] != "" {
		return of.Setup.Shape(of.Object)
	}
	k := s.kept(of.Ref())
	if now := specOf(of); k.shapeOf != now {
		k.shapeOf, k.shape = now, of.Setup.Shape(of.Object)
	}
	return k.shape
}

// changes are the objects by kind that differ from the previous snapshot; nil for deleted objects.
type changes map[*catalog.Row]map[types.NamespacedName]catalog.Object

// changed compares the snapshot with the previous one. Changed namespace labels change all objects
// of the namespace.
func (s *snapshots) changed(w *snapshot) changes {
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
			key := catalog.KeyOf(o)
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

// same reports whether two objects of the same name have the same UID and version.
func same(a, b catalog.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && a.GetResourceVersion() != "" && capacity.IsStub(a) == capacity.IsStub(b)
}

// drop evicts what was compiled of an object.
func (c *Cluster) drop(kind string, key types.NamespacedName) {
	for _, s := range c.Setups {
		if s.SelectsBy(kind).Row != nil {
			s.Gone(kind, key)
		}
	}
}

// forget evicts compiled objects that were deleted.
func (c *Cluster) forget(all changes) {
	for row, changed := range all {
		for key, o := range changed {
			if o == nil {
				c.drop(row.Kind, key)
			}
		}
	}
}

// update returns the current entry of a workload. It rebuilds the entry only if its inputs have
// changed.
func (k *kept) update(c *Cluster, w *snapshot, candidate explain.Candidate, references assets.Reader, changed changes) *entry {
	specBefore := k.rulesOf
	selectedChanged := k.selects(candidate, w, changed) || k.behind
	shape := c.snapshots.shape(candidate)
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
	old := k.entry
	k.entry, k.due = k.build(facts, shape), time.Time{}
	if len(facts.Unread) == 0 && (old == nil || len(old.facts.Unread) == 0) { // otherwise objects would seem to disappear and return
		k.compare(old, k.entry, c.Now(), w.before)
	}
	k.entry.history = k.changes
	if dropped := c.snapshots.keepWithin(candidate.Ref()); dropped {
		pause := min(afreshPause*time.Since(began), longestPause)
		k.due = c.Now().Add(pause)
		k.entry.report.Unread = append(slices.Clone(k.entry.report.Unread), fmt.Sprintf("this is as of %s, and not looked at again for %s: what the workload compiles to takes more memory than there is to keep it here",
			c.Now().UTC().Format(time.RFC3339), pause.Round(time.Second)))
	}
	return k.entry
}

// The pause before a workload whose compiled objects were evicted is recompiled, as a multiple of
// its compile time, and the maximum.
const (
	afreshPause  = 10
	longestPause = 30 * time.Second
)

// heldShare limits the memory of all compiled objects to this fraction (1/16) of process memory.
const heldShare = 16

// keepWithin evicts compiled objects while they exceed the limit, those of last or of larger
// workloads in the namespaces that hold most. It reports whether those of last were evicted.
func (s *snapshots) keepWithin(last catalog.Ref) (dropped bool) {
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

// rest evicts the compiled objects of a workload. It is recompiled when something changes.
func (s *snapshots) rest(ref catalog.Ref) {
	k := s.keep[ref]
	k.close()
	k.gatherer = nil
	s.held.Set(ref, share.Object{})
}

// noticed is the maximum uncertainty of the reported time of a change.
const noticed = time.Minute

// note records when the hash of the configuration changes. before is the last time the previous
// snapshot was found current.
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
