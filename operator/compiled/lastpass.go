package compiled

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
)

// LastPass is what the objects of an owner were compiled to in its last reconciliation.
// An object that is still the same version need not be looked up: a reconciliation with
// 10,000 objects of which one has changed mostly compares these. The objects themselves are not
// kept: the next reconciliation may be minutes away, and old versions of all of them would stay in
// memory for that long. It is not safe for concurrent use. The zero value is empty; so is a nil one.
type LastPass[F any] struct {
	settings string
	kinds    map[string]*remembered[F]
}

// remembered are the objects of one kind, by "namespace/name".
type remembered[F any] struct {
	last []fragmentOf[F] // of the last pass, without those passed by
	now  []fragmentOf[F]
}

type fragmentOf[F any] struct {
	version
	fragment F
}

// version names a version of an object.
type version struct {
	namespace, name, resource string
	uid                       types.UID
	stub                      bool
	address                   uintptr // of an object that does not say which version it is
}

func versionOf(o metav1.Object) version {
	v := version{namespace: o.GetNamespace(), name: o.GetName(), resource: o.GetResourceVersion(), uid: o.GetUID(), stub: capacity.IsStub(o)}
	if v.resource == "" || v.uid == "" {
		v.address = reflect.ValueOf(o).Pointer()
	}
	return v
}

// compare compares names, in the order of objects.
func (v version) compare(o version) int {
	return informer.CompareNames(v.namespace, v.name, o.namespace, o.name)
}

// Begin starts a reconciliation. Nothing is known under other settings than before.
func (p *LastPass[F]) Begin(settings string) {
	if p == nil {
		return
	}
	if p.settings != settings || p.kinds == nil {
		p.settings, p.kinds = settings, map[string]*remembered[F]{}
	}
	for _, k := range p.kinds {
		k.last, k.now = k.now, make([]fragmentOf[F], 0, len(k.now))
	}
}

// find returns what an object was compiled to. A kind's objects must be asked
// for in order, and each that is compiled must be noted.
func (p *LastPass[F]) find(kind string, obj metav1.Object) (fragment F, ok bool) {
	if p == nil || p.kinds[kind] == nil {
		return fragment, false
	}
	k, now := p.kinds[kind], versionOf(obj)
	for len(k.last) > 0 {
		head := k.last[0]
		if head.version == now {
			k.last = k.last[1:]
			return head.fragment, true
		}
		if head.compare(now) >= 0 {
			break // a newer version, or an object that was not there
		}
		k.last = k.last[1:]
	}
	return fragment, false
}

// note remembers for the next reconciliation what an object was compiled to.
func (p *LastPass[F]) note(kind string, obj metav1.Object, fragment F) {
	if p == nil {
		return
	}
	k := p.kinds[kind]
	if k == nil {
		k = &remembered[F]{}
		p.kinds[kind] = k
	}
	k.now = append(k.now, fragmentOf[F]{versionOf(obj), fragment})
}

// objectHeld is the size of the entries of one object, of this pass and of the last, in bytes.
const objectHeld = 256

// Held returns how many bytes are remembered, without what the objects were compiled to.
func (p *LastPass[F]) Held() (bytes int) {
	for _, k := range p.kinds {
		bytes += objectHeld * len(k.now)
	}
	return bytes
}
