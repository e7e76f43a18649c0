package central

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// Status describes central discovery: the workloads, their shards and what is missing in their lists.
type Status struct {
	// Leads is true if this replica serves lists.
	Leads bool `json:"leads"`
	// Problem is the reason why workloads may be missing. Absent if all were read.
	Problem string `json:"problem,omitempty"`
	// TooLarge are the objects whose targets are left out, as they have more than 64 MiB of labels. Absent if there
	// are none.
	TooLarge  []string         `json:"tooLarge,omitempty"`
	Workloads []WorkloadStatus `json:"workloads"`
}

// WorkloadStatus is the state of a workload with central discovery.
type WorkloadStatus struct {
	catalog.Ref
	// Problem is the reason why the lists are not current. Absent if they are.
	Problem string `json:"problem,omitempty"`
	// Forbidden are the permissions for discovery that the ServiceAccount of the workload lacks. Absent if there are none.
	Forbidden []string `json:"forbidden,omitempty"`
	// Waiting are the jobs whose targets are not known yet, with the reasons. Absent if there are none.
	Waiting map[string][]string `json:"waiting,omitempty"`
	// Unread are the objects whose jobs cannot be evaluated, with the reason: their targets in the lists do not
	// change. Absent if there are none.
	Unread map[string]string `json:"unread,omitempty"`
	// Beyond has the targets that are missing in lists, as they exceed the share of their namespace: by job and
	// namespace of the targets. Absent if there are none.
	Beyond map[string]map[string]feed.LeftOut `json:"beyond,omitempty"`
	// Unknown is the number of targets, by job, that are on no shard because their relabel steps are too
	// expensive to evaluate. Absent if there are none.
	Unknown map[string]int `json:"unknown,omitempty"`
	// Oversized is the number of targets, by job, that are on no shard because their jobs read more than 128 KiB of
	// their labels. Absent if there are none.
	Oversized map[string]int `json:"oversized,omitempty"`
	// Notes are further remarks. Absent if there are none.
	Notes []string `json:"notes,omitempty"`
	// Balance is how its targets are divided by series. Absent if they are divided by hash.
	Balance *balance.Status `json:"balance,omitempty"`
	// Scaling is how many shards it should have. Absent without autoscaling.
	Scaling *scaling.Workload `json:"scaling,omitempty"`
	// Shards by number. Empty until the targets are complete.
	Shards []feed.ShardStatus `json:"shards"`
}

// statusOf returns the state of all workloads and of their lists.
func (r *Runner) statusOf(s *feed.Server) Status {
	lists, leads := s.Status()
	shards := map[catalog.Ref][]feed.ShardStatus{}
	for of, list := range lists {
		shards[of.Workload] = append(shards[of.Workload], list)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Status{Leads: leads, Problem: r.missing, TooLarge: r.source.Groups.TooLarge(), Workloads: []WorkloadStatus{}}
	for _, w := range r.workloads {
		one := w.status()
		one.Shards = append(one.Shards, shards[w.Ref]...)
		slices.SortFunc(one.Shards, func(a, b feed.ShardStatus) int { return a.Shard - b.Shard })
		out.Workloads = append(out.Workloads, one)
	}
	slices.SortFunc(out.Workloads, func(a, b WorkloadStatus) int { return strings.Compare(a.Ref.String(), b.Ref.String()) })
	return out
}

// status returns the state of a workload without lists.
func (w *workload) status() WorkloadStatus {
	out := WorkloadStatus{Ref: w.Ref, Problem: cmp.Or(w.problem, w.stale), Notes: w.notes, Forbidden: w.forbidden(), Shards: []feed.ShardStatus{}}
	if w.by != nil {
		out.Balance, out.Scaling = new(w.by.Status()), w.scalingOf()
	}
	for _, o := range w.unread {
		put(&out.Unread, o.Ref.String(), o.Error)
	}
	for name, j := range w.jobs {
		if !j.isKnown {
			reasons := []string{}
			for _, gap := range j.gaps {
				reasons = append(reasons, gap.Message)
			}
			put(&out.Waiting, name, reasons)
		}
		unknown, oversized, beyond := j.leftOut()
		if len(beyond) > 0 {
			put(&out.Beyond, name, beyond)
		}
		if unknown > 0 {
			put(&out.Unknown, name, unknown)
		}
		if oversized > 0 {
			put(&out.Oversized, name, oversized)
		}
	}
	return out
}

// put adds a value to a map, which it makes if it is nil.
func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}

// Register registers the pages / and /status.json. guard restricts who may read them.
func (r *Runner) Register(mux *http.ServeMux, s *feed.Server, guard func(http.Handler) http.Handler) {
	mux.Handle("GET /status.json", guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		httpserver.WriteJSON(w, http.StatusOK, r.statusOf(s))
	})))
	mux.Handle("GET /{$}", guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprint(w, r.statusOf(s).table(time.Now())) // the client may have disconnected
	})))
}

// table returns a human-readable form.
func (s Status) table(now time.Time) string {
	var out strings.Builder
	role := "This replica stands by."
	if s.Leads {
		role = "This replica serves."
	}
	fmt.Fprintln(&out, role)
	if s.Problem != "" {
		fmt.Fprintln(&out, "Problem:", s.Problem)
	}
	if len(s.TooLarge) > 0 {
		fmt.Fprintln(&out, "Left out, because their targets have too many labels:", few(s.TooLarge))
	}
	if len(s.Workloads) == 0 {
		fmt.Fprintln(&out, "No Prometheus or PrometheusAgent has central discovery: annotate one with firekeeper.dev/target-discovery: both")
		return out.String()
	}
	rows := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(rows, "\nWORKLOAD\tSHARD\tJOBS\tTARGETS\tKIB\tVERSION\tCHANGED\tPODS")
	for _, w := range s.Workloads {
		if len(w.Shards) == 0 {
			fmt.Fprintf(rows, "%s\t-\t-\t-\t-\t-\t-\t%s\n", w.Ref, cmp.Or(w.Problem, "waiting for its targets"))
		}
		for _, list := range w.Shards {
			shard := fmt.Sprint(list.Shard)
			if list.Shard == feed.Retired {
				shard = "retired"
			}
			var pods []string
			for _, stream := range list.Streams {
				pods = append(pods, stream.Pod+noteOf(stream, list.Version))
			}
			fmt.Fprintf(rows, "%s\t%s\t%d\t%d\t%d\t%s\t%s ago\t%s\n", w.Ref, shard, list.Jobs, list.Targets, list.Bytes>>10, list.Version,
				now.Sub(list.Since).Round(time.Second), strings.Join(pods, ", "))
		}
	}
	_ = rows.Flush() // into memory
	s.divided(&out)
	for _, w := range s.Workloads {
		w.remarks(&out)
	}
	return out.String()
}

// mostForbidden is the number of forbidden resources of a workload in the table.
const mostForbidden = 50

// noteOf returns a remark about a pod that follows a list with this version.
func noteOf(s feed.StreamStatus, version string) string {
	var notes []string
	if s.Version != version {
		notes = append(notes, "behind")
	}
	if s.Report != nil && s.Report.Disagreements() > 0 {
		notes = append(notes, fmt.Sprintf("%d disagreements", s.Report.Disagreements()))
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// disagreed explains the disagreements of a report.
var disagreed = map[targetreport.Kind]string{
	targetreport.Dropped:  "its relabelings drop %d targets of the list: %s",
	targetreport.Missing:  "Prometheus does not know its %d targets: %s",
	targetreport.Unlisted: "Prometheus scrapes %d targets that are not in the list: %s",
}

// remarks writes the problems of a workload.
func (w *WorkloadStatus) remarks(out *strings.Builder) {
	line := func(format string, args ...any) { fmt.Fprintf(out, "%s: %s\n", w.Ref, fmt.Sprintf(format, args...)) }
	out.WriteByte('\n')
	if w.Problem != "" {
		line("%s", w.Problem)
	}
	for i, text := range w.Forbidden {
		if i == mostForbidden {
			line("forbidden: %d more, see /status.json", len(w.Forbidden)-i)
			break
		}
		line("forbidden: %s", text)
	}
	for _, job := range slices.Sorted(maps.Keys(w.Waiting)) {
		line("job %s: its targets are not known, and those that it had stay in the lists: %s", job, cmp.Or(strings.Join(w.Waiting[job], "; "), "they were not all read yet"))
	}
	for _, object := range slices.Sorted(maps.Keys(w.Unread)) {
		line("the jobs of %s cannot be evaluated, and their targets in the lists do not change: %s", object, w.Unread[object])
	}
	for _, job := range slices.Sorted(maps.Keys(w.Beyond)) {
		for _, namespace := range slices.Sorted(maps.Keys(w.Beyond[job])) {
			of := w.Beyond[job][namespace]
			line("job %s: %d targets of %s with %d KiB are in no list, because they are more than the share of that namespace: use more shards, or attach fewer labels",
				job, of.Targets, cmp.Or(namespace, "no namespace"), of.Bytes>>10)
		}
	}
	for _, job := range slices.Sorted(maps.Keys(w.Unknown)) {
		line("job %s: %d targets are too expensive to evaluate and are on no shard", job, w.Unknown[job])
	}
	for _, job := range slices.Sorted(maps.Keys(w.Oversized)) {
		line("job %s: %d targets have more than 128 KiB of labels that it reads and are on no shard", job, w.Oversized[job])
	}
	for _, list := range w.Shards {
		remarksOn(list, line)
	}
	for _, text := range w.Notes {
		line("%s", text)
	}
}

// remarksOn writes the problems of a list, and the disagreements that pods have reported.
func remarksOn(list feed.ShardStatus, line func(format string, args ...any)) {
	for _, job := range list.Held {
		line("shard %d, job %s: it lost many targets at once, which are kept for a while (SuspiciousShrink)", list.Shard, job)
	}
	for _, job := range list.TooLarge {
		line("shard %d, job %s: left out, because the list is too large", list.Shard, job)
	}
	for _, stream := range list.Streams {
		if stream.Report == nil {
			continue
		}
		for _, job := range stream.Report.Jobs {
			disagreements(stream.Pod, job, line)
		}
	}
}

// disagreements writes what the report of a pod says about a job.
func disagreements(pod string, job targetreport.Job, line func(format string, args ...any)) {
	for _, kind := range targetreport.Kinds {
		if t := job.Of(kind); t != nil {
			line("pod %s, job %s: %s", pod, job.Job, fmt.Sprintf(disagreed[kind], t.Count, strings.Join(t.Names, ", ")))
		}
	}
}
