package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// fake has responses for Prometheus demo/main and ServiceMonitor demo/web and records the last
// request.
type fake struct {
	mu     sync.Mutex
	asked  string
	rights access.Rights
	err    error // of all responses
	panics bool

	subscribed chan func(readers.Change) // of each stream
}

func newFake() *fake { return &fake{subscribed: make(chan func(readers.Change), 1000)} }

func (k *fake) note(r access.Rights, format string, args ...any) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked, k.rights = fmt.Sprintf(format, args...), r
	if k.panics {
		panic("assignment to entry in nil map")
	}
	return k.err
}

func (k *fake) last() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked
}

var (
	mainRef   = catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "main"}
	webRef    = catalog.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: "web"}
	sometime  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	someCount = preview.Counts{Kept: 3, Dropped: map[string]int{"spec.selector": 6}}
	oneTarget = preview.Target{Workload: mainRef, Object: webRef, Target: targets.Target{
		ID: "0a1b", Job: "serviceMonitor/demo/web/0", State: targets.Dropped, URL: "http://10.0.0.7:8080/metrics", Shards: []int{},
		Source: targets.Source{Kind: "Pod", Namespace: "demo", Name: "web-0", Pod: "web-0"}, Discovered: map[string]string{"__address__": "10.0.0.7:8080"},
		Drop: &targets.Drop{Step: 2, Origin: "spec.selector.matchLabels[\"app\"]", Rule: targets.Rule{Action: "keep"}, Value: "db", Message: "app is db"},
	}}
)

func (k *fake) Overview(_ context.Context, r access.Rights, q insight.OverviewQuery) (*insight.Overview, error) {
	is := insight.Problem{Urgency: insight.Broken, Cause: insight.RejectedObject, Title: "rejected", Message: "spec.endpoints[0].interval: no duration"}
	return &insight.Overview{
		Attention:      []insight.Attention{{Problem: is, Workload: mainRef, Object: webRef}},
		Groups:         []insight.AttentionGroup{{Problem: is, Total: 1, Of: []insight.Place{{Workload: mainRef, Object: webRef}}}},
		AttentionTotal: 1, Workloads: []insight.WorkloadRow{{Ref: mainRef, Pods: 2, Ready: 1, Targets: &someCount, ConfigSince: sometime}}, Part: insight.Part{Total: 1},
	}, k.note(r, "overview %+v", q)
}

func (k *fake) Workload(_ context.Context, r access.Rights, w insight.Object) (*insight.Workload, error) {
	out := &insight.Workload{Shards: 2, PerShard: []int{2, 1}, Targets: &someCount}
	out.Workload = mainRef
	out.Conditions = []status.Condition{{Type: "Available", Status: "True", Words: "available", Since: sometime}}
	out.Objects = []status.Objects{{Kind: "ServiceMonitor", Groups: []status.Group{{State: status.Accepted, Names: []string{"demo/web"}}}}}
	return out, k.note(r, "workload %s", w.Ref())
}

func (k *fake) Sources(_ context.Context, r access.Rights, w insight.Object, q insight.SourceQuery) (*insight.Sources, error) {
	return &insight.Sources{
		Workload: mainRef, Counts: map[status.State]int{status.Accepted: 1}, Part: insight.Part{Total: 1, Continue: "next"},
		Items: []insight.Source{{Ref: webRef, State: status.Accepted, Jobs: []string{"serviceMonitor/demo/web/0"}, Targets: &someCount}},
	}, k.note(r, "sources %s %+v", w.Ref(), q)
}

func (k *fake) Rollout(_ context.Context, r access.Rights, w insight.Object, p insight.Page) (*insight.Rollout, error) {
	n := 2
	return &insight.Rollout{
		Workload: mainRef, Pods: []insight.RolloutPod{{Pod: status.Pod{Name: "prometheus-main-0", Ready: true, Runs: "yes"}, Node: "a", Targets: &n}}, Part: insight.Part{Total: 1},
	}, k.note(r, "rollout %s %+v", w.Ref(), p)
}

func (k *fake) Config(_ context.Context, r access.Rights, w insight.Object, q insight.ConfigQuery) (*insight.Config, error) {
	return &insight.Config{
		Workload: mainRef, Part: insight.Part{Total: 1},
		Sections: []insight.ConfigSection{{Name: "scrape_configs/x", Object: webRef, Text: "job_name: x\n", Origins: map[int]string{1: "spec.endpoints[0]"}}},
	}, k.note(r, "config %s %+v", w.Ref(), q)
}

func (k *fake) Objects(_ context.Context, r access.Rights, q insight.ObjectQuery) (*insight.ObjectList, error) {
	return &insight.ObjectList{
		Kind: "ServiceMonitor", Counts: map[status.State]int{status.Rejected: 1}, Part: insight.Part{Total: 1},
		Items: []insight.ObjectRow{{Ref: webRef, State: status.Rejected, Message: "Prometheus demo/main: no duration", Accepted: 1, Rejected: 1}},
	}, k.note(r, "objects %s %s %s %+v", q.Row, q.Namespace, q.State, q.Page)
}

func (k *fake) Manifest(_ context.Context, o insight.Object, masked bool) (string, error) {
	return "", k.note(nil, "manifest %s %t", o.Ref(), masked)
}

func (k *fake) Scrapes(_ context.Context, r access.Rights, w insight.Object, _ []preview.Target) (*insight.Scrapes, error) {
	return &insight.Scrapes{}, k.note(r, "scrapes %s", w.Ref())
}

func (k *fake) Similar(_ context.Context, r access.Rights, o insight.Object) ([]catalog.Ref, error) {
	return nil, k.note(r, "similar %s", o.Ref())
}

func (k *fake) Explain(_ context.Context, r access.Rights, o insight.Object) (*explain.Report, error) {
	later := explain.Result{Workload: mainRef, Accepted: true, Reason: explain.Accepted}
	return &explain.Report{Object: o.Ref(), Workloads: []explain.Result{{
		Workload: mainRef, Reason: explain.Paused, Message: "paused", Otherwise: &later, Misses: []selection.Miss{{}},
	}}}, k.note(r, "explain %s %s", o.Ref(), o.Version)
}

func (k *fake) Targets(_ context.Context, r access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	of := q.Pod.String()
	if q.Of.Row != nil {
		of = q.Of.Ref().String()
	}
	return &insight.Targets{
		Items: []preview.Target{oneTarget}, Counts: someCount, Part: insight.Part{Total: 9, Continue: "next"}, AsOf: sometime, Synced: true,
		Jobs: []insight.JobCounts{{Workload: mainRef, Object: webRef, Job: "serviceMonitor/demo/web/0", Counts: someCount}},
	}, k.note(r, "targets %s %+v state=%s reason=%s job=%s shard=%d", of, q.Page, q.State, q.Reason, q.Job, q.Shard)
}

func (k *fake) Target(_ context.Context, r access.Rights, w insight.Object, job, id, source string) (*insight.Trace, error) {
	return &insight.Trace{
		Workload: mainRef, Object: webRef, Target: oneTarget,
		Steps: []insight.Step{{Origin: "spec.selector", Rule: "action: keep", Added: map[string]string{"a": "b"}, Drops: true}},
	}, k.note(r, "target %s %s %s in %q", w.Ref(), job, id, source)
}

func (k *fake) Preview(_ context.Context, r access.Rights, manifests []byte) (*preview.Report, error) {
	return &preview.Report{
		Items: []preview.Target{oneTarget}, Counts: someCount,
		Workloads: []preview.WorkloadResult{{Ref: mainRef, Objects: []preview.Object{{Ref: webRef, State: "used"}}}},
	}, k.note(r, "preview %s", manifests)
}

func (k *fake) Reshard(_ context.Context, r access.Rights, w insight.Object, shards int) (*preview.Resharding, error) {
	of := preview.Reshaped{Moved: preview.Amount{Targets: 1, Series: 500}, Before: []preview.Amount{{}}, After: []preview.Amount{{}, {}}, FullestBefore: 1, FullestAfter: 1.1}
	return &preview.Resharding{Workload: mainRef, From: 1, To: 2, Claimed: 1, Everywhere: 1, Lost: 1, Unknown: 1, Hash: of, Weighted: of}, k.note(r, "reshard %s %d", w.Ref(), shards)
}

func (k *fake) Routes(_ context.Context, r access.Rights, am types.NamespacedName, labels []string) (*insight.Routes, error) {
	return &insight.Routes{
		Alertmanager: catalog.Ref{Kind: "Alertmanager", Namespace: am.Namespace, Name: am.Name}, Tried: len(labels) > 0,
		Report: routing.Report{At: sometime, Route: routing.Step{Receiver: "null", Routes: []routing.Step{{Receiver: "team", Matched: true}}}},
	}, k.note(r, "routes %s %q", am, labels)
}

func (k *fake) Changes(ctx context.Context, each func(readers.Change)) error {
	k.subscribed <- each
	<-ctx.Done()
	return ctx.Err()
}

// serve starts the API with fixed workloads and responses.
func serve(t *testing.T, h *Handler, k insight.Answers) *httptest.Server {
	t.Helper()
	if k != nil {
		h.Answer(k)
	}
	h.Add(catalog.Prometheus, mainOnly())
	mux := http.NewServeMux()
	h.Register(mux)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

var errGone = apierrors.NewNotFound(resource(catalog.ServiceMonitor), "web")
