package rules

// Gate holds the first versions of the two programs that support a key of the rule file,
// for documentation pages.
type Gate struct {
	Key                string // "groups[].limit"
	Prometheus, Thanos string // first version with the key
}

// gatedKeys holds the paths of gated keys in the file.
var gatedKeys = map[keySet]string{
	keyLimit:         "groups[].limit",
	keyKeepFiringFor: "groups[].rules[].keep_firing_for",
	keyQueryOffset:   "groups[].query_offset",
	keyGroupLabels:   "groups[].labels",
}

// Gates returns the keys that only some versions support, oldest first.
func Gates() []Gate {
	out := make([]Gate, 0, len(gates))
	for _, g := range gates {
		out = append(out, Gate{Key: gatedKeys[g.key], Prometheus: g.prometheus.String(), Thanos: g.thanos.String()})
	}
	return out
}
