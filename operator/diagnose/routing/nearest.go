package routing

import (
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

// Near is a route that has a receiver with integrations but does not match the alert.
type Near struct {
	Path     string `json:"path"`
	Origin   Origin `json:"origin"`
	Receiver string `json:"receiver"`
	// Misses lists the matchers that do not match, including those of parent routes.
	Misses []Miss `json:"misses"`
	// EndedBy is the path of an earlier route that matches without continue, so that this route is not evaluated.
	// Absent if there is none.
	EndedBy string `json:"endedBy,omitempty"`
}

// mostNear is the maximum number of routes in a report.
const mostNear = 3

// nearest returns the routes with receivers that fail on the fewest matchers, in configuration
// order.
func (w walker) nearest() []Near {
	var out []Near
	fewest := 0
	w.visit(w.loaded.Route, w.root, nil, nil, "", func(n Near) {
		switch size := len(n.Misses); {
		case size == 0 && n.EndedBy == "":
			return // it takes the alert
		case out == nil || size < fewest:
			out, fewest = []Near{n}, size
		case size == fewest && len(out) < mostNear:
			out = append(out, n)
		}
	})
	return out
}

// visit calls see for every route whose receiver has integrations, with its unmatched matchers.
func (w walker) visit(raw *config.Route, r *dispatch.Route, at []int, above []Miss, ended string, see func(Near)) {
	own := w.misses(r.Matchers)
	for i := range own {
		own[i].Added = w.origins.added(at, own[i])
	}
	misses := slices.Clip(append(slices.Clip(above), own...))
	if d := w.delivery(r); len(d.Receiver.Integrations) > 0 {
		see(Near{Path: path("route", at), Origin: w.origins.route(at, raw.Receiver), Receiver: d.Receiver.Name, Misses: misses, EndedBy: ended})
	}
	for i, child := range r.Routes {
		if w.over() {
			return
		}
		below := append(at[:len(at):len(at)], i)
		w.visit(raw.Routes[i], child, below, misses, ended, see)
		if ended == "" && !child.Continue && len(misses) == 0 && w.miss(child.Matchers) == nil {
			ended = path("route", below)
		}
	}
}

// misses returns all matchers that do not match the labels.
func (w walker) misses(all labels.Matchers) (out []Miss) {
	for _, m := range all {
		if miss := w.miss(labels.Matchers{m}); miss != nil {
			out = append(out, *miss)
		}
	}
	return out
}

func (n Near) text(w *strings.Builder) {
	rows(w, "", "nearest", n.Path+", which would notify "+excerpt.Name(n.Receiver))
	rows(w, "  ", "from", n.Origin.String())
	for _, m := range n.Misses {
		rows(w, "  ", "no match", m.String())
	}
	if len(n.Misses) == 0 {
		rows(w, "  ", "not tried", n.EndedBy+" matches and has no continue")
	}
}
