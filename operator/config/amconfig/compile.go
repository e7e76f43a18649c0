package amconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// certsDir is where the containers find TLS assets.
const certsDir = "/etc/alertmanager/certs"

// compiler turns one AlertmanagerConfig, or the global one, into structs.
type compiler struct {
	*clientconfig.Resolver
	target  gate.Target
	labels  dialect
	globals Globals
	// prefix of the names of receivers and intervals: "namespace/name/".
	prefix string
	// size of the texts in receivers so far, in bytes.
	size int
	// regexps bounds the regular expressions.
	regexps regexcost.Budget
	// isBase says that the object is the base of the Alertmanager, not one it selects.
	isBase bool
	// secrets notes what must not appear in an error.
	secrets *secretReader
}

func newCompiler(config *v1alpha1.AlertmanagerConfig, t gate.Target, labels dialect, globals Globals, r assets.Reader) *compiler {
	secrets := &secretReader{Reader: r}
	return &compiler{
		Resolver: clientconfig.New(config.Namespace, secrets, certsDir, t),
		target:   t, labels: labels, globals: globals, secrets: secrets,
		prefix: config.Namespace + "/" + config.Name + "/",
	}
}

// additions are what an AlertmanagerConfig has for each section.
type additions struct {
	route     *Route
	inhibit   []InhibitRule
	receivers []Receiver
	intervals []MuteInterval
}

// Compile turns an AlertmanagerConfig into what it adds to the document.
func Compile(config *v1alpha1.AlertmanagerConfig, s *Settings, r assets.Reader) Fragment {
	c := newCompiler(config, s.target, s.data.Labels, s.data.Globals, r)
	f, err := c.fragment(config, s)
	if err != nil {
		f = Fragment{Err: err}
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
		add.route.Continue = true // alerts must reach the routes of others too
	}
	if err := checkTaken(add, c.globals.Taken); err != nil {
		return f, err
	}
	if f.YAML, f.Dropped, err = add.encode(c.target); err != nil {
		return f, err
	}
	if err := checkFragmentSize(f.YAML); err != nil {
		return f, err
	}
	if err := literalVariables(f.YAML); err != nil {
		return f, err
	}
	return f, c.try(add, f.YAML, &s.trial)
}

// convert checks config and turns it into structs. One without a route adds its inhibition
// rules only; nothing leads to its receivers, so neither their Secrets nor what they need of a version matters.
func (c *compiler) convert(config *v1alpha1.AlertmanagerConfig) (add additions, err error) {
	route, err := validate(config)
	if err != nil {
		return add, err
	}
	spec, wrong := &config.Spec, faults.List{}
	if route != nil {
		for i := range spec.Receivers {
			receiver, err := c.receiver(&spec.Receivers[i])
			addBelow(&wrong, fmt.Sprintf("spec.receivers[%d].", i), err)
			receiver.Name = c.prefixed(receiver.Name)
			add.receivers = append(add.receivers, receiver)
		}
		add.route = c.route(route, &wrong)
		add.intervals, err = c.muteIntervals(spec.MuteTimeIntervals)
		wrong.Add("", err)
	}
	for i := range spec.InhibitRules {
		rule, err := c.inhibitRule(&spec.InhibitRules[i])
		addBelow(&wrong, fmt.Sprintf("spec.inhibitRules[%d].", i), err)
		add.inhibit = append(add.inhibit, rule)
	}
	if wrong.Any() {
		return additions{}, wrong.Err()
	}
	return add, nil
}

// muteIntervals converts intervals and refuses names that are used twice.
func (c *compiler) muteIntervals(in []v1alpha1.MuteTimeInterval) (out []MuteInterval, err error) {
	names := map[string]bool{}
	for i := range in {
		converted, err := muteInterval(&in[i])
		if err != nil {
			return nil, fmt.Errorf("spec.muteTimeIntervals[%d].%w", i, err)
		}
		if names[in[i].Name] {
			return nil, fmt.Errorf("spec.muteTimeIntervals[%d].name: %q is used twice", i, in[i].Name)
		}
		names[in[i].Name] = true
		converted.Name = c.prefixed(converted.Name)
		out = append(out, converted)
	}
	return out, nil
}

// checkTaken refuses names that the base has already.
func checkTaken(add additions, taken string) error {
	if taken == "" {
		return nil
	}
	names := strings.Split(taken, "\n")
	for i := range add.receivers {
		if _, found := slices.BinarySearch(names, add.receivers[i].Name); found {
			return fmt.Errorf("spec.receivers[%d].name: the base configuration has a receiver or time interval %q too", i, add.receivers[i].Name)
		}
	}
	for i := range add.intervals {
		if _, found := slices.BinarySearch(names, add.intervals[i].Name); found {
			return fmt.Errorf("spec.muteTimeIntervals[%d].name: the base configuration has a receiver or time interval %q too", i, add.intervals[i].Name)
		}
	}
	return nil
}
