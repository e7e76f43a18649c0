package central

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// pods adds pods with the label app=web in namespaces in turn.
func (b *fixture) addPods(n int, namespaces ...string) {
	for i := range n {
		b.api.Kind("pods").Add(pod(namespaces[i%len(namespaces)], fmt.Sprintf("web-%d", i), "web", i))
	}
}

// Each target is on exactly one shard. New targets are added, deleted ones are removed, and pods discover the targets
// of other jobs themselves.
func TestLists(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(40, "demo", "other")
		b.api.Kind("pods").Add(pod("demo", "db", "db", 200))
		b.objects.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, "metadata: {namespace: monitoring, name: dns}\nspec: {dnsSDConfigs: [{names: [a.example]}]}"))
		b.objects.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, "metadata: {namespace: monitoring, name: static}\nspec: {staticConfigs: [{targets: [a.example, b.example]}]}"))
		b.objects.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, "metadata: {namespace: monitoring, name: mixed}\nspec: {staticConfigs: [{targets: [c.example]}], kubernetesSDConfigs: [{role: Node}]}"))
		b.objects.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, "metadata: {namespace: monitoring, name: elsewhere}\nspec: {kubernetesSDConfigs: [{role: Node, apiServer: 'https://other.example'}]}"))
	}, func(t *testing.T, b *fixture) {
		settled(5 * time.Second)
		if !b.Ready() {
			t.Fatal("not ready")
		}
		on := b.shards(t, webJob, 2)
		jobs, _ := b.list(t, "prometheus-main")
		if len(on) != 40 || len(jobs) != 2 || len(b.shards(t, "scrapeConfig/monitoring/mixed", 2)) != 1 {
			t.Fatalf("%d targets, jobs %v", len(on), jobs)
		}
		b.api.Kind("pods").Add(pod("demo", "new", "web", 100))
		settled(5 * time.Second)
		more := b.shards(t, webJob, 2)
		if _, has := more["10.0.0.101:80"]; !has || len(more) != 41 {
			t.Errorf("%d targets", len(more))
		}
		for address, shard := range on {
			if more[address] != shard {
				t.Errorf("%s moved", address)
			}
		}
		for i := range 20 { // half of them, by deletion, which is not suspicious
			b.api.Kind("pods").Delete(pod([]string{"demo", "other"}[i%2], fmt.Sprintf("web-%d", i), "web", i))
		}
		settled(10 * time.Second)
		if less := b.shards(t, webJob, 2); len(less) != 21 {
			t.Errorf("%d targets after deletion", len(less))
		}
		b.objects.remove(catalog.PodMonitor.GroupVersionResource(), "web")
		settled(10 * time.Second)
		if jobs, code := b.list(t, "prometheus-main-shard-1"); code != http.StatusOK || len(jobs) != 1 {
			t.Errorf("%d %v after deletion of the monitor", code, jobs)
		}
	})
}

// Unknown targets never result in an empty list: before informers have synced, without a review of the ServiceAccount,
// while the API server fails, or for a workload that has become invalid.
func TestNotKnownIsNotEmpty(t *testing.T) {
	until := make(chan struct{})
	inBubble(t, func(b *fixture) {
		b.addPods(20, "demo")
		until = make(chan struct{})
		b.api.Delay("pods", until)
		b.reviews.fails.Store(true)
	}, func(t *testing.T, b *fixture) {
		none := func(when string) {
			t.Helper()
			if jobs, code := b.list(t, "prometheus-main"); code != http.StatusServiceUnavailable {
				t.Errorf("%s: %d, jobs %v", when, code, jobs)
			}
		}
		all := func(when string) {
			t.Helper()
			if on := b.shards(t, webJob, 2); len(on) != 20 {
				t.Errorf("%s: %d targets", when, len(on))
			}
		}
		settled(5 * time.Second)
		none("nothing is known")
		b.reviews.fails.Store(false)
		settled(2 * time.Minute)
		none("pods are not listed")
		if b.Ready() {
			t.Error("ready before pods are listed")
		}
		close(until)
		settled(5 * time.Second)
		all("pods are listed")
		b.reviews.fails.Store(true)
		settled(5 * time.Minute)
		all("reviews fail")
		b.objects.mu.Lock()
		b.objects.fails = errors.New("etcd is away")
		b.objects.mu.Unlock()
		settled(5 * time.Minute)
		all("workloads cannot be read")
		if s := b.statusOf(b.server); !strings.Contains(s.Problem, "etcd is away") {
			t.Errorf("problem %q", s.Problem)
		}
		b.objects.mu.Lock()
		b.objects.fails = nil
		b.objects.mu.Unlock()
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "shards: 2", "shards: 2, scrapeInterval: nonsense", 1)))
		settled(time.Minute)
		all("the workload is invalid")
		if s := b.statusOf(b.server); len(s.Workloads) != 1 || s.Workloads[0].Problem == "" {
			t.Errorf("%+v", s)
		}
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, ": central", ": nonsense", 1)))
		settled(time.Minute)
		all("the annotation is invalid")
	})
}

// A namespace that the ServiceAccount may not list has no targets, which the status reports. They are added when the
// permission is granted, and removed immediately when it is revoked.
func TestForbidden(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(40, "demo", "other")
		b.reviews.denies.Store(true)
	}, func(t *testing.T, b *fixture) {
		check := func(want int, forbidden bool) {
			t.Helper()
			settled(2 * time.Minute)
			if on := b.shards(t, webJob, 2); len(on) != want {
				t.Errorf("%d targets, want %d", len(on), want)
			}
			s := b.statusOf(b.server)
			says := slices.ContainsFunc(s.Workloads[0].Forbidden, func(text string) bool {
				return strings.Contains(text, "ServiceAccount monitoring/prometheus may not list and watch pods in namespace other")
			})
			if says != forbidden || strings.Contains(s.table(time.Now()), "forbidden: Prometheus discovers no targets of role pod in namespace other") != forbidden {
				t.Errorf("forbidden: %v", s.Workloads[0].Forbidden)
			}
		}
		check(20, true)
		b.reviews.denies.Store(false)
		check(40, false)
		b.reviews.denies.Store(true)
		check(20, true)
	})
}

// Targets that are missing in a list of objects, without an event, are held for a while.
func TestSuspiciousShrink(t *testing.T) {
	inBubble(t, func(b *fixture) { b.addPods(100, "demo") }, func(t *testing.T, b *fixture) {
		settled(5 * time.Second)
		if on := b.shards(t, webJob, 2); len(on) != 100 {
			t.Fatalf("%d targets", len(on))
		}
		b.expired.Store(true)
		pods := b.api.Kind("pods")
		for i := range 90 {
			pods.DeleteDropWatch(pod("demo", fmt.Sprintf("web-%d", i), "web", i))
		}
		pods.ResetWatch()
		settled(20 * time.Second)
		if b.expired.Load() {
			t.Fatal("the informer did not list again")
		}
		on := b.shards(t, webJob, 2)
		s := b.statusOf(b.server)
		// The first ones to disappear may be too few to be suspicious.
		if len(on) < 70 || len(s.Workloads[0].Shards[1].Held) != 1 || !strings.Contains(s.table(time.Now()), "SuspiciousShrink") {
			t.Errorf("%d targets, %+v", len(on), s.Workloads[0].Shards)
		}
		if got := b.sent(); len(got) != 1 || !strings.Contains(got[0], "Warning SuspiciousShrink lost many targets") || !strings.Contains(got[0], webJob) {
			t.Errorf("Events %q", got)
		}
		settled(3 * time.Minute)
		if on := b.shards(t, webJob, 2); len(on) != 10 {
			t.Errorf("%d targets later", len(on))
		}
	})
}

// The number of shards changes for all lists at once. Shards that are kept scrape nothing.
func TestScale(t *testing.T) {
	inBubble(t, func(b *fixture) { b.addPods(60, "demo") }, func(t *testing.T, b *fixture) {
		for _, n := range []int{2, 4, 1} {
			b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "shards: 2", fmt.Sprintf("shards: %d", n), 1)))
			settled(20 * time.Second)
			if on := b.shards(t, webJob, n); len(on) != 60 {
				t.Errorf("%d shards: %d targets", n, len(on))
			}
			jobs, code := b.list(t, fmt.Sprintf("prometheus-main-shard-%d", n))
			if code != http.StatusOK || len(jobs) != 1 || len(jobs[webJob]) != 0 {
				t.Errorf("%d shards: the next one gets %d %v", n, code, jobs)
			}
		}
	})
}

// A job whose targets cannot be read when the number of shards changes keeps its last targets, each on its current
// shard.
func TestScaleWithUnknownJob(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(60, "demo")
		b.api.Deny("nodes", true)
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		for i, n := range []int{4, 1, 3} {
			b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText+fmt.Sprintf("\n  attachMetadata: {node: true}\n  jobLabel: l%d", i)))
			b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "shards: 2", fmt.Sprintf("shards: %d", n), 1)))
			settled(20 * time.Second)
			if s := b.statusOf(b.server); len(s.Workloads[0].Waiting[webJob]) == 0 {
				t.Errorf("the job is known: %+v", s)
			}
			if on := b.shards(t, webJob, n); len(on) != 60 {
				t.Errorf("%d shards: %d targets", n, len(on))
			}
		}
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText))
		settled(20 * time.Second)
		want := b.shards(t, webJob, 3)
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, monitorText+"\n  attachMetadata: {node: true}"))
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "shards: 2", "shards: 5", 1)))
		settled(20 * time.Second)
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, "shards: 2", "shards: 3", 1)))
		settled(20 * time.Second)
		if diff := cmp.Diff(want, b.shards(t, webJob, 3)); diff != "" {
			t.Errorf("not where their hash says: %s", diff)
		}
	})
}

// Without the annotation a workload has no lists, and its pods get the reason.
func TestOptIn(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(10, "demo")
		b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, ": central", ": own", 1)))
	}, func(t *testing.T, b *fixture) {
		for _, mode := range []string{"own", "both", "nonsense", "central", "own", "central", "own", "nonsense"} {
			b.objects.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, strings.Replace(prometheusText, ": central", ": "+mode, 1)))
			settled(20 * time.Second)
			_, code := b.list(t, "prometheus-main")
			s := b.statusOf(b.server)
			want := http.StatusOK
			if len(s.Workloads) == 0 {
				want = http.StatusForbidden
			}
			if central := mode == "both" || mode == "central"; code != want || central && code != http.StatusOK || mode == "own" && code != http.StatusForbidden {
				t.Errorf("%s: %d, %+v", mode, code, s)
			}
			if !b.Ready() {
				t.Errorf("%s: not ready", mode)
			}
			if want == http.StatusOK && len(b.shards(t, webJob, 2)) != 10 {
				t.Errorf("%s: not all targets", mode)
			}
		}
		if s := b.statusOf(b.server); len(s.Workloads) != 0 || !strings.Contains(s.table(time.Now()), "firekeeper.dev/target-discovery") {
			t.Errorf("an invalid annotation without earlier lists: %+v", s)
		}
	})
}

// A replica that starts is not ready while the permissions of a workload are reviewed for the first time: until then it
// has no lists. If they cannot be reviewed, it is ready, because other workloads need it.
func TestReadyAfterReviews(t *testing.T) {
	for _, fails := range []bool{false, true} {
		inBubble(t, func(b *fixture) {
			b.addPods(20, "demo")
			b.reviews.fails.Store(fails)
			b.reviews.takes.Store(int64(10 * time.Second))
		}, func(t *testing.T, b *fixture) {
			settled(9 * time.Second)
			if b.Ready() {
				t.Error("ready during the review")
			}
			b.reviews.takes.Store(0) // for the next ones
			settled(time.Minute)
			if !b.Ready() {
				t.Error("not ready after the review")
			}
			if _, code := b.list(t, "prometheus-main"); (code == http.StatusOK) == fails {
				t.Errorf("the list is answered with %d", code)
			}
		})
	}
}

// The pages show the lists and their pods, to callers that the guard accepts.
func TestPages(t *testing.T) {
	inBubble(t, func(b *fixture) { b.addPods(10, "demo") }, func(t *testing.T, b *fixture) {
		settled(5 * time.Second)
		mux := http.NewServeMux()
		b.Register(mux, b.server, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "" {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				h.ServeHTTP(w, r)
			})
		})
		for path, has := range map[string]string{"/": "Prometheus monitoring/main  0", "/status.json": `"kind":"Prometheus","namespace":"monitoring","name":"main"`} {
			for _, token := range []string{"", "Bearer x"} {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodGet, path, nil)
				r.Header.Set("Authorization", token)
				mux.ServeHTTP(w, r)
				if ok := w.Code == http.StatusOK && strings.Contains(w.Body.String(), has); ok != (token != "") {
					t.Errorf("%s with token %q: %d %s", path, token, w.Code, w.Body)
				}
			}
		}
	})
}
