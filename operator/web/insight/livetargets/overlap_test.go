package livetargets

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// A URL that two objects scrape is an overlap of the pod, and of both objects. Targets with other
// parameters are none, although parameters are hidden.
func TestOverlaps(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		for name, params := range map[string]string{"twin": "s3cret", "other": "an0ther"} {
			text := strings.Replace(monitorText, "name: web", "name: "+name, 1)
			b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(text, "s3cret", params, 1)))
		}
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		byPod := insight.TargetQuery{Page: insight.Page{Limit: 10}, Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
		got := b.request(t, everything{}, byPod).Overlaps
		if len(got) != 1 || got[0].Jobs != 2 || fmt.Sprint(got[0].Objects) != "[PodMonitor demo/twin PodMonitor demo/web]" || strings.Contains(got[0].URL, "s3cret") {
			t.Errorf("of the pod: %+v", got)
		}
		b.Counts(main) // starts the comparison
		settled(aMinute)
		if got := fmt.Sprint(b.Counts(main).Overlaps); got != "map[PodMonitor demo/twin:true PodMonitor demo/web:true]" {
			t.Errorf("of the workload: %s", got)
		}
	})
}

// A job that finds a pod several times, such as behind two Services, is one job that scrapes its URL.
func TestOverlapsCountJobs(t *testing.T) {
	one, two := openJob{job: &job{object: preview.Object{Ref: web}}, of: main}, openJob{job: &job{object: preview.Object{Ref: main}}, of: main}
	var twice overlaps
	for _, j := range []openJob{one, one, two, two, two} {
		twice.add(j, "http://10.0.0.1/", "http://10.0.0.1/")
	}
	for range 3 {
		twice.add(one, "http://10.0.0.2/", "http://10.0.0.2/")
	}
	if got := twice.list(); len(got) != 1 || got[0].Jobs != 2 || got[0].URL != "http://10.0.0.1/" || len(got[0].Objects) != 2 {
		t.Errorf("%+v", got)
	}
}

// A panic while URLs are compared ends neither the process nor later requests, and is logged.
func TestOverlapsPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		var log bytes.Buffer
		b.Log = slog.New(slog.NewTextHandler(&log, nil))
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, everything{}, all(ofMain))
		settled(aMinute)
		w := b.of(main)
		one := w.shown.Load().jobs[0]
		w.overlaps([]shownJob{one, {nil, one.set}}, 1) // a job that is nil scrapes the same URL
		settled(aMinute)
		if got := w.compared.Load(); got == nil || got.objects != nil || !strings.Contains(log.String(), "Prometheus monitoring/main") || !strings.Contains(log.String(), "overlap.go") {
			t.Errorf("%+v\n%s", got, &log)
		}
	})
}

// The targets of other Services are left out without the name of a label that their selector has.
func TestSkip(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("demo", "db-0", "db", 2))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		for skip, want := range map[string]string{"": "2 of 2", "spec.selector": "1 of 1", "spec.podMetricsEndpoints": "2 of 2"} {
			q := all(ofMain)
			q.Skip = skip
			out := b.request(t, only{"list pods in demo", "get podmonitors in demo"}, q)
			if got := fmt.Sprintf("%d of %d", len(out.Items), out.Total); got != want {
				t.Errorf("without %q: %s", skip, got)
			}
		}
		for _, key := range []string{`"`, `"a`, `"app`, `"app"`, `"app"]`, `"app\`, `"none`} {
			q := all(ofMain)
			q.Skip = "spec.selector.matchLabels[" + key
			if out := b.request(t, only{"list pods in demo"}, q); len(out.Items) > 0 || out.Total > 0 {
				t.Errorf("label %s can be guessed: %+v", key, out)
			}
		}
	})
}
