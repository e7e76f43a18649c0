package page

import (
	"strconv"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// attention has the problems of a page.
type attention struct {
	Groups []attentionGroup
	Folded []attentionGroup // shown on request
	// Rest is the number of problems in groups that are not shown.
	Rest int
}

// attentionGroup is a problem with the places where it occurs.
type attentionGroup struct {
	insight.AttentionGroup
	Count string // of the places: "4 ServiceMonitors"; empty for one
	More  int    // places that are not shown
}

// attentionOf returns the groups of a page with up to n rows. total is the number of all problems.
func attentionOf(n int, all []insight.AttentionGroup, total int) (out attention) {
	shown, _ := first(max(1, n/2), all)
	out.Rest = total
	for i, g := range shown {
		of := attentionGroup{AttentionGroup: g}
		out.Rest -= g.Total
		if g.Total > 1 {
			of.Count = strconv.Itoa(g.Total) + " " + placesOf(g.Of)
		}
		of.Of, _ = first(max(1, n/5), g.Of)
		of.More = g.Total - len(of.Of)
		if i < maxGroups {
			out.Groups = append(out.Groups, of)
		} else {
			out.Folded = append(out.Folded, of)
		}
	}
	out.Rest = max(0, out.Rest)
	return out
}

// placesOf returns a noun for the places of a problem: "ServiceMonitors".
func placesOf(of []insight.Place) string {
	kind := ""
	for _, p := range of {
		own := p.Object.Kind
		if own == "" {
			own = p.Workload.Kind
		}
		if kind != "" && kind != own {
			return "objects"
		}
		kind = own
	}
	return plural(kind)
}

// plural returns the plural of a kind.
func plural(kind string) string {
	switch kind {
	case "Prometheus":
		return "Prometheuses"
	case "":
		return "objects"
	}
	return kind + "s"
}
