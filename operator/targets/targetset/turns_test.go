package targetset

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch/watchtest"
)

const expensive = `- job_name: a
  kubernetes_sd_configs: [{role: pod, namespaces: {names: [bad]}}]
  relabel_configs: [{action: drop, source_labels: [__meta_kubernetes_pod_annotation_note], regex: '(.*a|.*b){15}[yz]'}]
`

// Jobs of a namespace that take seconds of CPU time for one change of a pod do not delay those of another one.
func TestExpensiveJobsOfOthers(t *testing.T) {
	api := watchtest.New(t)
	c := &watch.Cluster{Lists: api.Lists}
	defer c.Close()
	large := pod("bad", "large", "web")
	large.Annotations = map[string]string{"note": strings.Repeat("a", 4_000)}
	for i := range 10 {
		large.Spec.Containers[0].Ports = append(large.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: int32(1000 + i)})
	}
	api.Kind("pods").Add(large)
	api.Kind("pods").Add(pod("good", "web", "web"))
	var done atomic.Int32
	const jobs = 20
	for range jobs {
		bad := Membership{Namespace: "bad", Observe: func(Key, *targetgroup.Group, []targets.Outcome) { done.Add(1) }}
		defer bad.Follow(c, read(t, expensive, 1, 1), "own", nil, func() {}).Close()
	}
	for done.Load() == 0 { // all others wait for a turn
		time.Sleep(time.Millisecond)
	}
	seen := make(chan int32, 1)
	good := Membership{Namespace: "good", Observe: func(Key, *targetgroup.Group, []targets.Outcome) { seen <- done.Load() }}
	defer good.Follow(c, read(t, strings.NewReplacer("[bad]", "[good]", "drop", "keep", "'(.*a|.*b){15}[yz]'", "'.*'").Replace(expensive), 1, 1), "own", nil, func() {}).Close()
	if n := <-seen; n > jobs/2 {
		t.Errorf("%d of %d expensive jobs came first", n, jobs)
	}
}

// Whether a job is known is answered at once, and the caller evaluates nothing for it.
func TestKnownEvaluatesNothing(t *testing.T) {
	api := watchtest.New(t)
	c := &watch.Cluster{Lists: api.Lists}
	defer c.Close()
	api.Kind("pods").Add(pod("bad", "large", "web"))
	var done atomic.Int32
	follow := func() *Followed {
		return Membership{Namespace: "bad", Observe: func(Key, *targetgroup.Group, []targets.Outcome) { done.Add(1) }}.Follow(c, read(t, expensive, 1, 1), "own", nil, func() {})
	}
	first := follow()
	defer first.Close()
	for !first.Known() {
		time.Sleep(time.Millisecond)
	}
	var turns []*watch.Turn
	for range runtime.GOMAXPROCS(0) {
		turns = append(turns, c.Turn("other"))
	}
	before, last := done.Load(), first
	for range 100 { // the pods have been read
		last = follow()
		defer last.Close()
		if last.Known() {
			t.Fatal("it is known")
		}
	}
	if n := done.Load() - before; n > 0 {
		t.Errorf("%d groups were evaluated", n)
	}
	for _, turn := range turns {
		turn.End()
	}
	for !last.Known() {
		time.Sleep(time.Millisecond)
	}
}
