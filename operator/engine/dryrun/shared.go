package dryrun

import "github.com/firekeeper-dev/firekeeper/operator/engine"

// mostHeld is the maximum size in bytes of what the open gatherers of [Shared] have compiled.
const mostHeld = 256 << 20

// Shared runs workloads of one cluster one after the other. Workloads with equal settings share the objects that they
// compile, as in the operator: the gatherers stay open until there are too many. It is not safe for concurrent use.
type Shared struct {
	open []openGatherer // the oldest first
	held int
}

// openGatherer is a gatherer with the size that it had after its run.
type openGatherer struct {
	engine.Gatherer
	held int
}

// Run is like the function [Run].
func (s *Shared) Run(w Workload, c engine.Cluster) Outcome {
	g := w.Kind.Open(w.Key())
	out := runWith(g, w, c)
	s.keep(openGatherer{g, g.Held()})
	return out
}

// keep adds an open gatherer, and closes the oldest ones if all together hold too much.
func (s *Shared) keep(g openGatherer) {
	s.open, s.held = append(s.open, g), s.held+g.held
	for len(s.open) > 1 && s.held > mostHeld {
		s.open[0].Close()
		s.open, s.held = s.open[1:], s.held-s.open[0].held
	}
}

// Close releases everything that was compiled.
func (s *Shared) Close() {
	for _, g := range s.open {
		g.Close()
	}
	s.open, s.held = nil, 0
}
