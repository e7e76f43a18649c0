package main

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
)

// samplesOf returns how many changes of each kind are timed. Between two of them the operator gets the time that it
// leaves between two writes of a configuration, which is 12 s for a large one.
func (w *whole) samplesOf(s size) int {
	switch n := s.each(0); {
	case n >= 50_000:
		return min(w.samples, 8)
	case n >= 10_000:
		return min(w.samples, 12)
	default:
		return w.samples
	}
}

// memoryOf returns the memory limit of the operator, which holds objects up to a fifth of it. Empty is none, with which it
// assumes 512 MiB.
func memoryOf(s size) string {
	switch n := s.counts[0]; {
	case n >= 200_000:
		return "8GiB"
	case n >= 50_000:
		return "4GiB"
	default:
		return ""
	}
}

// grow measures starts and single changes at a size, in the order of the costs of these parts.
func (w *whole) grow(ctx context.Context, s size) ([]float64, error) {
	o := *w.options
	o.subject, o.samples, o.memory = s.subject, w.samplesOf(s), memoryOf(s)
	r, err := o.measure(ctx, s, (*measurement).steps)
	if err != nil {
		return nil, err
	}
	out := []float64{envelope.Of(r.settle), envelope.Of(r.settled.cpu)}
	for _, c := range r.changed {
		out = append(out, envelope.Of(quantile(c.took, 0.5)), envelope.Of(quantile(c.took, 0.99)), envelope.Of(c.each()),
			float64(c.spent.calls)/float64(len(c.took)))
	}
	return append(out, float64(r.end.rss), float64(r.end.top), float64(r.live),
		envelope.Of(r.again.settle), envelope.Of(r.again.cpu), float64(total(r.again.writes)), float64(r.idle.calls)), nil
}
