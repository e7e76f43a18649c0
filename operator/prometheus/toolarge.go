package prometheus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// TooLargeError means that an owner's configuration does not fit into the Secrets that
// its pods can read. The last configuration stays.
type TooLargeError struct {
	Config, Plain, Rules int     // bytes of the configuration, compressed and plain, and of the compressed rules
	Monitors, RuleFiles  int     // how many objects these are
	Room                 int     // bytes of the Secrets
	Namespaces           []Share // those whose monitors make most of it, the largest first
	Largest              Share   // the monitor that makes most of it

	// NoReader says why the pods that are wanted cannot read parts; empty when they can.
	NoReader string
	// NotYet says which pod cannot read parts as long as it is not replaced; empty
	// when all can.
	NotYet string
}

// Share is what a namespace or an object makes of a configuration, in plain bytes.
type Share struct {
	Name  string
	Bytes int
}

const mib = 1 << 20

func (s Share) String() string { return fmt.Sprintf("%s (%.1f MiB)", s.Name, float64(s.Bytes)/mib) }

// maxNamespacesNamed bounds how many namespaces the error names.
const maxNamespacesNamed = 3

func (e *TooLargeError) Error() string {
	rules := ""
	if e.Rules > 0 {
		rules = fmt.Sprintf(" and %d rule files beyond the ConfigMaps have %.1f MiB compressed", e.RuleFiles, float64(e.Rules)/mib)
	}
	size := fmt.Sprintf("the configuration of %d monitors has %.1f MiB compressed (%.0f MiB plain)%s; ",
		e.Monitors, float64(e.Config)/mib, float64(e.Plain)/mib, rules)
	if len(e.Namespaces) > 0 {
		var names []string
		for _, s := range e.Namespaces {
			names = append(names, s.String())
		}
		size += fmt.Sprintf("most of it is from the namespaces %s, the largest object is %s; ", strings.Join(names, ", "), e.Largest)
	}
	const divide = "let several Prometheus objects select the monitors and rules (by labels or namespaces); spec.shards does not help, because every shard has the whole configuration"
	switch {
	case e.NoReader != "":
		return size + fmt.Sprintf("one Secret holds %.1f MiB, and %s: use the config-reloader of this operator, "+
			"or name the image's repository with --parts-capable-reloaders if it is that one under another name; or %s. The last written configuration stays in use",
			float64(e.Room)/mib, e.NoReader, divide)
	case e.NotYet != "":
		return size + fmt.Sprintf("one Secret holds %.1f MiB. It is written in parts as soon as all pods can read them; now %s. The last written configuration stays in use until then",
			float64(e.Room)/mib, e.NotYet)
	}
	return size + fmt.Sprintf("the Secrets that pods mount hold %.1f MiB: %s. The last written configuration stays in use", float64(e.Room)/mib, divide)
}

func tooLarge(plan *Plan, in Inputs, docs *Documents, e TooLargeError) error {
	e.Config, e.Plain, e.RuleFiles = plan.Config.Length, plan.Config.Size, len(in.RulePlan.Overflow)
	if e.RuleFiles > 0 {
		e.Rules = docs.rules.Length()
	}
	e.origin(in.Monitors)
	return &e
}

// origin counts monitors and what they make.
func (e *TooLargeError) origin(monitors []Monitor) {
	byNamespace := map[string]int{}
	for _, m := range monitors {
		if m.Err != nil {
			continue
		}
		e.Monitors++
		bytes := m.Piece.Size()
		byNamespace[m.Object.GetNamespace()] += bytes
		if bytes > e.Largest.Bytes {
			e.Largest = Share{m.Kind + " " + m.Object.GetNamespace() + "/" + m.Object.GetName(), bytes}
		}
	}
	for name, bytes := range byNamespace {
		e.Namespaces = append(e.Namespaces, Share{name, bytes})
	}
	slices.SortFunc(e.Namespaces, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	e.Namespaces = e.Namespaces[:min(len(e.Namespaces), maxNamespacesNamed)]
}

// withheld is the plan when the configuration is too large: nothing of its content,
// and the pods as they fit to the content that stays. So whatever else is asked of
// them happens, and they become such as can read parts. Where the last configuration
// is in parts and the wanted pods could not read it, they are left alone too.
func withheld(o Owner, owner *workload.Owner, in Inputs, cfg workload.Config, why *TooLargeError) (Plan, error) {
	plan := Plan{}
	main := in.secret(owner.ConfigSecretName())
	if main == nil || !owner.Owns(main) || why.NoReader != "" && inParts(main) {
		return plan, why
	}
	var ruleConfigMaps []string
	for _, m := range in.RuleConfigMaps {
		ruleConfigMaps = append(ruleConfigMaps, m.Name)
	}
	pod := workload.Inputs{
		RuleConfigMaps: ruleConfigMaps, TLSSecrets: in.tlsSecrets(owner), ConfigInParts: why.NoReader == "" || in.readsParts(),
	}
	if err := plan.workloads(o, owner, in, cfg, pod); err != nil {
		return plan, err
	}
	return plan, why
}

// tlsSecrets is how many Secrets of TLS assets there are now.
func (in *Inputs) tlsSecrets(owner *workload.Owner) int {
	n := 0
	for in.secret(owner.TLSAssetSecretName(n)) != nil {
		n++
	}
	return n
}
