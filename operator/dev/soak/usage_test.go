package soak

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// measures are what is sampled, by the metric, with the growth that is no leak: a part of what it was, and a constant.
var measures = []struct {
	name, metric string
	unit         float64
	part, more   float64
}{
	{"goroutines", "go_goroutines", 1, 0.10, 20},
	{"file descriptors", "process_open_fds", 1, 0.10, 10},
	{"MiB in use", "go_memstats_heap_inuse_bytes", 1 << 20, 0.25, 8},
	{"MiB resident", "process_resident_memory_bytes", 1 << 20, 0.25, 16},
}

// sample is one look at a process.
type sample struct {
	at     time.Time
	values []float64 // by measure
}

// usage has the samples of our processes by name.
type usage map[string][]sample

// look adds a sample of each process that answers.
func (r *run) look(ctx context.Context) {
	for name, url := range map[string]string{
		"operator": "http://" + r.operator.Address(), "config-reloader of Prometheus": r.prometheus.configURL,
		"rules-reloader": r.prometheus.rulesURL, "config-reloader of Alertmanager": r.alertmanager.configURL,
	} {
		sum, err := trial.Metrics(ctx, url+"/metrics")
		if err != nil {
			continue
		}
		s := sample{at: time.Now()}
		for _, m := range measures {
			s.values = append(s.values, sum(m.metric)/m.unit)
		}
		r.usage[name] = append(r.usage[name], s)
	}
}

// trend is how a measure of a process develops.
type trend struct {
	process, measure     string
	first, last          float64 // medians of the first and the last third of the samples
	perHour, bound, most float64
	over                 bool
	samples              int
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}

// slope returns the growth per second of values over time, by least squares.
func slope(at []time.Time, values []float64) float64 {
	var mx, my float64
	for i := range at {
		mx += at[i].Sub(at[0]).Seconds() / float64(len(at))
		my += values[i] / float64(len(at))
	}
	var sxy, sxx float64
	for i := range at {
		x := at[i].Sub(at[0]).Seconds() - mx
		sxy += x * (values[i] - my)
		sxx += x * x
	}
	if sxx == 0 {
		return 0
	}
	return sxy / sxx
}

// trends compares the first third of the samples since a time with the last one.
func (u usage) trends(since time.Time) (out []trend) {
	for _, process := range []string{"operator", "config-reloader of Prometheus", "rules-reloader", "config-reloader of Alertmanager"} {
		samples := slices.DeleteFunc(slices.Clone(u[process]), func(s sample) bool { return s.at.Before(since) })
		third := len(samples) / 3
		if third == 0 {
			continue
		}
		for i, m := range measures {
			var at []time.Time
			var values []float64
			for _, s := range samples {
				at, values = append(at, s.at), append(values, s.values[i])
			}
			t := trend{process: process, measure: m.name, first: median(values[:third]), last: median(values[len(values)-third:]), most: slices.Max(values), samples: len(values)}
			t.perHour = 3600 * slope(at, values)
			t.bound = t.first*(1+m.part) + m.more
			t.over = t.last > t.bound
			out = append(out, t)
		}
	}
	return out
}

// table returns the trends as Markdown.
func table(trends []trend) string {
	var b strings.Builder
	b.WriteString("| process | measure | first third | last third | bound | most | per hour |\n|---|---|---|---|---|---|---|\n")
	for _, t := range trends {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f | %.1f | %+.1f |\n", t.process, t.measure, t.first, t.last, t.bound, t.most, t.perHour)
	}
	return b.String()
}
