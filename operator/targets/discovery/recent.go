package discovery

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// recentBytes is the maximum size of the messages of the pods in a [Recent], or that of one of them.
const recentBytes = 1 << 20

// Recent unpacks pods, and returns those that it has unpacked last again: a builder reads each pod of a group once for each
// port. The zero value is empty. It is safe for concurrent use.
type Recent struct {
	mu   sync.Mutex
	pods map[*packedPod]*corev1.Pod
	size int
}

// Unpack is like [Unpack]. The object must not be modified.
func (r *Recent) Unpack(object any) any {
	p, is := object.(*packedPod)
	if !is {
		return Unpack(object)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if pod := r.pods[p]; pod != nil {
		return pod
	}
	if r.size += len(p.text); r.pods == nil || r.size > recentBytes {
		r.pods, r.size = map[*packedPod]*corev1.Pod{}, len(p.text)
	}
	pod := Unpack(p).(*corev1.Pod)
	r.pods[p] = pod
	return pod
}
