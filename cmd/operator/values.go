package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// csv is a flag of comma separated names; repeating it adds.
type csv struct{ names *[]string }

func (c csv) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		*c.names = append(*c.names, strings.TrimSpace(name))
	}
	return nil
}

func (c csv) String() string {
	if c.names == nil {
		return ""
	}
	return strings.Join(*c.names, ",")
}

// IsCumulative lets the flag be repeated.
func (c csv) IsCumulative() bool { return true }

// csvMap is a flag of comma separated key=value pairs; repeating it adds.
type csvMap struct{ pairs *map[string]string }

func (c csvMap) Set(text string) error {
	if *c.pairs == nil {
		*c.pairs = map[string]string{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(key) == "" {
			return fmt.Errorf("%q is not of the form key=value", pair)
		}
		(*c.pairs)[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return nil
}

func (c csvMap) String() string {
	if c.pairs == nil {
		return ""
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(*c.pairs)) {
		out = append(out, k+"="+(*c.pairs)[k])
	}
	return strings.Join(out, ",")
}

// IsCumulative lets the flag be repeated.
func (c csvMap) IsCumulative() bool { return true }

// plain is a second name of a string flag: it has no default of its own.
type plain struct{ text *string }

func (p plain) Set(text string) error { *p.text = text; return nil }

func (p plain) String() string { return "" }

// Feature gates.
const (
	gateAgentDaemonSet   = "PrometheusAgentDaemonSet"
	gateTopologySharding = "PrometheusTopologySharding"
	gateShardRetention   = "PrometheusShardRetentionPolicy"
	gateConfigStatus     = "StatusForConfigurationResources"
	gateRemoteWriteCRD   = "RemoteWriteCustomResourceDefinition"
)

var gateDefaults = map[string]bool{
	gateAgentDaemonSet:   false,
	gateTopologySharding: true,
	gateShardRetention:   true,
	gateConfigStatus:     false,
	gateRemoteWriteCRD:   false,
}

// gateHelp lists the gates with their defaults.
func gateHelp() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gateDefaults)) {
		out = append(out, fmt.Sprintf("%s (%t)", name, gateDefaults[name]))
	}
	return strings.Join(out, ", ")
}

// featureGates are the gates that the user set.
type featureGates map[string]bool

// On reports whether a gate is open.
func (g featureGates) On(name string) bool {
	if on, set := g[name]; set {
		return on
	}
	return gateDefaults[name]
}

// Set implements kingpin.Value.
func (g *featureGates) Set(text string) error {
	if *g == nil {
		*g = featureGates{}
	}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		if _, known := gateDefaults[name]; !known {
			return fmt.Errorf("unknown feature gate %q: known are %s", name, gateHelp())
		}
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if !ok || err != nil {
			return fmt.Errorf("feature gate %q: want %s=true or %s=false", name, name, name)
		}
		(*g)[name] = on
	}
	return nil
}

// String lists every gate with its state, for the log.
func (g *featureGates) String() string {
	if g == nil || *g == nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(*g)) {
		out = append(out, fmt.Sprintf("%s=%t", name, (*g)[name]))
	}
	return strings.Join(out, ",")
}

// IsCumulative lets the flag be repeated.
func (g *featureGates) IsCumulative() bool { return true }

// State lists all gates, also those at their default.
func (g featureGates) State() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(gateDefaults)) {
		out = append(out, fmt.Sprintf("%s=%t", name, g.On(name)))
	}
	return strings.Join(out, ",")
}
