package targetset

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch/watchtest"
)

func pod(ns, name, app string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: map[string]string{"app": app}}, Status: corev1.PodStatus{PodIP: "10.0.0.1"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80}}}}}}
}

// settle lets events arrive.
func settle(d time.Duration) {
	synctest.Wait()
	time.Sleep(d)
	synctest.Wait()
}

const podsOfWeb = `- job_name: a
  kubernetes_sd_configs: [{role: pod, namespaces: {names: [demo]}}, {role: ingress}, {role: pod, kubeconfig_file: /other}]
  relabel_configs:
  - {action: keep, source_labels: [__meta_kubernetes_pod_label_app], regex: web}
  - {source_labels: [__meta_kubernetes_pod_name], target_label: pod}
`

// A job is notified immediately about a change that concerns it, even if many others in its namespace do not.
func TestChangesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		pods := api.Kind("pods")
		pods.Add(pod("demo", "db", "db"))
		var changes atomic.Int32
		f := Membership{}.Follow(c, read(t, podsOfWeb, 2, 1), "own", nil, func() { changes.Add(1) })
		defer f.Close()
		settle(time.Minute)
		before := changes.Load()
		other := func(n int) {
			db := pod("demo", "db", "db")
			db.Labels["n"] = fmt.Sprint(n)
			pods.Modify(db)
			settle(firstPause / 2)
		}
		for n := range 1000 {
			other(n)
		}
		if n := changes.Load(); n != before {
			t.Fatalf("%d notifications about changes of others", n-before)
		}
		pods.Add(pod("demo", "web", "web"))
		other(1000)
		other(1001)
		if n := changes.Load(); n != before+1 || f.Counts().Shards[0] != 1 {
			t.Errorf("%d notifications, %v", n-before, f.Counts())
		}
	})
}

// A job in a cluster: counts, gaps and notifications of changes.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		api.Deny("ingresses", true)
		pods := api.Kind("pods")
		pods.Add(pod("demo", "web", "web"))
		pods.Add(pod("demo", "db", "db"))
		pods.Add(pod("other", "web", "web"))
		var changes atomic.Int32
		f := Membership{}.Follow(c, read(t, podsOfWeb, 2, 1), "own", nil, func() { changes.Add(1) })
		defer f.Close() // also when the test fails: the API server waits for it
		settle(time.Minute)
		want := Counts{States: map[targets.State]int{targets.Kept: 1, targets.Dropped: 1}, Dropped: map[string]int{"step 1": 1}, Shards: []int{1}}
		if diff := cmp.Diff(&want, f.Counts()); diff != "" {
			t.Error(diff)
		}
		var gaps []string
		for _, g := range f.Gaps() {
			gaps = append(gaps, fmt.Sprintf("%s, refused %t: %s", g.State, g.Refused, g.Message))
		}
		if diff := cmp.Diff([]string{"unknown, refused false: the job discovers targets in the cluster of /other",
			"unknown, refused true: targets of role ingress are not known: no permission to list ingresses.networking.k8s.io in all namespaces"}, gaps); diff != "" {
			t.Error(diff)
		}
		groups := 0
		f.Groups(func(*targetgroup.Group) { groups++ })
		if groups != 2 {
			t.Errorf("%d groups", groups)
		}

		// The first change is notified immediately, the others together.
		before := changes.Load()
		for i := range 50 {
			pods.Add(pod("demo", fmt.Sprint("web-", i), "web"))
			if synctest.Wait(); changes.Load() != before+1 {
				t.Fatalf("%d changes after %d events", changes.Load()-before, i+1)
			}
		}
		settle(firstPause)
		if n := changes.Load() - before; n != 2 || f.Counts().Shards[0] != 51 {
			t.Errorf("%d changes, %v", n, f.Counts())
		}
		// A change without effect on the job is not notified.
		settle(time.Minute)
		pods.Add(pod("other", "more", "web"))
		more := pod("demo", "db", "db")
		more.Labels["more"] = "x"
		pods.Modify(more)
		settle(time.Minute)
		if n := changes.Load() - before; n != 2 {
			t.Errorf("%d changes", n)
		}
		f.Close()
		pods.Delete(pod("demo", "web", "web"))
		settle(time.Minute)
		if n := changes.Load() - before; n != 2 {
			t.Error("a closed set changes")
		}
	})
}

// A list that succeeds after it has failed is waited for like the first one: the set is not
// complete without it.
func TestListWorksLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		for i := range 50 {
			api.Kind("pods").Add(pod("demo", fmt.Sprint("web-", i), "web"))
		}
		api.Deny("pods", true)
		f := Membership{}.Follow(c, read(t, podsOfWeb, 2, 1), "own", nil, func() {})
		defer f.Close()
		settle(time.Second)
		if gaps := f.Gaps(); !f.Complete() || len(gaps) != 2 {
			t.Errorf("complete %v, gaps %v: what fails is not waited for", f.Complete(), gaps)
		}
		api.Deny("pods", false)
		for began := time.Now(); len(f.Gaps()) == 2 || !f.Complete(); {
			if time.Sleep(time.Millisecond); time.Since(began) > time.Minute {
				t.Fatal("never complete")
			}
		}
		if n := f.Counts().States[targets.Kept]; n != 50 {
			t.Errorf("complete with %d targets", n)
		}
	})
}

// While many changes are taken, readers get intermediate results without blocking.
func TestReadWhileFilling(t *testing.T) {
	const all = 3000
	api := watchtest.New(t)
	c := &watch.Cluster{Lists: api.Lists}
	defer c.Close()
	for i := range all {
		api.Kind("pods").Add(pod("demo", fmt.Sprint("web-", i), "web"))
	}
	follow := func(each func(*Followed, int)) {
		f := Membership{}.Follow(c, read(t, podsOfWeb, 2, 1), "own", nil, func() {})
		defer f.Close()
		for began, n := time.Now(), 0; n < all; {
			f.reading.Lock()
			n = len(f.set.parts)
			f.reading.Unlock()
			if each(f, n); time.Since(began) > time.Minute {
				t.Fatalf("%d groups after a minute", n)
			}
		}
	}
	follow(func(*Followed, int) {})
	parts := 0
	follow(func(f *Followed, n int) { // all groups exist at once
		if n == 0 || n == all {
			return
		}
		parts++
		if f.Complete() && f.Counts().States[targets.Kept] < all {
			t.Errorf("complete with %d groups", n)
		}
	})
	if parts == 0 {
		t.Error("nobody could read it before all was taken")
	}
}

// Sets that are started and closed leak neither goroutines nor memory.
func TestSetsComeAndGo(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	jobs := make([]*targets.Job, 10)
	for i := range jobs {
		jobs[i] = read(t, strings.ReplaceAll(podsOfWeb, "demo", fmt.Sprint("ns-", i)), 2, 1)
	}
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		for i := range 200 {
			api.Kind("pods").Add(pod(fmt.Sprint("ns-", i%10), fmt.Sprint("web-", i), "web"))
		}
		round := func() (goroutines int, heap uint64) {
			var all []*Followed
			for i := range 1000 {
				all = append(all, Membership{}.Follow(c, jobs[i%len(jobs)], "own", nil, func() {}))
			}
			settle(time.Minute)
			most := runtime.NumGoroutine()
			for _, f := range all {
				if n := f.Counts().States[targets.Kept]; n != 20 {
					t.Fatalf("%d targets", n)
				}
				f.Close()
			}
			settle(20 * time.Minute)
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return most, m.HeapAlloc
		}
		idle := runtime.NumGoroutine()
		most, first := round()
		if most > idle+60 {
			t.Errorf("1,000 sets have %d goroutines", most-idle)
		}
		var last uint64
		for range 2 {
			_, last = round()
		}
		if n := runtime.NumGoroutine(); n > idle+1 {
			t.Errorf("%d goroutines stay", n-idle)
		}
		t.Logf("goroutines: %d for 1,000 sets; heap %d KB, then %d KB", most-idle, first>>10, last>>10)
		if last > first+1<<20 {
			t.Errorf("the heap grew from %d to %d KB", first>>10, last>>10)
		}
	})
}

// The view of a caller on a job does not hold the labels of the targets, which may be gigabytes in one namespace. It
// changes with the cluster, but never contains targets that were not visible.
func TestWithinHoldsNoLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		pods := api.Kind("pods")
		for i := range 50 {
			p := pod("demo", fmt.Sprint("web-", i), "web")
			p.Annotations = map[string]string{}
			for k := range 1000 {
				p.Annotations[fmt.Sprint("annotation-", k)] = "x"
			}
			pods.Add(p)
		}
		pods.Add(pod("other", "web", "web"))
		f := Membership{}.Follow(c, read(t, strings.Replace(podsOfWeb, "names: [demo]", "names: [demo, other]", 1), 2, 1), "own", nil, func() {})
		defer f.Close()
		settle(time.Minute)
		before := heap()
		seen, err := f.Within(t.Context(), func(*targets.KubernetesSD) Scope { return Scope{Namespaces: []string{"demo"}} }, false)
		if err != nil {
			t.Fatal(err)
		}
		if more := heap() - before; more > 1<<20 {
			t.Errorf("it takes %.0f KiB", more/1024)
		}
		find := func() (out int) {
			seen.Find(func(g *targetgroup.Group) bool { return len(g.Targets) > 0 }, func(Key) { out++ })
			return out
		}
		if n := find(); n != 50 || seen.Counts().States[targets.Kept] != 50 {
			t.Errorf("%d groups, %v", n, seen.Counts())
		}
		if _, ok := seen.Result(Key{Source: "pod/other/web"}, AllShards); ok {
			t.Error("a group of another namespace is visible")
		}
		if _, ok := f.Result(Key{Source: "pod/other/web"}, AllShards); !ok {
			t.Error("it does not exist")
		}
		pods.Delete(pod("demo", "web-0", "web"))
		pods.Add(pod("demo", "later", "web"))
		settle(time.Minute)
		if n := find(); n != 49 {
			t.Errorf("%d groups after a change", n)
		}
	})
}

// Groups that a job drops by their common labels are counted for a caller without their other labels.
func TestWithinDropsOutlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		pods := api.Kind("pods")
		const n = 100
		for i := range n {
			p := pod("demo", fmt.Sprint("other-", i), "other")
			p.Annotations = map[string]string{}
			for k := range 1000 {
				p.Annotations[fmt.Sprint("annotation-", k)] = "x"
			}
			pods.Add(p)
		}
		pods.Add(pod("demo", "web", "web"))
		pods.Add(pod("hidden", "other", "other"))
		f := Membership{}.Follow(c, read(t, strings.Replace(podsOfWeb, "names: [demo]", "names: [demo, hidden]", 1), 2, 1), "own", nil, func() {})
		defer f.Close()
		settle(time.Minute)
		budgettest.AtMost(t, "Within", n*2000, func() {
			seen, err := f.Within(t.Context(), func(*targets.KubernetesSD) Scope { return Scope{Namespaces: []string{"demo"}} }, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := seen.Counts().States; got[targets.Kept] != 1 || got[targets.Dropped] != n {
				t.Errorf("targets %v", got)
			}
		})
	})
}

// A group that refers to a pod of another namespace after the caller has seen it is no longer visible.
func TestWithinBecomesForeign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := watchtest.New(t)
		c := &watch.Cluster{Lists: api.Lists}
		defer c.Close()
		slice := func(namespace string) *discoveryv1.EndpointSlice {
			return &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}, Ports: []discoveryv1.EndpointPort{{Port: new(int32(80))}},
				Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "web"}}}}
		}
		api.Kind("pods").Add(pod("demo", "web", "web"))
		api.Kind("pods").Add(pod("other", "web", "web"))
		api.Kind("services")
		slices := api.Kind("endpointslices")
		slices.Add(slice("demo"))
		f := Membership{}.Follow(c, read(t, "- job_name: a\n  kubernetes_sd_configs: [{role: endpointslice}]\n", 0, 1), "own", nil, func() {})
		defer f.Close()
		settle(time.Minute)
		seen, err := f.Within(t.Context(), func(*targets.KubernetesSD) Scope { return Scope{Namespaces: []string{"demo"}} }, false)
		if err != nil {
			t.Fatal(err)
		}
		at := Key{Source: "endpointslice/demo/web"}
		if _, ok := seen.Result(at, AllShards); !ok {
			t.Error("it is not visible")
		}
		slices.Modify(slice("other"))
		settle(time.Minute)
		if _, ok := f.Result(at, AllShards); !ok || !f.Foreign(at) {
			t.Error("it does not exist")
		}
		if _, ok := seen.Result(at, AllShards); ok {
			t.Error("it is visible")
		}
	})
}
