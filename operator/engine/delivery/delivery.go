// Package delivery makes written configuration reach the pods immediately.
//
// The kubelet refreshes mounted Secrets and ConfigMaps about once a minute, but does so immediately
// when the pod object changes. So after each write, one annotation is patched on every pod that
// mounts the configuration; its value is the hash of the wanted configuration.
//
// A kubelet with a stale cache would refresh the old content and then wait the full minute.
// Therefore the patch is repeated with growing pauses until the pod confirms the content (its
// reloader reports what it applied) or a limit is reached. This is an optimization only: without
// permission to patch pods, changes take longer.
//
//	delivery.go         Nudger: patches pods without blocking
//	watch.go            Watcher: schedules requests to pods and caches the results
//	query.go applied.go one request: the reports of reloaders and their interpretation
//	loads.go            the same for reloaders that report no content
package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/queue"
)

// Annotation holds the hash of the configuration and rules a pod should run, followed by "-N" if
// the patch was repeated.
const Annotation = "operator.prometheus.io/config-hash"

const (
	// spacing is the average minimum time between two patches of one pod, with bursts of up to
	// burst: faster changes are merged.
	spacing = time.Second
	burst   = 5
	// patience is the pause before the first repetition; each further one is twice as long.
	patience = 1500 * time.Millisecond
	// maxPatches bounds the patches for one content.
	maxPatches = 5
	// maxBlind bounds them for a pod that cannot be queried.
	maxBlind = 2
	// forbiddenPause is the pause in a namespace after a forbidden patch.
	forbiddenPause = time.Minute
)

// podStates provides the state of pods; it is a Watcher.
type podStates interface {
	// Disk returns the cached state without blocking.
	Disk(pod types.NamespacedName, hash string) Answer
	// Expect schedules an early request to a pod.
	Expect(pod types.NamespacedName)
}

// Nudger patches pods. It sends no requests to them, as these may take long. Create it with New and
// start Run.
type Nudger struct {
	annotate func(ctx context.Context, namespace, pod, key, value string) error
	asker    podStates
	log      *slog.Logger
	patches  *prometheus.CounterVec

	queue *queue.Queue

	mu    sync.Mutex
	pods  map[types.NamespacedName]*state
	quiet map[string]time.Time // namespace without permission -> time of the next attempt
}

type state struct {
	want    string
	patches int         // for want
	recent  []time.Time // times of the last patches, oldest first, at most burst
	again   time.Time   // earliest time of the next repetition
}

// rest returns the time until the next patch is due. The queue keeps the earliest time of a pod,
// which may be that of a previous content.
func (s *state) rest() time.Duration {
	if s.patches > 0 {
		return time.Until(s.again)
	}
	return s.pause()
}

// pause returns the delay of a patch for a new content, which is positive if the burst is used up.
func (s *state) pause() time.Duration {
	if len(s.recent) < burst {
		return 0
	}
	return time.Until(s.recent[0].Add(burst * spacing))
}

// patched records a patch.
func (s *state) patched() {
	if len(s.recent) == burst {
		s.recent = s.recent[1:]
	}
	s.recent = append(s.recent, time.Now())
}

// New returns a nudger. annotate patches one annotation of a pod.
func New(annotate func(ctx context.Context, namespace, pod, key, value string) error, asker podStates,
	log *slog.Logger, reg prometheus.Registerer) *Nudger {
	n := &Nudger{
		annotate: annotate, asker: asker, log: log,
		queue: queue.New(queue.Options{}),
		pods:  map[types.NamespacedName]*state{}, quiet: map[string]time.Time{},
		patches: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prometheus_operator_pod_nudges_total",
			Help: "Annotation patches that make the kubelet refresh a pod's configuration immediately, by result.",
		}, []string{"result"}),
	}
	for _, r := range []string{"ok", "failed", "forbidden"} {
		n.patches.WithLabelValues(r)
	}
	reg.MustRegister(n.patches)
	return n
}

// HashOf returns the hash in an annotation value.
func HashOf(value string) string {
	hash, _, _ := strings.Cut(value, "-")
	return hash
}

// Carries reports whether an annotation value refers to a hash.
func Carries(value, hash string) bool { return HashOf(value) == hash }

// Deliver schedules a patch of a pod for new content. Another call with the same hash is a no-op.
func (n *Nudger) Deliver(pod types.NamespacedName, hash string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.pods[pod]
	if s == nil {
		s = &state{}
		n.pods[pod] = s
	}
	if s.want == hash {
		return
	}
	s.want, s.patches = hash, 0
	n.queue.AddAfter(pod, s.pause())
}

// Forget drops the state of a deleted pod.
func (n *Nudger) Forget(pod types.NamespacedName) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.pods, pod)
}

// Run patches pods until the context ends.
func (n *Nudger) Run(ctx context.Context, workers int) { n.queue.Run(ctx, workers, n.step) }

// step patches the pod if it is due and schedules the next step.
func (n *Nudger) step(ctx context.Context, pod types.NamespacedName) {
	want, patches, ok := n.due(pod)
	if !ok {
		return
	}
	if patches > 0 {
		switch answer := n.asker.Disk(pod, want); {
		case answer == Confirmed, answer == Unknown && patches >= maxBlind:
			return
		}
	}
	value := want
	if patches > 0 {
		value = fmt.Sprintf("%s-%d", want, patches+1)
	}
	if !n.patch(ctx, pod, value) {
		return
	}
	n.asker.Expect(pod)
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.pods[pod]
	if s == nil {
		return
	}
	s.patched()
	if s.want != want {
		n.queue.AddAfter(pod, s.pause())
		return
	}
	s.patches++
	if s.patches < maxPatches {
		wait := patience << (s.patches - 1)
		s.again = time.Now().Add(wait)
		n.queue.AddAfter(pod, wait)
	}
}

// due returns the hash that is due for the pod. Without permission, the pod is postponed.
func (n *Nudger) due(pod types.NamespacedName) (want string, patches int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.pods[pod]
	if s == nil || s.patches >= maxPatches {
		return "", 0, false
	}
	if rest := max(time.Until(n.quiet[pod.Namespace]), s.rest()); rest > 0 {
		n.queue.AddAfter(pod, rest)
		return "", 0, false
	}
	return s.want, s.patches, true
}

// patch reports whether the pod was patched, or may be on retry.
func (n *Nudger) patch(ctx context.Context, pod types.NamespacedName, value string) bool {
	err := n.annotate(ctx, pod.Namespace, pod.Name, Annotation, value)
	switch {
	case err == nil:
		n.patches.WithLabelValues("ok").Inc()
		n.allow(pod.Namespace)
		return true
	case apierrors.IsNotFound(err):
		n.Forget(pod)
		return false
	case apierrors.IsForbidden(err):
		n.patches.WithLabelValues("forbidden").Inc()
		n.forbid(pod, err)
		return false
	default:
		n.patches.WithLabelValues("failed").Inc()
		n.log.Warn("failed to annotate a pod; the kubelet delivers the new configuration within two minutes",
			"namespace", pod.Namespace, "pod", pod.Name, "err", err)
		return true
	}
}

// forbid postpones all pods of the namespace.
func (n *Nudger) forbid(pod types.NamespacedName, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, logged := n.quiet[pod.Namespace]; !logged {
		n.log.Warn("no permission to patch pods: the kubelet delivers changes within two minutes",
			"namespace", pod.Namespace, "retry_after", forbiddenPause.String(), "err", err)
	}
	n.quiet[pod.Namespace] = time.Now().Add(forbiddenPause)
	n.queue.AddAfter(pod, forbiddenPause)
}

func (n *Nudger) allow(namespace string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, logged := n.quiet[namespace]; logged {
		delete(n.quiet, namespace)
		n.log.Info("permission to patch pods granted: changes reach them immediately", "namespace", namespace)
	}
}
