package page_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/page"
)

// changing modifies the responses of a fake.
type changing struct {
	*fake
	overview func(*insight.Overview)
	workload func(*insight.Workload)
	rollout  func(*insight.Rollout)
	explain  func(*explain.Report)
	targets  func(*insight.Targets)
}

// edited returns a response after a change, if there is one.
func edited[T any](out *T, change func(*T)) *T {
	if change != nil {
		change(out)
	}
	return out
}

func (c changing) Overview(ctx context.Context, r access.Rights, q insight.OverviewQuery) (*insight.Overview, error) {
	out, err := c.fake.Overview(ctx, r, q)
	return edited(out, c.overview), err
}

func (c changing) Workload(ctx context.Context, r access.Rights, o insight.Object) (*insight.Workload, error) {
	out, err := c.fake.Workload(ctx, r, o)
	return edited(out, c.workload), err
}

func (c changing) Rollout(ctx context.Context, r access.Rights, o insight.Object, p insight.Page) (*insight.Rollout, error) {
	out, err := c.fake.Rollout(ctx, r, o, p)
	return edited(out, c.rollout), err
}

func (c changing) Explain(ctx context.Context, r access.Rights, o insight.Object) (*explain.Report, error) {
	out, err := c.fake.Explain(ctx, r, o)
	return edited(out, c.explain), err
}

func (c changing) Targets(ctx context.Context, r access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	out, err := c.fake.Targets(ctx, r, q)
	return edited(out, c.targets), err
}

// text returns the visible text of a page, with single spaces.
func text(t *testing.T, body string) string {
	t.Helper()
	var b strings.Builder
	for n := range parsed(t, body).Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestTruth: a page shows the facts, and does not claim more than is known.
func TestTruth(t *testing.T) {
	const workload, object = "/prometheuses/monitoring/k8s", "/servicemonitors/demo/web"
	for name, tc := range map[string]struct {
		path     string
		n        int
		change   changing
		has, not []string
	}{
		"nothing that may be listed": {"/", 0, changing{overview: func(o *insight.Overview) {
			o.Unread = []string{"no permission to list prometheuses in all namespaces: those elsewhere are not shown"}
		}}, []string{"Could not be read:", "Nothing that is known needs attention", "Which workloads exist is not known"}, []string{"There is no Prometheus"}},
		"nothing at all":   {"/", 0, changing{}, []string{"Nothing needs attention.", "kubectl apply -f deploy/examples", "--controller-id"}, nil},
		"nothing filtered": {"/?q=x", 0, changing{}, []string{"Nothing that matches the filter needs attention."}, []string{"Nothing needs attention"}},
		"states of workloads": {"/", 0, changing{overview: func(o *insight.Overview) {
			for _, s := range []insight.Health{insight.Unmanaged, insight.PodsNotKnown, insight.Unreconciled} {
				o.Workloads = append(o.Workloads, insight.WorkloadRow{Ref: k8s, State: s, Message: "why " + string(s)})
			}
		}}, []string{"not managed : why not-managed", "pods not known : why pods-unknown", "not reconciled : why"}, []string{"needs attention :"}},
		"targets of those that have none": {"/", 0, changing{overview: func(o *insight.Overview) {
			o.Workloads = []insight.WorkloadRow{{Ref: k8s, State: insight.Good}}
		}}, []string{"not known"}, nil},
		"not reconciled": {"/", 0, changing{overview: func(o *insight.Overview) {
			o.Groups = []insight.AttentionGroup{{Problem: insight.Problem{Urgency: insight.Warning, Cause: insight.NotReconciled, Title: "not reconciled", Message: "quota"}, Total: 1, Of: []insight.Place{{Workload: k8s}}}}
		}}, []string{"warning not reconciled Prometheus monitoring/k8s quota"}, []string{"reconciliation"}},
		"a state and its page": {workload, 0, changing{workload: func(w *insight.Workload) { w.State = insight.PodsNotKnown }}, []string{"State pods not known"}, nil},
		"no events":            {workload + "?tab=events", 0, changing{}, []string{"None in the last hour"}, nil},
		"events that are not known": {workload + "?tab=events", 0, changing{workload: func(w *insight.Workload) { w.Unread = []string{"no permission to list events"} }},
			[]string{"Not known, see above."}, []string{"None in"}},
		"one shard": {workload + "?tab=shards", 0, changing{workload: func(w *insight.Workload) { w.Shards = 1 }}, []string{"There is one shard; spec.shards adds more."}, nil},
		"a shard that is gone": {workload + "?tab=pods", 4, changing{rollout: func(r *insight.Rollout) { r.Pods = r.Pods[3:]; r.Pods[0].Shard = -1 }},
			[]string{"removed", "not ready : container prometheus", "6d4cf56db6 outdated", "wants abcdef012345… , runs 0123456789ab… , loaded"}, []string{" -1 ", "prometheus-k8s-6d4"}},
		"pods without targets": {"/alertmanagers/monitoring/main?tab=pods", 4, changing{}, []string{"Started Node prometheus-k8s-0"}, []string{"Node Targets"}},
		"an invalid workload": {object, 1, changing{explain: func(r *explain.Report) {
			r.Workloads[0] = explain.Result{Workload: k8s, Reason: explain.WorkloadInvalid, Message: "spec.version: no"}
		}}, []string{"workload invalid", "Prometheus is invalid: spec.version: no"}, []string{"rejected"}},
		"what a selector requires": {object, 2, changing{explain: func(r *explain.Report) {
			r.Workloads[1].Misses = []selection.Miss{{Requirement: "team in (a)", Label: "team", Value: "b", Present: new(true)}}
		}}, []string{`it requires team in (a), but team is "b"`}, nil},
		"what is not known of labels": {object, 1, changing{explain: func(r *explain.Report) {
			r.Workloads[0] = explain.Result{Workload: k8s, Reason: explain.NotKnown, Misses: []selection.Miss{{Requirement: "team in (a)", Label: "team"}}}
		}}, []string{"it requires team in (a)"}, []string{"but there is no label"}},
		"workloads that are not known": {object, 0, changing{explain: func(r *explain.Report) { r.Findings = []string{"no permission to list prometheuses"} }},
			[]string{"No workload is known that can use a ServiceMonitor"}, nil},
		"when targets changed": {workload + "?tab=targets", 3, changing{}, []string{"Last change:"}, []string{"as of"}},
		"what drops targets":   {object, 8, changing{}, []string{"spec.endpoints[0].port : 2 targets", "which selectors do not select: 2"}, []string{"2 by"}},
		"jobs":                 {object, 1, changing{}, []string{"web-0/ 0 : 3 kept; 6 of others"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.change.fake = &fake{n: tc.n}
			srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return tc.change, nil }, Authorize: anything})
			resp, body := get(t, srv, tc.path)
			read := text(t, body)
			if resp.StatusCode != 200 {
				t.Error(resp.Status)
			}
			for _, has := range tc.has {
				if !strings.Contains(read, has) {
					t.Errorf("does not say %q:\n%s", has, read)
				}
			}
			for _, not := range tc.not {
				if strings.Contains(read, not) {
					t.Errorf("says %q:\n%s", not, read)
				}
			}
		})
	}
}

// TestNotWritten: a workload without a configuration has the rest of its page.
func TestNotWritten(t *testing.T) {
	gone := apierrors.NewConflict(schema.GroupResource{Resource: "prometheuses"}, "k8s", context.Canceled)
	gone.ErrStatus.Message = "the operator does not write a configuration for Prometheus a/b: spec.version: no"
	srv := serve(t, &fake{n: 3, tabErr: gone})
	for _, path := range []string{"/prometheuses/a/b?tab=config", "/alertmanagers/a/b?tab=routes", "/thanosrulers/a/b?tab=config"} {
		if resp, body := get(t, srv, path); resp.StatusCode != 200 || !strings.Contains(body, "None: the operator does not write a configuration") || !strings.Contains(body, `aria-label="Conditions"`) {
			t.Errorf("%s: %s\n%s", path, resp.Status, body)
		}
	}
	if resp, _ := get(t, srv, "/prometheuses/a/b.json?tab=config"); resp.StatusCode != 409 {
		t.Errorf("the twin: %s", resp.Status)
	}
}

// TestLinksOfAttention: a link leads to the page that shows the cause.
func TestLinksOfAttention(t *testing.T) {
	monitor := catalog.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: "web"}
	for cause, want := range map[insight.Cause]string{
		insight.NoTargets:      `href="./servicemonitors/demo/web?tab=targets">no targets<`,
		insight.RejectedObject: `href="./servicemonitors/demo/web">rejected<`,
	} {
		c := changing{fake: &fake{}, overview: func(o *insight.Overview) {
			o.Groups = []insight.AttentionGroup{{Problem: insight.Problem{Urgency: insight.Warning, Cause: cause, Title: strings.ReplaceAll(string(cause), "-", " ")}, Total: 1, Of: []insight.Place{{Workload: k8s, Object: monitor}}}}
		}}
		srv := serveWith(t, page.Options{Answers: func() (insight.Answers, error) { return c, nil }, Authorize: anything})
		if _, body := get(t, srv, "/"); !strings.Contains(body, want) {
			t.Errorf("%s: no %s\n%s", cause, want, body)
		}
	}
}
