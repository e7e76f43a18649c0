package page_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// fake has responses for a cluster with n objects of each kind.
type fake struct {
	n int
	// odd converts strings to hostile ones; nil keeps them.
	odd func(string) string
	// reading is true while the cluster has not been read completely.
	reading bool
	// err is the error of every response; tabErr that of the tables of a workload.
	err, tabErr error

	mu      sync.Mutex
	changes []chan readers.Change
	version int // in messages, for tests of changes
	queries []any
}

func (f *fake) s(s string) string {
	if f.odd != nil {
		return f.odd(s)
	}
	return s
}

// saw records a request.
func (f *fake) saw(q any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, q)
}

// rows calls each for the rows of a part.
func (f *fake) rows(p insight.Page, each func(i int)) insight.Part {
	from, _ := strconv.Atoi(p.Continue)
	to := min(f.n, from+p.Limit)
	for i := from; i < to; i++ {
		each(i)
	}
	out := insight.Part{Total: f.n}
	if to < f.n {
		out.Continue = strconv.Itoa(to)
	}
	return out
}

var k8s = catalog.Ref{Kind: "Prometheus", Namespace: "monitoring", Name: "k8s"}

func (f *fake) monitor(i int) catalog.Ref {
	return catalog.Ref{Kind: "ServiceMonitor", Namespace: "demo", Name: f.s(fmt.Sprintf("web-%d", i))}
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func (f *fake) Overview(_ context.Context, _ access.Rights, q insight.OverviewQuery) (*insight.Overview, error) {
	f.saw(q)
	p := q.Page
	out := &insight.Overview{AttentionTotal: f.n, AsOf: start, Levels: map[insight.Level]int{insight.LevelGood: f.n / 3, insight.LevelWarning: f.n / 3, insight.LevelOther: f.n - f.n/3*2}}
	out.Attention, out.Groups = f.problems(k8s)
	out.Part = f.rows(p, func(i int) {
		kinds := []string{"Prometheus", "PrometheusAgent", "Alertmanager", "ThanosRuler"}
		out.Workloads = append(out.Workloads, insight.WorkloadRow{
			Ref: catalog.Ref{Kind: kinds[i%4], Namespace: "monitoring", Name: f.s("k8s-" + strconv.Itoa(i))}, Version: "v3.5.1", State: []insight.Health{insight.Good, insight.NeedsAttention, insight.Paused}[i%3], Good: i%3 == 0,
			Pods: 2, Ready: 2 - i%2, Accepted: 1200, Rejected: i % 2, ConfigSince: start, Targets: &preview.Counts{Kept: 1234, Dropped: map[string]int{"spec.selector": 3}},
		})
	})
	for i := range min(f.n, 100) {
		out.Unselected = append(out.Unselected, f.monitor(i+1000))
	}
	out.UnselectedTotal = f.n
	out.Namespaces = f.namespaces("demo", "monitoring")
	return out, f.err
}

// namespaces are these and others, up to 100.
func (f *fake) namespaces(first ...string) []string {
	for i := 10; i < min(f.n, 100); i++ {
		first = append(first, fmt.Sprintf("team-%d-%s", i, strings.Repeat("x", 55)))
	}
	return first
}

// problems are some of n problems of a workload.
func (f *fake) problems(of catalog.Ref) (all []insight.Attention, groups []insight.AttentionGroup) {
	for i := range min(f.n, 50) {
		a := insight.Attention{Workload: of, Object: f.monitor(i), Problem: insight.Problem{
			Urgency: insight.Broken, Cause: insight.RejectedObject, Title: "rejected", Message: f.s("spec.endpoints[0].interval: \"10 s\" is not a duration"), Fix: f.s("write \"10s\""),
		}}
		if i%2 == 1 {
			a.Object = catalog.Ref{}
			a.Problem = insight.Problem{
				Urgency: insight.Warning, Cause: insight.PodsBehind, Title: "pods not ready", Message: f.s(fmt.Sprintf("pod prometheus-k8s-%d is not ready: 0 of 3 containers are", i)),
				Command: f.s("kubectl -n monitoring logs prometheus-k8s-1 --all-containers --tail=50"),
			}
		}
		all = append(all, a)
		g := insight.AttentionGroup{Problem: a.Problem, Total: 1, Of: []insight.Place{{Workload: of, Object: a.Object}}}
		for n := 1; i%4 == 0 && n < 20; n++ {
			g.Total += 2
			g.Of = append(g.Of, insight.Place{Workload: of, Object: f.monitor(n)})
		}
		groups = append(groups, g)
	}
	return all, groups
}

func (f *fake) Workload(_ context.Context, _ access.Rights, w insight.Object) (*insight.Workload, error) {
	if w.Name == "none" {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: w.Group, Resource: w.Resource}, w.Name)
	}
	f.mu.Lock()
	version := f.version
	f.mu.Unlock()
	out := &insight.Workload{State: insight.NeedsAttention, Version: "v3.5.1", Shards: 3, CanQuery: true, ConfigSince: start}
	if !f.reading {
		out.Targets = &preview.Counts{Kept: f.n, Dropped: map[string]int{"spec.selector": 3}}
	}
	out.Counts = map[string]map[status.State]int{"ServiceMonitor": {status.Accepted: f.n, status.Rejected: 1}}
	out.Attention, out.Groups = f.problems(w.Ref())
	out.AttentionTotal = f.n
	for i := range min(f.n, 50) {
		out.PerShard = append(out.PerShard, 100+i*7)
	}
	out.Report = status.Report{
		Workload: w.Ref(),
		Conditions: []status.Condition{
			{Type: "Reconciled", Status: "True", Words: "the operator has written everything", Since: start},
			{Type: "Available", Status: "Degraded", Words: "some pods are not ready", Message: f.s(fmt.Sprintf("pod prometheus-k8s-1: 2 of 3 containers are ready (%d)", version)), Since: start},
			{Type: "ConfigApplied", Status: "Unknown", Words: "the operator cannot ask the pods what they run", Since: start},
		},
		Pods: []status.Pod{{Name: "prometheus-k8s-0", Ready: true}, {Name: "prometheus-k8s-1"}},
	}
	out.UI = &insight.UI{Command: "kubectl -n monitoring port-forward pod/prometheus-k8s-0 9090", Local: "http://localhost:9090/"}
	out.Changes = []insight.Change{{At: start, What: "rejected", Object: f.monitor(3)}, {At: start, What: f.s("pod prometheus-k8s-0 started")}}
	for i := range min(f.n, 10) {
		out.Deliveries = append(out.Deliveries, f.delivery(i))
		out.Events = append(out.Events, status.Event{Last: start.Add(time.Duration(i) * time.Minute), Count: 2, Type: "Warning", Reason: "Rejected", About: "Prometheus k8s", Message: f.s("ServiceMonitor demo/web was rejected")})
	}
	return out, f.err
}

// delivery returns a change of two pods: delivered, on its way, superseded, or rejected.
func (f *fake) delivery(i int) insight.Delivery {
	at := func(ms int) time.Time { return start.Add(3120*time.Millisecond + time.Duration(ms)*time.Millisecond) }
	d := insight.Delivery{Change: timeline.Change{
		Objects: []catalog.Ref{f.monitor(i)}, Events: 1, Noticed: at(0), Started: at(2), Written: at(18), Hash: "abcdef0123456789", Pods: 2,
		Annotated: timeline.Stage{Pods: 2, At: at(25)}, Patches: 2,
	}}
	switch i % 4 {
	case 0:
		d.OnDisk, d.Loaded = timeline.Stage{Pods: 2, At: at(140)}, timeline.Stage{Pods: 2, At: at(170)}
	case 1:
		d.OnDisk, d.Loaded = timeline.Stage{Pods: 2, At: at(140)}, timeline.Stage{Pods: 1, At: at(1700)}
	case 2:
		d.Superseded, d.Objects, d.Hidden, d.Events = true, nil, 1, 7
	case 3:
		d.Objects, d.Events, d.Rejected, d.OnDisk = nil, 0, 1, timeline.Stage{Pods: 2, At: at(80_000)}
	}
	return d
}

func (f *fake) Sources(_ context.Context, _ access.Rights, w insight.Object, q insight.SourceQuery) (*insight.Sources, error) {
	f.saw(q)
	out := &insight.Sources{Workload: w.Ref(), Counts: map[status.State]int{status.Accepted: f.n, status.Rejected: 2, status.NotSelected: 1}}
	if f.n == 0 {
		out.Counts = nil
	}
	out.Part = f.rows(q.Page, func(i int) {
		s := insight.Source{Ref: f.monitor(i), State: status.Accepted, Jobs: []string{f.s("serviceMonitor/demo/web/0")}, Targets: &preview.Counts{Kept: 3, Dropped: map[string]int{"spec.selector": 6}}}
		switch i % 5 {
		case 1:
			s.State, s.Message, s.Jobs, s.Targets = status.NotSelected, f.s("spec.serviceMonitorSelector wants team=a, the object has no label team"), nil, nil
		case 3:
			s.State, s.Message, s.Jobs, s.Targets = status.Rejected, f.s("spec.endpoints[0].interval: \"10 s\" is not a duration"), nil, nil
		}
		out.Items = append(out.Items, s)
	})
	return out, f.tabErr
}

func (f *fake) Rollout(_ context.Context, _ access.Rights, w insight.Object, p insight.Page) (*insight.Rollout, error) {
	f.saw(p)
	out := &insight.Rollout{Workload: w.Ref()}
	out.Part = f.rows(p, func(i int) {
		n := 400 + i
		pod := insight.RolloutPod{Shard: i / 2, Replica: i % 2, Node: f.s("node-1"), Revision: "prometheus-k8s-6d4cf56db6", Since: start, Targets: &n}
		pod.Pod = status.Pod{Name: f.s("prometheus-k8s-" + strconv.Itoa(i)), Ready: i%4 != 3, Restarts: 1, Wanted: "abcdef0123456789", Runs: status.RunsIt}
		pod.Loaded, pod.LastReload = pod.Wanted, start
		if i%4 == 3 {
			pod.Loaded = "0123456789abcdef"
			pod.Message, pod.Runs, pod.Why, pod.Outdated, pod.Pod.Runs = f.s("container prometheus is waiting: CrashLoopBackOff"), status.RunsOther, f.s("reload failed"), true, status.RunsOther
		}
		out.Pods = append(out.Pods, pod)
	})
	return out, f.tabErr
}

func (f *fake) Config(_ context.Context, _ access.Rights, w insight.Object, q insight.ConfigQuery) (*insight.Config, error) {
	f.saw(q)
	out := &insight.Config{Workload: w.Ref()}
	out.Part = f.rows(q.Page, func(i int) {
		s := insight.ConfigSection{Name: f.s("scrape_configs/serviceMonitor/demo/web/" + strconv.Itoa(i)), Object: f.monitor(i), Origins: map[int]string{3: "spec.selector.matchLabels[\"app\"]", 6: "spec.endpoints[0].port"}}
		s.Text = "- job_name: serviceMonitor/demo/web/0\n  relabel_configs:\n  - source_labels: [__meta_kubernetes_service_label_app]\n    regex: " + f.s("web") + "\n    action: keep\n  - source_labels: [__meta_kubernetes_endpointslice_port_name]\n    regex: http\n    action: keep\n  authorization:\n    credentials: <masked>\n"
		if i == 0 {
			s = insight.ConfigSection{Name: "global", Text: "global:\n  scrape_interval: 30s\n  external_labels:\n    prometheus: monitoring/k8s\n"}
		}
		out.Sections = append(out.Sections, s)
	})
	return out, f.tabErr
}

func (f *fake) Explain(_ context.Context, _ access.Rights, o insight.Object) (*explain.Report, error) {
	out := &explain.Report{Object: o.Ref(), Labels: map[string]string{"app": f.s("web")}, NamespaceLabels: map[string]string{"kubernetes.io/metadata.name": "demo"}}
	for i := range min(f.n, 2000) {
		v := explain.Result{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "monitoring", Name: f.s("k8s-" + strconv.Itoa(i))}, Accepted: true, Reason: explain.Accepted, Message: "accepted", Jobs: []string{"serviceMonitor/demo/web/0"}}
		if i == 0 {
			v.Workload = k8s
		}
		if i%2 == 1 {
			v.Accepted, v.Reason, v.Jobs, v.Selector = false, explain.LabelsNotSelected, nil, "spec.serviceMonitorSelector"
			v.Message = f.s("spec.serviceMonitorSelector wants team=a, the object has no label team")
		}
		if i%5 == 4 {
			v.Accepted, v.Reason, v.Jobs, v.Message = false, explain.Rejected, nil, f.s("spec.endpoints[0].interval: \"10 s\" is not a duration")
		}
		out.Workloads = append(out.Workloads, v)
	}
	return out, f.err
}

func (f *fake) Objects(_ context.Context, _ access.Rights, q insight.ObjectQuery) (*insight.ObjectList, error) {
	f.saw(q)
	out := &insight.ObjectList{Kind: q.Row.Kind, Counts: map[status.State]int{status.Accepted: f.n, status.Rejected: f.n / 3}}
	out.Part = f.rows(q.Page, func(i int) {
		o := insight.ObjectRow{Ref: f.monitor(i), State: status.Accepted, Accepted: 2}
		o.Kind = q.Row.Kind
		if i%3 == 1 {
			o.State, o.Rejected, o.Message = status.Rejected, 1, f.s("Prometheus monitoring/k8s: spec.endpoints[0].interval: \"10 s\" is not a duration")
		}
		out.Items = append(out.Items, o)
	})
	out.Namespaces = f.namespaces("demo")
	return out, f.err
}

func (f *fake) Manifest(_ context.Context, o insight.Object, masked bool) (string, error) {
	text := "apiVersion: monitoring.coreos.com/v1\nkind: " + o.Kind + "\nmetadata:\n  name: web\nspec:\n  endpoints:\n"
	for i := range max(1, min(f.n, 1000)) {
		text += fmt.Sprintf("  - port: http\n    interval: 10 s\n    path: %q\n", f.s(fmt.Sprintf("/metrics-%d", i)))
	}
	if !masked {
		text += "# as written\n"
	}
	return text, f.err
}

func (f *fake) Similar(_ context.Context, _ access.Rights, o insight.Object) ([]catalog.Ref, error) {
	f.saw(o)
	return []catalog.Ref{{Kind: o.Kind, Namespace: o.Namespace, Name: f.s("k8s")}}, nil
}

func (f *fake) target(i int) preview.Target {
	t := preview.Target{Workload: k8s, Object: f.monitor(i), Target: targets.Target{
		ID: fmt.Sprintf("%016x", i), Job: f.s("serviceMonitor/demo/web/0"), State: targets.Kept, URL: f.s(fmt.Sprintf("http://10.0.%d.%d:8080/metrics", i/250%250, i%250)), Shards: []int{i % 3},
		Source: targets.Source{Kind: "EndpointSlice", Namespace: "demo", Name: "web-abcde", Pod: f.s("web-" + strconv.Itoa(i)), Node: "node-1"},
		Labels: map[string]string{"job": "web", "endpoint": "http", "namespace": "demo", "pod": f.s("web-" + strconv.Itoa(i)), "instance": "10.0.0.1:8080"},
	}}
	switch i % 4 {
	case 2:
		t.State, t.Labels, t.Shards = targets.Dropped, nil, []int{}
		t.Message = f.s("spec.endpoints[0].port: wants the port named \"http\", this one is \"admin\"")
		t.Drop = &targets.Drop{Step: 3, Origin: "spec.endpoints[0].port", Message: t.Message}
	case 3:
		t.State, t.Labels, t.Shards, t.Message = targets.Invalid, nil, []int{}, f.s("no address")
	}
	return t
}

func (f *fake) Targets(_ context.Context, _ access.Rights, q insight.TargetQuery) (*insight.Targets, error) {
	f.saw(q)
	out := &insight.Targets{AsOf: start, Synced: !f.reading, Counts: preview.Counts{Kept: f.n, Invalid: f.n / 4, Dropped: map[string]int{f.s("spec.endpoints[0].port"): f.n / 4, "spec.selector.matchLabels[\"app\"]": 2}}}
	if f.n == 0 {
		out.Counts = preview.Counts{}
	}
	for i := range min(f.n, 1000) {
		out.Jobs = append(out.Jobs, insight.JobCounts{Workload: k8s, Object: f.monitor(i), Job: f.s(fmt.Sprintf("serviceMonitor/demo/web-%d/0", i)), Counts: preview.Counts{Kept: 3, Dropped: map[string]int{"spec.selector": 6}}})
	}
	out.Part = f.rows(q.Page, func(i int) { out.Items = append(out.Items, f.target(i)) })
	return out, f.tabErr
}

func (f *fake) Target(_ context.Context, _ access.Rights, w insight.Object, job, id, _ string) (*insight.Trace, error) {
	t := f.target(0)
	t.Job, t.ID = job, id
	t.Discovered = map[string]string{}
	for i := range min(max(f.n, 3), 300) {
		t.Discovered[f.s(fmt.Sprintf("__meta_kubernetes_pod_annotation_%d", i))] = f.s("true")
	}
	out := &insight.Trace{Workload: w.Ref(), Object: f.monitor(0), Target: t, Manifest: "kind: ServiceMonitor\nmetadata:\n  name: web\n# " + f.s("note") + "\n", Also: []catalog.Ref{f.monitor(1)}}
	for i := range min(max(f.n, 3), 300) {
		s := insight.Step{Origin: fmt.Sprintf("spec.endpoints[0].relabelings[%d]", i), Rule: "action: replace\ntarget_label: " + f.s("tier") + "\n"}
		switch i % 3 {
		case 0:
			s.Added, s.Changed = map[string]string{"tier": f.s("front")}, map[string]string{"job": f.s("web")}
		case 1:
			s.Removed = []string{f.s("endpoint")}
		}
		out.Steps = append(out.Steps, s)
	}
	return out, f.err
}

func (f *fake) Scrapes(_ context.Context, _ access.Rights, w insight.Object, of []preview.Target) (*insight.Scrapes, error) {
	f.saw(fmt.Sprintf("scrapes of %s, %d targets", w.Ref(), len(of)))
	out := insight.NewScrapes(of)
	out.At = start
	pod := insight.ScrapingPod{Pod: "prometheus-k8s-0"}
	for i := range min(f.n, 1000) {
		if t := f.target(i); i%8 == 0 {
			out.Add(&pod, t.Job, t.URL, insight.Scrape{Health: "down", Error: f.s("connection refused"), At: start, Took: 15 * time.Millisecond})
		} else if i%8 == 1 {
			out.Add(&pod, t.Job, t.URL, insight.Scrape{Health: "up"})
		}
	}
	out.Pods = []insight.ScrapingPod{pod, {Shard: 1, Pod: f.s("prometheus-k8s-1"), Error: f.s("you may not get pods/proxy")}}
	return out, f.tabErr
}

func (f *fake) Preview(_ context.Context, _ access.Rights, manifests []byte) (*preview.Report, error) {
	f.saw(string(manifests))
	if strings.Contains(string(manifests), "kind: Broken") {
		return nil, apierrors.NewBadRequest("manifests: line 1: unknown kind \"Broken\"")
	}
	out := &preview.Report{Counts: preview.Counts{Kept: f.n, Dropped: map[string]int{"spec.selector": 2}}, Omitted: 3}
	o := preview.WorkloadResult{Ref: k8s}
	for i := range min(f.n, 2000) {
		job := preview.Job{Name: f.s(fmt.Sprintf("serviceMonitor/demo/web-%d/0", i)), Counts: preview.Counts{Kept: 3}}
		job.Reasons = []preview.Reason{{State: targets.Dropped, Origin: "spec.endpoints[0].port", Count: 2, Found: []preview.Finding{{Message: f.s("the port is admin"), Count: 2}}}}
		o.Objects = append(o.Objects, preview.Object{Ref: f.monitor(i), State: preview.Accepted, Jobs: []preview.Job{job}})
		out.Items = append(out.Items, f.target(i))
	}
	out.Workloads = []preview.WorkloadResult{o}
	out.NotUsed = []explain.Result{{Workload: k8s, Reason: explain.LabelsNotSelected, Selector: "spec.serviceMonitorSelector", Message: f.s("wants team=a")}}
	return out, f.err
}

func (f *fake) Reshard(_ context.Context, _ access.Rights, _ insight.Object, shards int) (*preview.Resharding, error) {
	f.saw(shards)
	if shards == 9 {
		return nil, apierrors.NewBadRequest(f.s("parameter \"shards\": there are none"))
	}
	all := preview.Amount{Targets: 10, Series: 5000}
	of := preview.Reshaped{Moved: preview.Amount{Targets: 3, Series: 1500}, Before: []preview.Amount{all}, After: make([]preview.Amount, shards), FullestBefore: 1, FullestAfter: 1.25}
	return &preview.Resharding{Workload: k8s, From: 1, To: shards, Amount: all, Lost: 1, Unknown: 2, Hash: of, Weighted: of}, f.tabErr
}

func (f *fake) Routes(_ context.Context, _ access.Rights, am types.NamespacedName, labels []string) (*insight.Routes, error) {
	given, err := routing.ParseLabels(labels)
	if err != nil {
		return nil, apierrors.NewBadRequest("label " + err.Error())
	}
	out := &insight.Routes{Alertmanager: catalog.Ref{Kind: "Alertmanager", Namespace: am.Namespace, Name: am.Name}, Tried: len(labels) > 0}
	out.Labels = given
	out.Route = routing.Step{Path: "route", Receiver: "default", Matched: true, Origin: routing.Origin{Kind: "Alertmanager", Namespace: am.Namespace, Name: am.Name, Field: "route"}}
	for i := range min(f.n, 2000) {
		s := routing.Step{
			Path: fmt.Sprintf("route.routes[%d]", i), Receiver: f.s("demo/team/pager"), Matchers: []string{`namespace="demo"`, f.s(`severity="critical"`)}, Matched: i%2 == 0, Continue: true,
			Origin: routing.Origin{Kind: "AlertmanagerConfig", Namespace: "demo", Name: f.s("team"), Field: "spec.route"},
		}
		if i%2 == 0 {
			s.Delivery = &routing.Delivery{Receiver: routing.Receiver{Name: s.Receiver, Integrations: []routing.Integration{{Type: "slack", To: f.s("#alerts")}}}, GroupBy: []string{"alertname"}, GroupWait: "30s", GroupInterval: "5m", RepeatInterval: "12h"}
		} else {
			s.Miss = &routing.Miss{Matcher: `severity="critical"`, Label: "severity", Value: f.s("warning"), Present: true}
		}
		out.Route.Routes = append(out.Route.Routes, s)
	}
	return out, f.tabErr
}

func (f *fake) Changes(ctx context.Context, each func(readers.Change)) error {
	c := make(chan readers.Change)
	f.mu.Lock()
	f.changes = append(f.changes, c)
	f.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case change := <-c:
			each(change)
		}
	}
}

// change notifies every stream and returns their number.
func (f *fake) change(ctx context.Context, c readers.Change) int {
	f.mu.Lock()
	f.version++
	all := f.changes
	f.mu.Unlock()
	n := 0
	for _, s := range all {
		select {
		case s <- c:
			n++
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond): // of a stream that has ended
		}
	}
	return n
}

// may decides about permissions.
type may func(verb string, of schema.GroupResource, namespace string) bool

func (m may) May(_ context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	return m(verb, of, namespace), nil
}

// anything allows everything.
func anything(*http.Request, insight.Object) (access.Rights, error) {
	return may(func(string, schema.GroupResource, string) bool { return true }), nil
}
