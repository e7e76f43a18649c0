package livetargets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// The pages of a list contain all targets exactly once and in the same order for any filter and
// limit, and the total is known from the first page.
func TestPages(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		pods := b.api.Kind("pods")
		b.cluster.set(catalog.Probe.GroupVersionResource(), read[v1.Probe](t, "metadata: {namespace: demo, name: p}"))
		for i := range 60 {
			pods.Add(pod([]string{"demo", "other", "far"}[i%3], fmt.Sprintf("p-%02d", i), []string{"web", "db"}[i/3%2], i))
		}
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		for want, change := range map[int]func(*insight.TargetQuery){
			40: func(*insight.TargetQuery) {},
			20: func(q *insight.TargetQuery) { q.State = targets.Kept },
			-20: func(q *insight.TargetQuery) {
				q.State, q.Reason = targets.Dropped, "spec.selector"
			},
			0:  func(q *insight.TargetQuery) { q.State, q.Reason = targets.Dropped, "spec.podMetricsEndpoints" },
			-1: func(q *insight.TargetQuery) { q.Filter = "p-03" },
		} {
			want = max(want, -want)
			q := all(ofMain)
			change(&q)
			whole := b.request(t, everything{}, q)
			if len(whole.Items) != want || whole.Continue != "" || q.Filter == "" && whole.Total != want || !whole.Synced || whole.Counts.Kept != 20 {
				t.Errorf("%+v: %d items of %d, want %d, kept %d, synced %v, notes %q", q, len(whole.Items), whole.Total, want, whole.Counts.Kept, whole.Synced, whole.Notes)
			}
			var got []preview.Target
			q.Limit = 7
			for {
				part := b.request(t, everything{}, q)
				got = append(got, part.Items...)
				if q.Continue = part.Continue; q.Continue == "" {
					break
				}
				if len(part.Items) != 7 {
					t.Fatalf("%d items in a part", len(part.Items))
				}
			}
			if !slices.Equal(names(got), names(whole.Items)) {
				t.Errorf("in parts %v\nat once %v", names(got), names(whole.Items))
			}
		}
		on := 0
		for shard := range 2 {
			q := all(ofMain)
			q.Shard, q.State = shard, targets.Kept
			part := b.request(t, everything{}, q)
			if len(part.Items) != part.Total || part.Counts.Kept != part.Total || part.Counts.OtherShard != 20-part.Total {
				t.Errorf("shard %d: %d of %d, %+v", shard, len(part.Items), part.Total, part.Counts)
			}
			on += part.Total
		}
		if counts := b.Counts(main); on != 20 || counts.Kept != 20 || counts.PerShard[0]+counts.PerShard[1] != 20 || counts.Objects[web].Kept != 20 || !counts.Synced {
			t.Errorf("%d on shards, counts %+v", on, counts)
		}
		q := all(ofMain)
		q.Continue = "nonsense"
		if _, err := b.Targets(t.Context(), nil, q); !apierrors.IsBadRequest(err) {
			t.Error(err)
		}
		if got := b.request(t, nil, all(insight.Object{Row: catalog.Probe, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "p"}})); got.AsOf.Year() < 2000 {
			t.Errorf("nothing, as of %s", got.AsOf)
		}
		q = all(insight.Object{Row: catalog.Prometheus, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "none"}})
		if _, err := b.Targets(t.Context(), nil, q); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// Until the cluster has been read, responses report that there may be more targets.
func TestNotReadYet(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		until := make(chan struct{})
		b.api.Delay("pods", until)
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		if got := b.request(t, everything{}, all(ofMain)); got.Synced || len(got.Notes) == 0 || !strings.Contains(got.Notes[0], "not known yet") || got.Counts.Unknown != 1 {
			t.Errorf("%+v", got)
		}
		close(until)
		settled(time.Second)
		got := b.request(t, everything{}, all(ofMain))
		if !got.Synced || got.Counts.Kept != 1 || len(got.Notes) > 0 || got.AsOf.IsZero() {
			t.Errorf("%+v", got)
		}
		settled(aMinute)
		if again := b.request(t, everything{}, all(ofMain)); !cmp.Equal(got, again) {
			t.Errorf("the same is another answer: %s", cmp.Diff(got, again))
		}
		b.api.Kind("pods").Add(pod("demo", "web-1", "web", 2))
		settled(aMinute)
		if again := b.request(t, everything{}, all(ofMain)); !again.AsOf.After(got.AsOf) || again.Counts.Kept != 2 {
			t.Errorf("a change stays unnoticed: %+v", again)
		}
	})
}

// Missing permissions are reported with a hint and do not count as an empty result.
func TestDenied(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Deny("pods", true)
		b.request(t, everything{}, all(ofMain))
		settled(time.Second)
		got := b.request(t, everything{}, all(ofMain))
		want := "targets of role pod are not known: no permission to list pods in all namespaces; grant it"
		if !got.Synced || !slices.Equal(got.Notes, []string{want}) || got.Counts.Unknown != 1 || len(got.Items) != 1 || got.Items[0].State != targets.Unknown {
			t.Errorf("%+v", got)
		}
	})
}

// A caller sees targets in other namespaces only if permissions there allow it.
func TestRights(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("other", "web-1", "web", 2))
		b.api.Kind("pods").Add(pod("other", "db-1", "db", 3))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		for name, tc := range map[string]struct {
			of      insight.Object
			rights  access.Rights
			visible string
		}{
			"nobody":                            {ofMain, nil, ""},
			"pods in demo":                      {ofMain, only{"list pods in demo"}, "web-0"},
			"services in other":                 {ofMain, only{"list services in other"}, "web-1 db-1"},
			"the monitor is in the namespace":   {ofWeb, only{}, "web-0"},
			"a name that has a namespace in it": {ofMain, only{"list pods in dem", "get pods in demo"}, ""},
		} {
			got := b.request(t, tc.rights, all(tc.of))
			if n := len(strings.Fields(tc.visible)); len(got.Items) != n || got.Counts.Total() != n || got.Total != n || !strings.Contains(fmt.Sprint(got.Notes), notCounted) {
				t.Errorf("%s: %v, %+v", name, names(got.Items), got.Counts)
			}
			for _, target := range got.Items {
				text := fmt.Sprintf("%+v %+v", target.Target, target.Drop)
				if !slices.Contains(strings.Fields(tc.visible), target.Source.Name) || !strings.Contains(text, "10.0.") {
					t.Errorf("%s: %s", name, text)
				}
				if strings.Contains(text, "s3cret") {
					t.Errorf("a credential: %s", text)
				}
			}
			q := all(tc.of)
			q.Filter = "10.0.0.3" // of web-1
			if found := b.request(t, tc.rights, q).Items; len(found) > 0 != strings.Contains(tc.visible, "web-1") {
				t.Errorf("%s: the filter tells of %v", name, names(found))
			}
		}
	})
}

// Nothing runs before the first request, and everything stops ten minutes after the last one.
func TestOnDemand(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		if b.Counts(main) != nil || len(b.api.Calls()) > 0 {
			t.Error("something runs before a request")
		}
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		if n, _ := b.Groups.Size(); n != 1 || b.Counts(main).Kept != 1 {
			t.Errorf("%d informers, %+v", n, b.Counts(main))
		}
		for range 3 {
			settled(9 * time.Minute)
			b.request(t, nil, all(ofMain))
		}
		if calls := b.api.Calls()["/pods"]; calls > 8 { // watches are renewed every five to ten minutes
			t.Errorf("%d calls", calls)
		}
		settled(idle + 2*sweep)
		if n, groups := b.Groups.Size(); n != 0 || groups != 0 || b.Counts(main) != nil || len(b.workloads) > 0 || b.sweeper != nil {
			t.Errorf("%d informers and %d groups stay", n, groups)
		}
	})
}

// A changed monitor gets new targets, and sets of unchanged jobs are kept.
func TestChangedConfiguration(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("demo", "db-0", "db", 2))
		second := strings.NewReplacer("name: web", "name: second").Replace(monitorText)
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, second))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		before := map[string]*set{}
		for j, s := range b.workloads[main].sets {
			before[j.Name] = s
		}
		changed := strings.Replace(second, "app: web", "app: db", 1)
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, changed))
		settled(aMinute)
		q := all(ofMain)
		q.State = targets.Kept
		if got := names(b.request(t, everything{}, q).Items); !slices.Equal(got, []string{"demo/db-0 kept", "demo/web-0 kept"}) {
			t.Errorf("targets %v", got)
		}
		for j, s := range b.workloads[main].sets {
			if stays := j.Name == webJob; stays != (before[j.Name] == s) {
				t.Errorf("%s: stays %v", j.Name, !stays)
			}
		}
		if n := len(b.workloads[main].sets); n != 2 {
			t.Errorf("%d sets", n)
		}
	})
}

// A request for a pod lists all jobs that find it.
func TestPod(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("other", "web-0", "web", 2))
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.NewReplacer("name: web", "name: db", "app: web", "app: db").Replace(monitorText)))
		for _, name := range []string{"web-0", "lonely"} {
			p := &corev1.Pod{}
			p.Namespace, p.Name = "demo", name
			b.cluster.set(readers.Pods, p)
		}
		q := insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
		b.request(t, nil, q)
		settled(aMinute)
		got := b.request(t, nil, q)
		if !slices.Equal(names(got.Items), []string{"demo/web-0 dropped", "demo/web-0 kept"}) || got.Counts.Kept != 1 || got.Total != 2 || len(got.Jobs) != 2 || got.Jobs[1].Object != web || got.Items[1].URL == "" {
			t.Errorf("%v %+v", names(got.Items), got)
		}
		q.Limit = 1
		q.Continue = b.request(t, nil, q).Continue
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(monitorText, "name: web", "name: again", 1)))
		settled(aMinute) // the new job sorts before the others
		if next := b.request(t, nil, q); len(next.Items) != 1 || next.Items[0].State != targets.Kept || next.Continue != "" {
			t.Errorf("%+v", next)
		}
		q = insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "lonely"}, Shard: preview.AllShards}
		if got := b.request(t, nil, q); len(got.Items) > 0 || len(got.Notes) > 0 || !got.Synced || got.AsOf.IsZero() {
			t.Errorf("nothing scrapes it: %+v", got)
		}
		q.Pod.Name = "none"
		if _, err := b.Targets(t.Context(), nil, q); !apierrors.IsNotFound(err) {
			t.Errorf("a pod that does not exist: %v", err)
		}
		b.cluster.refuses = apierrors.NewServiceUnavailable("not in the caches")
		if got := b.request(t, nil, q); len(got.Items) > 0 || !strings.Contains(fmt.Sprint(got.Notes), "no job finds the pod demo/none; whether there is such a pod is not known: not in the caches") {
			t.Errorf("a pod that cannot be read: %+v", got)
		}
	})
}

// A trace has every relabel step and the other objects that scrape the same URL.
func TestTrace(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("demo", "db-0", "db", 2))
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(monitorText, "name: web", "name: again", 1)))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		q := all(ofMain)
		q.Job = webJob
		for _, target := range b.request(t, everything{}, q).Items {
			trace, err := b.Target(t.Context(), everything{}, ofMain, webJob, target.ID, target.Source.Path())
			if err != nil {
				t.Fatal(err)
			}
			if diff := !cmp.Equal(trace.Target, target); diff || trace.Object != web || !strings.Contains(trace.Manifest, "kind: PodMonitor") || strings.Contains(trace.Manifest, "status") {
				t.Errorf("%+v", trace)
			}
			last, text := trace.Steps[len(trace.Steps)-1], fmt.Sprintf("%+v", trace.Steps)
			switch target.State {
			case targets.Kept:
				if len(trace.Also) != 1 || trace.Also[0].Name != "again" || last.Drops || !strings.Contains(text, `spec.selector.matchLabels["app"]`) || !strings.Contains(text, "Added:map[container:c]") {
					t.Errorf("%+v\n%s", trace, text)
				}
			case targets.Dropped:
				if !last.Drops || last.Origin != target.Drop.Origin || len(trace.Steps) != target.Drop.Step || len(last.Removed) > 0 || trace.Also != nil {
					t.Errorf("%+v\n%s", trace, text)
				}
			}
			if all := fmt.Sprintf("%+v", trace.Target) + text; strings.Contains(all, "s3cret") {
				t.Error(all)
			}
			if _, err := b.Target(t.Context(), only{}, ofMain, webJob, target.ID, target.Source.Path()); !apierrors.IsNotFound(err) || strings.Contains(err.Error(), "10.0.") {
				t.Errorf("without permission: %v", err)
			}
		}
		if _, err := b.Target(t.Context(), everything{}, ofMain, webJob, "none", ""); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
		if _, err := b.Target(t.Context(), everything{}, ofMain, "none", "none", ""); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}
