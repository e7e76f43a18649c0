package fragments

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

// LastPass holds the fragments of a workload's last reconciliation. An object of the same version
// needs no cache lookup: a reconciliation with 10,000 objects of which one has changed
// mostly compares versions. It does not hold the objects, because the next reconciliation may be minutes
// away and old versions of all objects would stay in memory until then. It is not safe for
// concurrent use. The zero value and nil are empty.
type LastPass[F any] struct {
	settings string
	kinds    map[string]*kindPass[F]
	// whole is set if the last pass compiled all selected objects, and ended if this one has.
	whole, ended bool
}

// kindPass holds the fragments of the objects of one kind, sorted by name.
type kindPass[F any] struct {
	last   passResults[F] // of the last pass, without skipped entries
	now    passResults[F]
	missed int // consecutive objects that were not found

	before, spare passResults[F] // memory of the last pass, and of the one before, for the next
}

// passResults are the objects of a pass with their fragments, which the callers of All have too.
type passResults[F any] struct {
	versions  []version
	fragments []F
}

// version identifies the cached state of an object. Without a resource version, it equals no other.
type version struct {
	uid      types.UID
	resource string
}

func versionOf(o metav1.Object) version {
	if capacity.IsStub(o) {
		return version{} // the whole object may have the same version
	}
	return version{o.GetUID(), o.GetResourceVersion()}
}

// Begin starts a reconciliation. It drops all fragments if the settings have changed.
func (p *LastPass[F]) Begin(settings string) {
	if p == nil {
		return
	}
	if p.settings != settings || p.kinds == nil {
		p.settings, p.kinds, p.ended = settings, map[string]*kindPass[F]{}, false
	}
	p.whole, p.ended = p.ended, false
	for _, k := range p.kinds {
		k.last, k.now, k.missed = k.now, passResults[F]{}, 0
		k.before, k.spare = k.last, k.before
		clear(k.spare.fragments)
	}
}

// End records that this pass has compiled all selected objects.
func (p *LastPass[F]) End() { p.ended = true }

// Whole reports whether the last pass compiled all objects that were selected then, under the same settings: an object of which
// it has no fragment is new.
func (p *LastPass[F]) Whole() bool { return p.whole }

// find looks at the next lookahead entries of the last pass, plus one for each consecutive miss, up
// to maxLookahead. Entries before a match belong to changed or deleted objects and are skipped.
const (
	lookahead    = 16
	maxLookahead = 256
)

// of returns the fragments of the objects of a kind; nil for a nil LastPass.
func (p *LastPass[F]) of(kind string) *kindPass[F] {
	if p == nil {
		return nil
	}
	k := p.kinds[kind]
	if k == nil {
		k = &kindPass[F]{}
		p.kinds[kind] = k
	}
	return k
}

// find returns the fragment of a version of an object. Callers must find the objects of a kind in order.
func (k *kindPass[F]) find(v version) (fragment F, ok bool) {
	if k == nil || v.resource == "" {
		return fragment, false
	}
	for i := range min(len(k.last.versions), lookahead+k.missed, maxLookahead) {
		if k.last.versions[i] == v {
			fragment = k.last.fragments[i]
			k.last.skip(i + 1)
			k.missed = 0
			return fragment, true
		}
	}
	k.missed++
	return fragment, false
}

func (p *passResults[F]) skip(n int) { p.versions, p.fragments = p.versions[n:], p.fragments[n:] }

// room returns memory for n objects.
func (k *kindPass[F]) room(n int) passResults[F] {
	if k == nil || cap(k.spare.versions) < n || cap(k.spare.fragments) < n {
		return passResults[F]{make([]version, n), make([]F, n)}
	}
	out := passResults[F]{k.spare.versions[:n], k.spare.fragments[:n]}
	k.spare = passResults[F]{}
	return out
}

// note records the objects of a pass for the next one.
func (k *kindPass[F]) note(all passResults[F]) {
	switch {
	case k == nil:
	case k.now.versions == nil:
		k.now = all
	default:
		k.now = passResults[F]{append(k.now.versions, all.versions...), slices.Concat(k.now.fragments, all.fragments)}
	}
}

// substitute replaces postponed fragments by those of the last pass, of an earlier version of the object or of its references.
// The next pass compiles all of them again. A new object keeps its postponed fragment.
func (k *kindPass[F]) substitute(all passResults[F], compiled []int, postponed func(F) bool) {
	var earlier map[types.UID]int // in k.before
	for _, i := range compiled {
		if !postponed(all.fragments[i]) {
			continue
		}
		if earlier == nil {
			earlier = make(map[types.UID]int, len(k.before.versions))
			for at, v := range k.before.versions {
				earlier[v.uid] = at
			}
		}
		if at, has := earlier[all.versions[i].uid]; has && all.versions[i].uid != "" {
			all.fragments[i] = k.before.fragments[at]
		}
		all.versions[i].resource = "" // equals no other
	}
}

// objectHeld is the size in bytes of the entries of one object, for this pass and the last, with
// the texts of the version.
const objectHeld = 128

// Held returns the size in bytes of the entries, without the fragments.
func (p *LastPass[F]) Held() (bytes int) {
	for _, k := range p.kinds {
		bytes += objectHeld * len(k.now.versions)
	}
	return bytes
}
