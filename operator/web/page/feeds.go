package page

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// feedsTab has the objects that a workload could select.
type feedsTab struct {
	*insight.Sources
	States []status.State
	Kinds  []string
	// All is the number of objects, regardless of filters.
	All      int
	Filtered bool
	// HasJobs is true if an object on the page has jobs.
	HasJobs bool
	// Why is the reason of the first object that is not selected, if none is selected.
	Why string
}

func feeds(q *request, _ *insight.Workload) (data, answer any, err error) {
	query := insight.SourceQuery{Page: q.part()}
	states := []status.State{status.Accepted, status.Rejected, status.NotSelected, status.Unknown}
	if query.State, err = oneOf(q, "state", states...); err != nil {
		return nil, nil, err
	}
	if query.Kind, err = oneOf(q, "kind", selected(q.of.Row)...); err != nil {
		return nil, nil, err
	}
	got, err := q.answers.Sources(q.Context(), q.rights, q.of, query)
	if err != nil {
		return nil, nil, err
	}
	out := feedsTab{Sources: got, States: states, Kinds: selected(q.of.Row), Filtered: query.State != "" || query.Kind != "" || query.Filter != ""}
	for _, n := range got.Counts {
		out.All += n
	}
	if got.Counts[status.Accepted]+got.Counts[status.Rejected] == 0 {
		for _, s := range got.Items {
			if s.State == status.NotSelected && out.Why == "" {
				out.Why = s.Message
			}
		}
	}
	out.HasJobs = slices.ContainsFunc(got.Items, func(s insight.Source) bool { return len(s.Jobs) > 0 })
	return out, got, nil
}

// selected returns the kinds that workloads of a kind can select.
func selected(row *catalog.Row) (out []string) {
	for _, k := range catalog.All {
		var is bool
		switch row {
		case catalog.Alertmanager:
			is = k == catalog.AlertmanagerConfig
		case catalog.ThanosRuler:
			is = k == catalog.PrometheusRule
		case catalog.PrometheusAgent:
			is = scrapes(k)
		case catalog.Prometheus:
			is = scrapes(k) || k == catalog.PrometheusRule
		}
		if is {
			out = append(out, k.Kind)
		}
	}
	return out
}

// scrapes reports whether objects of the kind have targets.
func scrapes(k *catalog.Row) bool {
	return k == catalog.ServiceMonitor || k == catalog.PodMonitor || k == catalog.Probe || k == catalog.ScrapeConfig
}

// sectionOf returns a section with up to n lines and their origins.
func sectionOf(s insight.ConfigSection, n int) section {
	out := section{ConfigSection: s}
	text := strings.TrimRight(s.Text, "\n")
	lines := strings.Split(text, "\n")
	lines, out.More = first(n, lines)
	for i, l := range lines {
		out.Lines = append(out.Lines, line{head(l, maxMore), s.Origins[i+1]})
	}
	return out
}
