package discovery

import (
	"bytes"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/kube/message"
)

// packedPod is a pod in the encoding of the API server. As structs, one takes four times as much memory, and informers have all
// pods of a cluster.
type packedPod struct {
	metav1.Object // nil: informers call no other methods
	namespace     string
	name          string
	version       string
	uid           types.UID
	node          string
	text          []byte
}

// GetNamespace implements [metav1.Object].
func (p *packedPod) GetNamespace() string { return p.namespace }

// GetName implements [metav1.Object].
func (p *packedPod) GetName() string { return p.name }

// GetUID implements [metav1.Object].
func (p *packedPod) GetUID() types.UID { return p.uid }

// GetResourceVersion implements [metav1.Object].
func (p *packedPod) GetResourceVersion() string { return p.version }

// GetObjectKind implements [runtime.Object].
func (p *packedPod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements [runtime.Object]. Packed pods do not change.
func (p *packedPod) DeepCopyObject() runtime.Object { return p }

// Numbers of fields of a pod.
const (
	metaOfPod, specOfPod, statusOfPod                     protowire.Number = 1, 2, 3
	nameOfMeta, namespaceOfMeta, uidOfMeta, versionOfMeta protowire.Number = 1, 3, 5, 6
	containersOfSpec, nodeOfSpec, initContainersOfSpec    protowire.Number = 2, 10, 20
	portsOfContainer, numberOfPort                        protowire.Number = 6, 3
	addressOfStatus                                       protowire.Number = 6
	itemsOfList                                           protowire.Number = 2 // of any list
)

// exposed returns the ports of the containers of a pod in an informer, packed or not. is is false if it is no pod or has no
// address.
func exposed(object any) (ports []int32, is bool) {
	switch p := object.(type) {
	case *packedPod:
		if len(message.Field(p.text, statusOfPod, addressOfStatus)) == 0 {
			return nil, false
		}
		spec := message.Field(p.text, specOfPod)
		for _, list := range []protowire.Number{containersOfSpec, initContainersOfSpec} {
			for c := range message.All(spec, list) {
				for port := range message.All(c, portsOfContainer) {
					ports = append(ports, int32(message.Varint(port, numberOfPort)))
				}
			}
		}
		return ports, true
	case *corev1.Pod:
		for c := range containersOf(p) {
			for _, port := range c.Ports {
				ports = append(ports, port.ContainerPort)
			}
		}
		return ports, p.Status.PodIP != ""
	}
	return nil, false
}

// scratch has buffers in which pods are shortened.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// PackMessage returns a pod, trimmed and packed, from its protobuf message, which it neither retains nor changes. It
// returns nil for other kinds, for pods without a name, as in bookmarks, and for malformed messages.
func PackMessage(kind string, raw []byte) runtime.Object {
	if kind != "Pod" {
		return nil
	}
	buffer := scratch.Get().(*[]byte)
	defer scratch.Put(buffer)
	*buffer = append((*buffer)[:0], raw...)
	short, err := shortPod.shorten(*buffer)
	if err != nil {
		return nil
	}
	text := func(path ...protowire.Number) string { return string(message.Field(short, path...)) }
	name := text(metaOfPod, nameOfMeta)
	if name == "" {
		return nil
	}
	return &packedPod{
		namespace: text(metaOfPod, namespaceOfMeta), name: name, uid: types.UID(text(metaOfPod, uidOfMeta)), version: text(metaOfPod, versionOfMeta),
		node: text(specOfPod, nodeOfSpec), text: bytes.Clone(short),
	}
}

// PodList is the kind of a list of pods.
const PodList = "PodList"

// TakePods adds the pods of an encoded list, packed. [Objects.Over] and [Objects.Follow] need others.
//
// Errors: it is not a protobuf message of pods with names.
func (o *Objects) TakePods(list []byte) error {
	if !message.Walk(list, func(p message.Part) bool {
		if p.Number != itemsOfList || p.Kind != protowire.BytesType {
			return true
		}
		pod, is := PackMessage("Pod", p.Bytes).(Object)
		if is {
			o.add(rolePod, pod)
		}
		return is
	}) {
		return errMessage
	}
	return nil
}

// Pack returns an object as an informer holds it and a release sees it: pods trimmed and encoded, and others trimmed. The
// indices of [Indexers] know both.
func Pack(object any, older Older) any {
	if p, is := object.(*packedPod); is {
		if !older.change(rolePod) {
			return p
		}
		object = Unpack(p)
	}
	o, is := object.(Object)
	if !is {
		return object
	}
	o = older.See(Trimmed(o))
	pod, is := o.(*corev1.Pod)
	if !is {
		return o
	}
	text, err := pod.Marshal()
	if err != nil {
		return o
	}
	return &packedPod{namespace: pod.Namespace, name: pod.Name, version: pod.ResourceVersion, uid: pod.UID, node: pod.Spec.NodeName, text: text}
}

// Unpack returns the object of an informer, or of an event of one, as it was before [Pack]. A pod whose message cannot
// be decoded, which no API server sends, has only a name.
func Unpack(object any) any {
	switch o := object.(type) {
	case *packedPod:
		out := &corev1.Pod{}
		if out.Unmarshal(o.text) != nil {
			return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: o.name}}
		}
		return out
	case cache.DeletedFinalStateUnknown:
		o.Obj = Unpack(o.Obj)
		return o
	}
	return object
}
