package central

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

const everywhereText = `
metadata: {namespace: monitoring, name: everywhere}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {any: true}
  podMetricsEndpoints: [{port: http, relabelings: [{action: labelmap, regex: "__meta_kubernetes_pod_annotation_(note)"}]}]`

const everywhereJob = "podMonitor/monitoring/everywhere/0"

// addFat adds pods with an annotation of random text.
func (b *fixture) addFat(namespace string, n, size int) {
	r := rand.NewChaCha8([32]byte{})
	for i := range n {
		text := make([]byte, size*3/4)
		_, _ = r.Read(text) // never fails
		p := pod(namespace, fmt.Sprintf("fat-%d", i), "web", 1000+i)
		p.Annotations = map[string]string{"note": base64.StdEncoding.EncodeToString(text)}
		b.api.Kind("pods").Add(p)
	}
}

// metrics returns the metrics of the Runner.
func (b *fixture) metrics(t testing.TB) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(b.Runner)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// A job that is too expensive to evaluate is on no shard, which the status page, the log, a metric and an Event report.
// Other jobs of its workload are not affected, nor are they by an object with too many jobs.
func TestExpensiveJob(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(40, "demo")
		long := "(abcdefghij|klmnopqrst){900}"
		expensive := strings.Replace(monitorText, "name: web", "name: expensive", 1) + "\n  podTargetLabels: [app]"
		expensive = strings.Replace(expensive, "port: http", "port: http, relabelings: ["+strings.TrimSuffix(strings.Repeat("{action: drop, sourceLabels: [__meta_kubernetes_pod_annotation_note], regex: '"+long+"'}, ", 20), ", ")+"]", 1)
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, expensive))
		b.addFat("demo", 10, 100_000)
		huge := "metadata: {namespace: monitoring, name: huge}\nspec: {kubernetesSDConfigs: [{role: Pod}], relabelings: [{targetLabel: a, replacement: " + strings.Repeat("x", 600<<10) + "}]}"
		b.objects.set(catalog.ScrapeConfig.GroupVersionResource(), read[v1alpha1.ScrapeConfig](t, huge))
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		if on := b.shards(t, webJob, 2); len(on) != 50 {
			t.Errorf("%d targets of the other job", len(on))
		}
		s := b.statusOf(b.server).Workloads[0]
		if n := s.Unknown["podMonitor/demo/expensive/0"]; n != 10 || len(s.Unknown) != 1 {
			t.Errorf("too expensive: %v", s.Unknown)
		}
		if len(s.Unread) != 1 || !strings.Contains(b.statusOf(b.server).table(time.Now()), "the jobs of ScrapeConfig monitoring/huge cannot be evaluated") {
			t.Errorf("not read: %v", s.Unread)
		}
		text := b.metrics(t)
		for _, want := range []string{`prometheus_operator_discovery_left_out_targets{reason="cost"} 10`, "prometheus_operator_discovery_unread_objects 1"} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		if got := b.sent(); len(got) != 1 || !strings.Contains(got[0], "TargetsLeftOut") || !strings.Contains(got[0], "podMonitor/demo/expensive/0") || strings.Contains(got[0], webJob) {
			t.Errorf("Events %q", got)
		}
	})
}

// A tenant with monitors of the longest names does not make the Event about them too long for the API server.
func TestEventAboutLongNames(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(2, "demo")
		b.addFat("demo", 2, 100_000)
		expensive := strings.Replace(monitorText, "port: http", "port: http, relabelings: ["+strings.TrimSuffix(strings.Repeat(
			"{action: drop, sourceLabels: [__meta_kubernetes_pod_annotation_note], regex: '"+"(abcdefghij|klmnopqrst){900}"+"'}, ", 20), ", ")+"]", 1)
		for i := range mostNamed {
			name := fmt.Sprintf("name: a%d%s", i, strings.Repeat("x", 250))
			b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(expensive, "name: web", name, 1)))
		}
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		if got := b.sent(); len(got) != 1 || len(got[0]) > 1024+len("Warning TargetsLeftOut ") || !strings.Contains(got[0], "podMonitor/demo/a0") {
			t.Errorf("Events %q", got)
		}
	})
}

// A tenant whose pods have more labels than a list may have loses some of its own targets, which the status reports. A
// monitor of all namespaces keeps the targets of all others, on each shard, and so do other jobs.
func TestHostilePods(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.addPods(40, "demo")
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, everywhereText))
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.ReplaceAll(everywhereText, "everywhere", "second")))
	}, func(t *testing.T, b *fixture) {
		settled(5 * time.Second)
		b.addFat("other", 200, 100_000)
		check := func(when string) {
			t.Helper()
			for _, job := range []string{everywhereJob, "podMonitor/monitoring/second/0"} {
				innocent, fat := 0, 0
				for address := range b.shards(t, job, 2) {
					if strings.HasPrefix(address, "10.0.0.") {
						innocent++
					} else {
						fat++
					}
				}
				if innocent != 40 || fat == 0 || fat > 100 {
					t.Errorf("%s, %s: %d targets of others, %d of the tenant", when, job, innocent, fat)
				}
			}
			s := b.statusOf(b.server)
			for _, list := range s.Workloads[0].Shards {
				if list.Bytes > 3<<20 || len(list.TooLarge) > 0 {
					t.Errorf("%s: a list of %d bytes, without %v", when, list.Bytes, list.TooLarge)
				}
			}
			left := s.Workloads[0].Beyond[everywhereJob]
			if len(left) != 1 || left["other"].Targets < 100 || !strings.Contains(s.table(time.Now()), "targets of other with") {
				t.Errorf("%s: %v", when, s.Workloads[0].Beyond)
			}
		}
		settled(10 * time.Second)
		check("at first")
		if got := b.sent(); len(got) != 1 || !strings.Contains(got[0], "Warning TargetsLeftOut some targets are in no list") || !strings.Contains(got[0], "podMonitor/monitoring/") { // the first of two jobs
			t.Errorf("Events %q", got)
		}
		if text := b.metrics(t); !strings.Contains(text, `discovery_left_out_targets{reason="share"} `) || strings.Contains(text, `{reason="share"} 0`) {
			t.Errorf("metrics:\n%s", text)
		}
		settled(5 * time.Minute)
		check("later")
		b.addPods(60, "demo")
		settled(20 * time.Second)
		on := 0
		for address := range b.shards(t, everywhereJob, 2) {
			if strings.HasPrefix(address, "10.0.0.") {
				on++
			}
		}
		if on != 60 {
			t.Errorf("%d targets of others after some were added", on)
		}
		for i := range 200 {
			b.api.Kind("pods").Delete(pod("other", fmt.Sprintf("fat-%d", i), "web", 1000+i))
		}
		settled(10 * time.Minute)
		if s := b.statusOf(b.server); s.Workloads[0].Beyond != nil {
			t.Errorf("after the pods are gone: %v", s.Workloads[0].Beyond)
		}
	})
}

// A pod with more targets than one object may have gets none, which the status page, a metric and the log report. The
// other targets of the job are listed.
func TestHostileObject(t *testing.T) {
	large := pod("demo", "large", "web", 1000)
	for range 80_000 {
		large.Spec.Containers[0].Ports = append(large.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 80})
	}
	inBubble(t, func(b *fixture) {
		b.addPods(40, "demo")
		b.api.Kind("pods").Add(large)
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		if on := b.shards(t, webJob, 2); len(on) != 40 {
			t.Errorf("%d targets", len(on))
		}
		if text := b.statusOf(b.server).table(time.Now()); !strings.Contains(text, "too many labels: pods demo/large\n") {
			t.Errorf("status:\n%s", text)
		}
		if text := b.metrics(t); !strings.Contains(text, "prometheus_operator_discovery_too_large_objects 1\n") {
			t.Errorf("metrics:\n%s", text)
		}
		b.api.Kind("pods").Delete(large)
		settled(20 * time.Second)
		if s := b.statusOf(b.server); len(s.TooLarge) > 0 || len(b.shards(t, webJob, 2)) != 40 {
			t.Errorf("without it: %v", s.TooLarge)
		}
	})
}

// Jobs of a tenant that would use all memory for targets get only the share of the tenant.
func TestHostileJobs(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.memory.Most = 4 << 20
		b.server.Feed.Lead(0)
		for i := range 20 {
			b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.ReplaceAll(
				strings.ReplaceAll(everywhereText, "namespace: monitoring, name: everywhere", fmt.Sprintf("namespace: other, name: a%d", i)), "any: true", "matchNames: [other]")))
		}
		b.addFat("other", 20, 50_000)
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		if got := b.sent(); len(got) > 0 {
			t.Errorf("a replica that stands by sends Events: %q", got)
		}
		b.server.Feed.Lead(4)
		if used := b.memory.Used(); used > 4<<20 || used < 2<<20 {
			t.Errorf("%d bytes", used)
		}
		b.addPods(100, "demo")
		settled(20 * time.Second)
		if on := b.shards(t, webJob, 2); len(on) != 120 {
			t.Errorf("%d targets", len(on))
		}
		s := b.statusOf(b.server)
		if len(s.Workloads[0].Beyond) == 0 || s.Workloads[0].Beyond[webJob] != nil {
			t.Errorf("left out: %v", s.Workloads[0].Beyond)
		}
		for i := range 20 {
			b.objects.remove(catalog.PodMonitor.GroupVersionResource(), fmt.Sprintf("a%d", i))
		}
		settled(20 * time.Second)
		if used := b.memory.Used(); used > 1<<20 {
			t.Errorf("%d bytes after the jobs are gone", used)
		}
	})
}

// Monitors with many endpoints and many pods exceed the memory for pairs of jobs and targets. Jobs of their namespace
// are no longer updated and keep their last targets. Other namespaces are not affected, initially and later.
func TestHostilePairs(t *testing.T) {
	inBubble(t, func(b *fixture) {
		b.source.Crowd = targetset.NewBudget(1 << 20)
		b.addPods(40, "demo")
		for i := range 200 {
			b.api.Kind("pods").Add(pod("other", fmt.Sprintf("p%d", i), "web", 1000+i))
		}
	}, func(t *testing.T, b *fixture) {
		settled(20 * time.Second)
		many := strings.ReplaceAll(everywhereText, "namespace: monitoring, name: everywhere", "namespace: other, name: many")
		many = strings.Replace(strings.Replace(many, "any: true", "matchNames: [other]", 1), "[{port: http,", "["+strings.Repeat("{port: http, path: /a}, ", 40)+"{port: http,", 1)
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, many))
		settled(20 * time.Second)
		check := func(when string, innocent int) (waiting int) {
			t.Helper()
			if on := b.shards(t, webJob, 2); len(on) != innocent {
				t.Errorf("%s: %d targets of the other job", when, len(on))
			}
			s := b.statusOf(b.server)
			if _, has := s.Workloads[0].Waiting[webJob]; has {
				t.Errorf("%s: the other job is not followed", when)
			}
			return len(s.Workloads[0].Waiting)
		}
		first := check("at first", 240)
		if first == 0 || !strings.Contains(b.statusOf(b.server).table(time.Now()), "more than their share of memory") {
			t.Errorf("%d jobs have no room:\n%s", first, b.statusOf(b.server).table(time.Now()))
		}
		if got := b.sent(); len(got) != 1 || !strings.Contains(got[0], "TargetsLeftOut") || !strings.Contains(got[0], "podMonitor/other/many/") || strings.Contains(got[0], webJob) {
			t.Errorf("Events %q", got)
		}
		b.addPods(400, "demo")
		settled(time.Minute)
		if later := check("with more targets of its own", 600); later <= first {
			t.Errorf("%d jobs have no room, and %d before", later, first)
		}
		b.objects.remove(catalog.PodMonitor.GroupVersionResource(), "many")
		few := strings.ReplaceAll(everywhereText, "namespace: monitoring, name: everywhere", "namespace: other, name: few")
		b.objects.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(few, "any: true", "matchNames: [other]", 1)))
		settled(3 * time.Minute)
		if n := check("in the end", 600); n != 0 || len(b.shards(t, "podMonitor/other/few/0", 2)) != 200 {
			t.Errorf("in the end, %d jobs have no room:\n%s", n, b.statusOf(b.server).table(time.Now()))
		}
	})
}

// A workload with jobs that take more than its share of the memory is followed in its last state, and others, including
// new ones, are read as usual. One for which there is no room at first has no lists.
func TestHostileWorkload(t *testing.T) {
	monitor := func(ns, name string) *v1.PodMonitor {
		return read[v1.PodMonitor](t, strings.NewReplacer("namespace: demo, name: web", "namespace: "+ns+", name: "+name, "[demo, other]", "[demo]").Replace(monitorText))
	}
	owner := func(ns, name string) *v1.Prometheus {
		return read[v1.Prometheus](t, strings.NewReplacer("namespace: monitoring, name: main", "namespace: "+ns+", name: "+name, "podMonitorNamespaceSelector: {}, scrapeConfigSelector: {}, ", "").Replace(prometheusText))
	}
	monitors, workloads := catalog.PodMonitor.GroupVersionResource(), catalog.Prometheus.GroupVersionResource()
	inBubble(t, func(b *fixture) {
		b.addPods(10, "demo")
		b.objects.remove(monitors, "web")
		b.objects.remove(workloads, "main")
		b.source.Fair, b.source.Most = true, 400_000
		for i := range 100 {
			b.objects.set(monitors, monitor("other", fmt.Sprintf("heavy%d", i)))
		}
		b.objects.set(monitors, monitor("monitoring", "light"))
		b.objects.set(workloads, owner("other", "hog"))
		b.objects.set(workloads, owner("monitoring", "main"))
	}, func(t *testing.T, b *fixture) {
		jobs := func(ns, name string) (n int, problem string) {
			for _, w := range b.statusOf(b.server).Workloads {
				if w.Namespace == ns && w.Name == name && len(w.Shards) > 0 {
					n = w.Shards[len(w.Shards)-1].Jobs
				}
				if w.Namespace == ns && w.Name == name {
					problem = w.Problem
				}
			}
			return n, problem
		}
		settled(time.Minute)
		if n, problem := jobs("monitoring", "main"); n != 1 || problem != "" {
			t.Fatalf("%d jobs, %s", n, problem)
		}
		if n, problem := jobs("other", "hog"); n != 0 || !strings.Contains(problem, "share of the memory") {
			t.Errorf("the large one has %d jobs, %q", n, problem)
		}
		b.objects.set(monitors, monitor("monitoring", "another"))
		b.objects.set(workloads, owner("monitoring", "second"))
		settled(time.Minute)
		for _, name := range []string{"main", "second"} {
			if n, problem := jobs("monitoring", name); n != 2 || problem != "" {
				t.Errorf("%s: %d jobs, %s", name, n, problem)
			}
		}
		// It is smaller later, and grows again.
		for i := range 95 {
			b.objects.remove(monitors, fmt.Sprintf("heavy%d", i))
		}
		settled(12 * time.Minute)
		if n, problem := jobs("other", "hog"); n != 5 || problem != "" {
			t.Errorf("the smaller one has %d jobs, %q", n, problem)
		}
		b.source.Most = 1000
		b.objects.set(monitors, monitor("other", "more"))
		settled(time.Minute)
		if n, problem := jobs("other", "hog"); n != 5 || !strings.Contains(problem, "share of the memory") {
			t.Errorf("without room it has %d jobs, %q", n, problem)
		}
		b.addPods(20, "demo")
		settled(time.Minute)
		for _, w := range b.statusOf(b.server).Workloads {
			n := 0
			for _, list := range w.Shards {
				n += list.Targets
			}
			if w.Name == "hog" && n != 100 {
				t.Errorf("its targets are not followed: %+v", w)
			}
		}
	})
}
