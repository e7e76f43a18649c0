package rules

// Gate says since when the two programs know a key of the rule file, for
// documentation pages.
type Gate struct {
	Key                string // "groups[].limit"
	Prometheus, Thanos string // first version with the key
}

// gatedKeys names the keys of gates as users write them.
var gatedKeys = map[keySet]string{
	keyLimit:         "groups[].limit",
	keyKeepFiringFor: "groups[].rules[].keep_firing_for",
	keyQueryOffset:   "groups[].query_offset",
	keyGroupLabels:   "groups[].labels",
}

// Gates lists the keys that not every version knows, oldest first.
func Gates() []Gate {
	out := make([]Gate, 0, len(gates))
	for _, g := range gates {
		out = append(out, Gate{Key: gatedKeys[g.key], Prometheus: g.prometheus.String(), Thanos: g.thanos.String()})
	}
	return out
}
