package discovery

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// packed is a pod in the encoding of the API server. As structs, one takes four times as much memory, and informers have all
// pods of a cluster.
type packed struct {
	metav1.Object // nil: informers call no other methods
	namespace     string
	name          string
	version       string
	uid           types.UID
	node          string
	text          []byte
}

// GetNamespace implements [metav1.Object].
func (p *packed) GetNamespace() string { return p.namespace }

// GetName implements [metav1.Object].
func (p *packed) GetName() string { return p.name }

// GetUID implements [metav1.Object].
func (p *packed) GetUID() types.UID { return p.uid }

// GetResourceVersion implements [metav1.Object].
func (p *packed) GetResourceVersion() string { return p.version }

// Pack returns an object as an informer holds it: pods encoded, and others as they are. The indices of [Indexers] know both.
func Pack(object Object) any {
	pod, is := object.(*corev1.Pod)
	if !is {
		return object
	}
	text, err := pod.Marshal()
	if err != nil {
		return object
	}
	return &packed{namespace: pod.Namespace, name: pod.Name, version: pod.ResourceVersion, uid: pod.UID, node: pod.Spec.NodeName, text: text}
}

// Unpack returns the object of an informer, or of an event of one, as it was before [Pack].
func Unpack(object any) any {
	switch o := object.(type) {
	case *packed:
		out := &corev1.Pod{}
		if err := out.Unmarshal(o.text); err != nil {
			panic(fmt.Sprintf("pod %s/%s cannot be decoded, which Pack encoded: %v", o.namespace, o.name, err))
		}
		return out
	case cache.DeletedFinalStateUnknown:
		o.Obj = Unpack(o.Obj)
		return o
	}
	return object
}
