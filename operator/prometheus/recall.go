package prometheus

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// recall is what the objects of an owner were compiled to in its last reconciliation.
// An object that is still the very same one need not be looked up: a reconciliation with
// 10,000 objects of which one has changed mostly compares pointers. It is not
// safe for concurrent use. The zero value knows nothing; a nil one neither.
type recall[F any] struct {
	settings string
	rows     map[string]*recalled[F] // by kind
}

// recalled are the objects of one kind, by "namespace/name".
type recalled[F any] struct {
	last []recollection[F] // of the last pass, without those passed by
	now  []recollection[F]
}

type recollection[F any] struct {
	object   metav1.Object
	compiled F
}

// begin starts a reconciliation. Nothing is known under other settings than before.
func (r *recall[F]) begin(settings string) {
	if r == nil {
		return
	}
	if r.settings != settings || r.rows == nil {
		r.settings, r.rows = settings, map[string]*recalled[F]{}
	}
	for _, row := range r.rows {
		row.last, row.now = row.now, make([]recollection[F], 0, len(row.now))
	}
}

// find returns what an object was compiled to. A kind's objects must be asked
// for in order, and each that is compiled must be noted.
func (r *recall[F]) find(kind string, obj metav1.Object) (compiled F, ok bool) {
	if r == nil || r.rows[kind] == nil {
		return compiled, false
	}
	row := r.rows[kind]
	for len(row.last) > 0 {
		head := row.last[0]
		if head.object == obj {
			row.last = row.last[1:]
			return head.compiled, true
		}
		if informer.CompareKeys(head.object, obj) >= 0 {
			break // a newer version, or an object that was not there
		}
		row.last = row.last[1:]
	}
	return compiled, false
}

// note remembers for the next reconciliation what an object was compiled to.
func (r *recall[F]) note(kind string, obj metav1.Object, compiled F) {
	if r == nil {
		return
	}
	row := r.rows[kind]
	if row == nil {
		row = &recalled[F]{}
		r.rows[kind] = row
	}
	row.now = append(row.now, recollection[F]{obj, compiled})
}
