package routing

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/inhibit"
	"github.com/prometheus/alertmanager/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Origin is the place where a route or rule is defined.
type Origin struct {
	// Kind of the object. Absent for a file.
	Kind string `json:"kind,omitempty"`
	// Namespace of the object. Absent for a file.
	Namespace string `json:"namespace,omitempty"`
	// Name of the object. Absent for a file.
	Name string `json:"name,omitempty"`
	// File is the name of the file. Absent for an object.
	File string `json:"file,omitempty"`
	// Field is the path in the AlertmanagerConfig, for example "spec.route.routes[1]", or in the configuration of the
	// Alertmanager itself, for example "route.routes[0]".
	Field string `json:"field"`
	// Stale is true if the object does not exist or no longer defines the route or rule.
	Stale bool `json:"stale,omitempty"`
}

// String returns a human-readable origin: "AlertmanagerConfig demo/team, spec.route.routes[1]".
func (o Origin) String() string {
	stale := ""
	if o.Stale {
		stale = " (which the object has no longer)"
	}
	return o.owner() + ", " + o.Field + stale
}

func (o Origin) owner() string {
	if o.Kind == "" {
		return o.File
	}
	return o.Kind + " " + o.Namespace + "/" + o.Name
}

// Origins are the known sources of a configuration.
type Origins struct {
	// File is the file that the configuration was read from; empty for the configuration of
	// Alertmanager.
	File         string
	Alertmanager *v1.Alertmanager
	// Configs are AlertmanagerConfigs by "namespace/name"; nil when it is unknown which exist.
	Configs map[string]*v1alpha1.AlertmanagerConfig
	// Rejected are selected AlertmanagerConfigs that are not part of the configuration because of
	// an error.
	Rejected []Rejection
	// Assumed are the Secrets and ConfigMaps that the caller may not read.
	Assumed []string
}

// Rejection is the reason why an AlertmanagerConfig is not used.
type Rejection struct {
	Object string // "AlertmanagerConfig demo/team"
	Err    error
}

// maxRejections is the maximum number of rejections in a report.
const maxRejections = 5

// notes describe the objects whose routes are missing, and those that could not be read.
func (o Origins) notes() (out []string) {
	for i, r := range o.Rejected {
		if i == maxRejections {
			return append(out, fmt.Sprintf("%d more AlertmanagerConfigs are rejected, see operator lint", len(o.Rejected)-i))
		}
		out = append(out, fmt.Sprintf("%s is rejected, and its routes are missing: %v", r.Object, r.Err))
	}
	if len(o.Assumed) > 0 {
		out = append(out, fmt.Sprintf("you may not read %s: their values are assumed to be valid", excerpt.List(o.Assumed, maxRejections)))
	}
	return out
}

// Source returns the name of the configuration: "Alertmanager monitoring/main", or a file.
func (o Origins) Source() string { return o.base("").owner() }

func (o Origins) base(field string) Origin {
	if o.Alertmanager == nil {
		return Origin{File: o.File, Field: field}
	}
	return Origin{Kind: v1.AlertmanagerKind, Namespace: o.Alertmanager.Namespace, Name: o.Alertmanager.Name, Field: field}
}

// asIs reports whether the configuration is used unmodified.
func (o Origins) asIs() bool {
	return o.Alertmanager != nil && o.Alertmanager.Spec.AlertmanagerConfigSelector == nil &&
		o.Alertmanager.Spec.AlertmanagerConfiguration == nil
}

// global returns "namespace/name" of the AlertmanagerConfig that is the base of the configuration;
// empty when it is a Secret, or unknown.
func (o Origins) global() string {
	if o.Alertmanager == nil || o.Alertmanager.Spec.AlertmanagerConfiguration == nil {
		return ""
	}
	return o.Alertmanager.Namespace + "/" + o.Alertmanager.Spec.AlertmanagerConfiguration.Name
}

// origins are the Origins resolved for one configuration.
type origins struct {
	Origins
	base   string            // key of the AlertmanagerConfig of the root route; empty when there is none
	routes []string          // keys of the AlertmanagerConfigs of the first children of the root
	rules  []source          // by the index of the inhibition rule
	named  map[string]*named // receivers of AlertmanagerConfigs, by key; filled on demand
}

// source is an item of an AlertmanagerConfig, or of the base when key is empty.
type source struct {
	key   string
	index int
}

// of determines which parts of the configuration come from AlertmanagerConfigs.
func (o Origins) of(c *Config) origins {
	out := origins{Origins: o, base: o.global(), named: map[string]*named{}}
	for i := range c.loaded.InhibitRules {
		out.rules = append(out.rules, source{out.base, i})
	}
	if o.asIs() {
		return out
	}
	last := ""
	for _, r := range c.loaded.Route.Routes {
		key, _, ok := owned(r.Receiver)
		if !ok || !r.Continue || key <= last || key == out.base {
			break
		}
		out.routes = append(out.routes, key)
		last = key
	}
	out.matchRules(c.loaded)
	return out
}

// owned splits the name of a receiver or interval that comes from an AlertmanagerConfig:
// "namespace/name/own name".
func owned(name string) (key, own string, ok bool) {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || parts[0] == "" || parts[1] == "" {
		return "", name, false
	}
	return parts[0] + "/" + parts[1], parts[2], true
}

// matchRules attributes inhibition rules to AlertmanagerConfigs. Their rules come last, sorted by
// object, and have no names: an object is the origin if all of its rules match in sequence.
func (o *origins) matchRules(c *config.Config) {
	end := len(c.InhibitRules)
	for _, key := range slices.Backward(slices.Sorted(maps.Keys(o.Configs))) {
		own := o.Configs[key].Spec.InhibitRules
		start := end - len(own)
		if key == o.base || len(own) == 0 || start < 0 {
			continue
		}
		same := true
		for i, rule := range own {
			same = same && sameRule(rule, inhibit.NewInhibitRule(c.InhibitRules[start+i]), o.Configs[key].Namespace)
		}
		if !same {
			continue
		}
		for i := range own {
			o.rules[start+i] = source{key, i}
		}
		end = start
	}
}

// sameRule reports whether a rule of the configuration was generated from that of an object, to
// which namespace matchers may have been added.
func sameRule(own v1alpha1.InhibitRule, made *inhibit.InhibitRule, namespace string) bool {
	equal := map[string]bool{}
	for _, label := range own.Equal {
		equal[label] = true
	}
	for label := range made.Equal {
		if !equal[string(label)] {
			return false
		}
	}
	return len(equal) == len(made.Equal) && sameMatchers(own.SourceMatch, texts(made.SourceMatchers), namespace) &&
		sameMatchers(own.TargetMatch, texts(made.TargetMatchers), namespace)
}

func sameMatchers(own []v1alpha1.Matcher, made []string, namespace string) bool {
	want := map[string]bool{}
	for _, m := range own {
		want[written(m)] = true
	}
	enforced := written(v1alpha1.Matcher{Name: "namespace", Value: namespace})
	have := map[string]bool{}
	for _, text := range made {
		if !want[text] && text != enforced {
			return false
		}
		have[text] = true
	}
	for text := range want {
		if !have[text] {
			return false
		}
	}
	return true
}

// operators map match types of the API to those of Alertmanager.
var operators = map[v1alpha1.MatchType]labels.MatchType{
	v1alpha1.MatchEqual: labels.MatchEqual, v1alpha1.MatchNotEqual: labels.MatchNotEqual,
	v1alpha1.MatchRegexp: labels.MatchRegexp, v1alpha1.MatchNotRegexp: labels.MatchNotRegexp,
}

// written returns a matcher in the notation of Alertmanager.
func written(m v1alpha1.Matcher) string {
	op := operators[m.MatchType]
	if m.MatchType == "" && m.Regex {
		op = labels.MatchRegexp
	}
	return (&labels.Matcher{Type: op, Name: m.Name, Value: m.Value}).String()
}

// rule returns the origin of an inhibition rule.
func (o origins) rule(i int) Origin {
	s := o.rules[i]
	if s.key == "" {
		return o.Origins.base(fmt.Sprintf("inhibit_rules[%d]", i))
	}
	return object(s.key, fmt.Sprintf("spec.inhibitRules[%d]", s.index))
}

// route returns the origin of the route at a path. receiver is the receiver in the route, or empty.
func (o origins) route(at []int, receiver string) Origin {
	key, below := o.base, at
	switch {
	case len(at) > 0 && at[0] < len(o.routes):
		key, below = o.routes[at[0]], at[1:]
	case len(at) > 0 && o.base != "":
		below = append([]int{at[0] - len(o.routes)}, at[1:]...)
	case o.base == "":
		own := at
		if len(at) > 0 && o.Alertmanager != nil { // a user's own file has no generated routes
			own = append([]int{at[0] - len(o.routes)}, at[1:]...)
		}
		return o.Origins.base(path("route", own))
	}
	out := object(key, path("spec.route", below))
	if config, exists := o.Configs[key]; o.Configs != nil {
		out.Stale = !exists || !o.has(key, config, below, receiver)
	}
	return out
}

// added reports whether the operator has added a matcher of the route at a path.
func (o origins) added(at []int, m Miss) bool {
	if len(at) != 1 || at[0] >= len(o.routes) {
		return false
	}
	namespace, _, _ := strings.Cut(o.routes[at[0]], "/")
	return m.Matcher == written(v1alpha1.Matcher{Name: "namespace", Value: namespace})
}

func object(key, field string) Origin {
	namespace, name, _ := strings.Cut(key, "/")
	return Origin{Kind: v1alpha1.AlertmanagerConfigKind, Namespace: namespace, Name: name, Field: field}
}

// named is a tree of receivers of routes, decoded at once: decoding level by level would take time
// quadratic in the depth.
type named struct {
	Receiver string  `json:"receiver"`
	Routes   []named `json:"routes"`
}

// has reports whether an object has a route at a path with the receiver.
func (o origins) has(key string, config *v1alpha1.AlertmanagerConfig, at []int, receiver string) bool {
	if _, read := o.named[key]; !read {
		o.named[key] = receiversOf(config.Spec.Route)
	}
	route := o.named[key]
	for _, i := range at {
		if route == nil || i >= len(route.Routes) {
			return false
		}
		route = &route.Routes[i]
	}
	if route == nil {
		return false
	}
	_, own, _ := owned(receiver)
	return route.Receiver == own
}

// receiversOf decodes a tree of routes, ignoring invalid parts: the operator rejects objects with
// invalid routes.
func receiversOf(route *v1alpha1.Route) *named {
	if route == nil {
		return nil
	}
	out := &named{Receiver: route.Receiver}
	for _, raw := range route.Routes {
		var child named
		_ = json.Unmarshal(raw.Raw, &child)
		out.Routes = append(out.Routes, child)
	}
	return out
}
