package amconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// certsDir is the mount path of TLS assets.
const certsDir = "/etc/alertmanager/certs"

// compiler converts one AlertmanagerConfig, or the global one, to structs.
type compiler struct {
	*clientconfig.Resolver
	target  gate.Target
	labels  dialect
	globals Globals
	// prefix is prepended to the names of receivers and intervals: "namespace/name/".
	prefix string
	// size is the total size of the texts in receivers, in bytes.
	size int
	// regexps is the budget for regular expressions.
	regexps regexcost.Budget
	// matcherWork is the sum of [regexcost.Work] of the matchers.
	matcherWork int
	// isBase means that the object is the base of the Alertmanager rather than a selected object.
	isBase bool
	// secrets records values that errors must not contain.
	secrets *redact.Values
}

func newCompiler(config *v1alpha1.AlertmanagerConfig, t gate.Target, labels dialect, globals Globals, r assets.Reader) *compiler {
	secrets := &redact.Values{}
	return &compiler{
		Resolver: clientconfig.New(config.Namespace, secrets.Record(r), certsDir, t),
		target:   t, labels: labels, globals: globals, secrets: secrets,
		prefix: config.Namespace + "/" + config.Name + "/",
	}
}

// secret reports whether a scalar contains a value that errors must not contain, see [explain].
func (c *compiler) secret(_, scalar string) bool { return c.secrets.In(scalar) }

// additions are the items of an AlertmanagerConfig in each section.
type additions struct {
	route     *Route
	inhibit   []InhibitRule
	receivers []Receiver
	intervals []MuteInterval
}

// Compile compiles an AlertmanagerConfig to its items in the document.
func Compile(config *v1alpha1.AlertmanagerConfig, s *Settings, r assets.Reader) Fragment {
	c := newCompiler(config, s.target, s.data.Labels, s.data.Globals, r)
	f, err := c.fragment(config, s)
	if err != nil {
		f = Fragment{Err: err}
	} else {
		f.Regexps, f.MatcherWork = c.regexps.Spent(), c.matcherWork
	}
	f.Deps, f.Files = c.Dependencies(), c.Files()
	return f
}

func (c *compiler) fragment(config *v1alpha1.AlertmanagerConfig, s *Settings) (f Fragment, err error) {
	add, err := c.convert(config)
	if err != nil {
		return f, err
	}
	if s.enforces(config.Namespace) {
		if add.route != nil {
			add.route.enforce(config.Namespace, c.labels)
		}
		for i := range add.inhibit {
			add.inhibit[i].enforce(config.Namespace, c.labels)
		}
	}
	if add.route != nil {
		add.route.Continue = true // alerts must reach the routes of other objects, too
	}
	if err := checkTaken(add, c.globals.Taken); err != nil {
		return f, err
	}
	if f.YAML, f.Dropped, err = add.encode(c.target, noVariables); err != nil {
		return f, err
	}
	if err := checkFragmentSize(f.YAML); err != nil {
		return f, err
	}
	return f, c.try(add, f.YAML, &s.trial)
}

// convert validates config and converts it to structs. Without a route, only inhibition rules are converted.
// Its receivers are unreachable, so their Secrets and required versions are not checked.
func (c *compiler) convert(config *v1alpha1.AlertmanagerConfig) (add additions, err error) {
	route, err := validate(config)
	if err != nil {
		return add, c.withoutReceivers(config, route, err)
	}
	spec, errs := &config.Spec, faults.List{}
	if route != nil {
		for i := range spec.Receivers {
			receiver, err := c.receiver(&spec.Receivers[i])
			errs.Add(faults.Index("spec.receivers", i), err)
			receiver.Name = c.prefixed(receiver.Name)
			add.receivers = append(add.receivers, receiver)
		}
		add.route = c.route(route, &errs)
		add.intervals, err = c.muteIntervals(spec.MuteTimeIntervals)
		errs.Add("", err)
	}
	for i := range spec.InhibitRules {
		rule, err := c.inhibitRule(&spec.InhibitRules[i])
		errs.Add(faults.Index("spec.inhibitRules", i), err)
		add.inhibit = append(add.inhibit, rule)
	}
	if errs.Any() {
		return additions{}, errs.Err()
	}
	return add, nil
}

// withoutReceivers adds to the errors of validate those that only the conversion of routes and inhibition rules finds.
// Receivers are not converted, because that reads Secrets.
func (c *compiler) withoutReceivers(config *v1alpha1.AlertmanagerConfig, route *routeNode, invalid error) error {
	var more, all faults.List
	if route != nil {
		c.route(route, &more)
	}
	for i := range config.Spec.InhibitRules {
		_, err := c.inhibitRule(&config.Spec.InhibitRules[i])
		more.Add(faults.Index("spec.inhibitRules", i), err)
	}
	all.Add("", invalid)
	reported := map[string]bool{}
	for _, f := range faults.Of(invalid) {
		reported[f.Field] = true
	}
	for _, err := range faults.Leaves(more.Err()) {
		if f := faults.Of(err); !reported[f[0].Field] { // a value that cannot be decoded is empty
			all.Add("", err)
		}
	}
	return all.Err()
}

// muteIntervals converts intervals and rejects duplicate names.
func (c *compiler) muteIntervals(in []v1alpha1.MuteTimeInterval) (out []MuteInterval, err error) {
	names := map[string]bool{}
	for i := range in {
		converted, err := muteInterval(&in[i])
		if err != nil {
			return nil, faults.At(faults.Index("spec.muteTimeIntervals", i), err)
		}
		if names[in[i].Name] {
			return nil, faults.At(faults.Index("spec.muteTimeIntervals", i)+".name", fmt.Errorf("%q is used twice", in[i].Name))
		}
		names[in[i].Name] = true
		converted.Name = c.prefixed(converted.Name)
		out = append(out, converted)
	}
	return out, nil
}

// checkTaken rejects names that the base already uses.
func checkTaken(add additions, taken string) error {
	if taken == "" {
		return nil
	}
	names := strings.Split(taken, "\n")
	for i := range add.receivers {
		if _, found := slices.BinarySearch(names, add.receivers[i].Name); found {
			return faults.At(faults.Index("spec.receivers", i)+".name", fmt.Errorf("the base configuration has a receiver or time interval %q too", add.receivers[i].Name))
		}
	}
	for i := range add.intervals {
		if _, found := slices.BinarySearch(names, add.intervals[i].Name); found {
			return faults.At(faults.Index("spec.muteTimeIntervals", i)+".name", fmt.Errorf("the base configuration has a receiver or time interval %q too", add.intervals[i].Name))
		}
	}
	return nil
}
