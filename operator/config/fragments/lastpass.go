package fragments

import (
	"reflect"
	"slices"
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
	last   passed[F] // of the last pass, without skipped entries
	now    passed[F]
	missed int // consecutive objects that were not found
}

// passed are the objects of a pass with their fragments, which the callers of All have too.
type passed[F any] struct {
	objects   []weak.Pointer[byte]
	fragments []F
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
		k.last, k.now, k.missed = k.now, passed[F]{}, 0
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

// find returns the fragment of an object, and the weak pointer to it. Callers must find the objects of a kind in order.
func (k *remembered[F]) find(obj metav1.Object) (object weak.Pointer[byte], fragment F, ok bool) {
	if k == nil {
		return object, fragment, false
	}
	at := address(obj)
	for i := 0; i < len(k.last.objects) && i < min(lookahead+k.missed, maxLookahead); {
		switch old := k.last.objects[i]; old.Value() {
		case at:
			fragment = k.last.fragments[i]
			k.last.skip(i + 1)
			k.missed = 0
			return old, fragment, true
		case nil: // garbage collected
			if i == 0 {
				k.last.skip(1)
				continue
			}
		}
		i++
	}
	k.missed++
	return object, fragment, false
}

func (p *passed[F]) skip(n int) { p.objects, p.fragments = p.objects[n:], p.fragments[n:] }

// note records the fragments of a pass for the next one. pointers are the results of find or empty.
func note[T metav1.Object, F any](k *remembered[F], objects []T, pointers []weak.Pointer[byte], fragments []F) {
	if k == nil {
		return
	}
	for i, o := range objects {
		if pointers[i] == (weak.Pointer[byte]{}) {
			pointers[i] = weak.Make(address(o))
		}
	}
	if k.now.objects == nil {
		k.now = passed[F]{pointers, fragments}
		return
	}
	k.now = passed[F]{append(k.now.objects, pointers...), slices.Concat(k.now.fragments, fragments)}
}

// objectHeld is the size in bytes of the entries of one object, for this pass and the last,
// including the runtime's data for a weak pointer.
const objectHeld = 128

// Held returns the size in bytes of the entries, without the fragments.
func (p *LastPass[F]) Held() (bytes int) {
	for _, k := range p.kinds {
		bytes += objectHeld * len(k.now.objects)
	}
	return bytes
}
