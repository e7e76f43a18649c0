package fragments

import (
	"reflect"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastPass holds the fragments of a workload's last reconciliation. An object that is still the same
// pointer needs no cache lookup: a reconciliation with 10,000 objects of which one has changed
// mostly compares pointers. The pointers are weak, because the next reconciliation may be minutes
// away and old versions of all objects would stay in memory until then. It is not safe for
// concurrent use. The zero value and nil are empty.
type LastPass[F any] struct {
	settings string
	kinds    map[string]*remembered[F]
}

// remembered holds the fragments of the objects of one kind, sorted by name.
type remembered[F any] struct {
	last   []fragmentOf[F] // of the last pass, without skipped entries
	now    []fragmentOf[F]
	missed int // consecutive objects that were not found
}

type fragmentOf[F any] struct {
	object   weak.Pointer[byte]
	fragment F
}

// address returns the address of an object in memory.
func address(o metav1.Object) *byte { return (*byte)(reflect.ValueOf(o).UnsafePointer()) }

// Begin starts a reconciliation. It drops all fragments if the settings have changed.
func (p *LastPass[F]) Begin(settings string) {
	if p == nil {
		return
	}
	if p.settings != settings || p.kinds == nil {
		p.settings, p.kinds = settings, map[string]*remembered[F]{}
	}
	for _, k := range p.kinds {
		k.last, k.now, k.missed = k.now, nil, 0
	}
}

// find looks at the next lookahead entries of the last pass, plus one for each consecutive miss, up
// to maxLookahead. Entries before a match belong to changed or deleted objects and are skipped.
const (
	lookahead    = 16
	maxLookahead = 256
)

// of returns the fragments of the objects of a kind; nil for a nil LastPass.
func (p *LastPass[F]) of(kind string) *remembered[F] {
	if p == nil {
		return nil
	}
	k := p.kinds[kind]
	if k == nil {
		k = &remembered[F]{}
		p.kinds[kind] = k
	}
	return k
}

// find returns the entry of an object. Callers must find the objects of a kind in order.
func (k *remembered[F]) find(obj metav1.Object) (entry fragmentOf[F], ok bool) {
	if k == nil {
		return entry, false
	}
	at := address(obj)
	for i := 0; i < len(k.last) && i < min(lookahead+k.missed, maxLookahead); {
		switch old := k.last[i]; old.object.Value() {
		case at:
			k.last, k.missed = k.last[i+1:], 0
			return old, true
		case nil: // garbage collected
			if i == 0 {
				k.last = k.last[1:]
				continue
			}
		}
		i++
	}
	k.missed++
	return entry, false
}

// note records the fragments of a pass for the next one: an entry for each object, which is the
// result of find or empty, with the object's current fragment.
func note[T metav1.Object, F any](k *remembered[F], objects []T, entries []fragmentOf[F]) {
	if k == nil {
		return
	}
	for i, o := range objects {
		if entries[i].object == (weak.Pointer[byte]{}) {
			entries[i].object = weak.Make(address(o))
		}
	}
	if k.now == nil {
		k.now = entries
		return
	}
	k.now = append(k.now, entries...)
}

// objectHeld is the size in bytes of the entries of one object, for this pass and the last,
// including the runtime's data for a weak pointer.
const objectHeld = 128

// Held returns the size in bytes of the entries, without the fragments.
func (p *LastPass[F]) Held() (bytes int) {
	for _, k := range p.kinds {
		bytes += objectHeld * len(k.now)
	}
	return bytes
}
