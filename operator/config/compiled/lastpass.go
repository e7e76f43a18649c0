package compiled

import (
	"reflect"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastPass is what the objects of an owner were compiled to in its last reconciliation.
// An object that is still the same one in memory need not be looked up: a reconciliation with
// 10,000 objects of which one has changed mostly compares pointers. They are weak: the next
// reconciliation may be minutes away, and old versions of all objects would stay in memory for that
// long. It is not safe for concurrent use. The zero value is empty; so is a nil one.
type LastPass[F any] struct {
	settings string
	kinds    map[string]*remembered[F]
}

// remembered are the objects of one kind, in the order of their names.
type remembered[F any] struct {
	last   []fragmentOf[F] // of the last pass, without those passed by
	now    []fragmentOf[F]
	missed int // objects in a row that were not found
}

type fragmentOf[F any] struct {
	object   weak.Pointer[byte]
	fragment F
}

// address is where an object is in memory.
func address(o metav1.Object) *byte { return (*byte)(reflect.ValueOf(o).UnsafePointer()) }

// Begin starts a reconciliation. Nothing is known under other settings than before.
func (p *LastPass[F]) Begin(settings string) {
	if p == nil {
		return
	}
	if p.settings != settings || p.kinds == nil {
		p.settings, p.kinds = settings, map[string]*remembered[F]{}
	}
	for _, k := range p.kinds {
		k.last, k.now, k.missed = k.now, make([]fragmentOf[F], 0, len(k.now)), 0
	}
}

// Objects that are gone or have changed since the last pass are passed by when a later one is found
// within this many entries, and as many more as objects were not found in a row.
const (
	lookahead    = 16
	maxLookahead = 256
)

// find returns the entry of an object. A kind's objects must be asked for in order, and each must
// be noted.
func (p *LastPass[F]) find(kind string, obj metav1.Object) (entry fragmentOf[F], ok bool) {
	if p == nil || p.kinds[kind] == nil {
		return entry, false
	}
	k, at := p.kinds[kind], address(obj)
	for i := 0; i < len(k.last) && i < min(lookahead+k.missed, maxLookahead); {
		switch old := k.last[i]; old.object.Value() {
		case at:
			k.last, k.missed = k.last[i+1:], 0
			return old, true
		case nil: // collected
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

// note records the fragment of an object for the next reconciliation; entry is the result of find,
// with that fragment.
func (p *LastPass[F]) note(kind string, obj metav1.Object, entry fragmentOf[F]) {
	if p == nil {
		return
	}
	if entry.object == (weak.Pointer[byte]{}) {
		entry.object = weak.Make(address(obj))
	}
	k := p.kinds[kind]
	if k == nil {
		k = &remembered[F]{}
		p.kinds[kind] = k
	}
	k.now = append(k.now, entry)
}

// objectHeld is the size of the entries of one object, of this pass and of the last, in bytes, with
// what the runtime keeps of a weak pointer.
const objectHeld = 128

// Held returns how many bytes are remembered, without what the objects were compiled to.
func (p *LastPass[F]) Held() (bytes int) {
	for _, k := range p.kinds {
		bytes += objectHeld * len(k.now)
	}
	return bytes
}
