package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

var (
	// ruleGroups matches the beginning of a rule file of Prometheus, and ruleNames a rule in it.
	ruleGroups = lazyregexp.New(`(?m)^groups:`)
	ruleNames  = lazyregexp.New(`(?m)(?:^|[{,])[ \t]*(?:- )?(?:alert|record):`)
	// otherReaders are parts of the names of ConfigMaps with rules for others: Loki, and those that an operator writes.
	otherReaders = []string{"loki", "mimir", "cortex", "rulefiles"}
)

// maxRuleFile is the maximum length in bytes of a value of a ConfigMap in which rules are looked for.
const maxRuleFile = 1 << 20

// rulesInConfigMaps reports rules in ConfigMaps, which no workload of the operator reads, beside a workload that would
// evaluate them in a PrometheusRule.
func (l *linter) rulesInConfigMaps() {
	i := slices.IndexFunc(l.made, func(m made) bool {
		return m.workload.Kind.SelectsBy(catalog.PrometheusRule.Kind).Row != nil && !l.standsIn(m.workload.String())
	})
	if i < 0 {
		return
	}
	to, mounted := l.made[i].workload, l.mounted()
	for _, ref := range l.objects.References.All(assets.ConfigMap) {
		if slices.ContainsFunc(otherReaders, func(part string) bool { return strings.Contains(ref.Name, part) }) || mounted[ref.Namespace+"/"+ref.Name] {
			continue
		}
		o, err := l.objects.References.Object(ref)
		if err != nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(o.Values)) {
			text := o.Values[key]
			if len(text) > maxRuleFile || !ruleGroups.Match(text) || !ruleNames.Match(text) {
				continue
			}
			at := Finding{Kind: ref.Kind.String(), Namespace: ref.Namespace, Name: ref.Name}
			l.note(at)(fmt.Sprintf("data[%q]", key), "has rules of Prometheus, and %s evaluates those of PrometheusRules only: put the groups below spec of a PrometheusRule that its spec.ruleSelector selects, as operator convert does", to)
			break
		}
	}
}

// mounted returns the ConfigMaps that pods mount, other than those of the operator, by namespace and name.
func (l *linter) mounted() map[string]bool {
	out := map[string]bool{}
	for _, o := range l.objects.Native() {
		spec, _ := manifests.PodSpec(o)
		if spec == nil {
			continue
		}
		for i := range spec.Volumes {
			for _, name := range configMapsOf(&spec.Volumes[i]) {
				out[o.GetNamespace()+"/"+name] = true
			}
		}
	}
	return out
}

func configMapsOf(v *corev1.Volume) (out []string) {
	if v.ConfigMap != nil {
		out = append(out, v.ConfigMap.Name)
	}
	if v.Projected != nil {
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil {
				out = append(out, s.ConfigMap.Name)
			}
		}
	}
	return out
}

// mostManagers is the maximum number of Alertmanagers of a Prometheus that are compared with those of others.
const mostManagers = 8

// alertsTwice reports Prometheus objects that send the alerts of the same rules to the same Alertmanager, where they
// are different alerts because of the label with the name of the Prometheus.
func (l *linter) alertsTwice() {
	first := map[string]*v1.Prometheus{} // by rule and Alertmanager
	for _, m := range l.made {
		p, is := m.workload.Object.(*v1.Prometheus)
		if !is || m.outcome.Err != nil || m.outcome.Plan.Reason == engine.ReasonConfigUnmanaged || p.Spec.Alerting == nil || ptr.Deref(p.Spec.PrometheusExternalLabelName, "") == "" && p.Spec.PrometheusExternalLabelName != nil {
			continue
		}
		var other *v1.Prometheus
		var both []string
		for _, v := range l.outcome(m).Results {
			if v.Err != nil || !hasAlerts(v.Object) {
				continue
			}
			for i := range p.Spec.Alerting.Alertmanagers[:min(mostManagers, len(p.Spec.Alerting.Alertmanagers))] {
				am := &p.Spec.Alerting.Alertmanagers[i]
				id := fmt.Sprintf("%s/%s %s/%s", v.Object.GetNamespace(), v.Object.GetName(), cmp.Or(am.Namespace, p.Namespace), am.Name)
				before := first[id]
				if before == nil {
					first[id] = p
				} else if before != p && (other == nil || other == before) {
					other = before
					both = append(both, v.Object.GetNamespace()+"/"+v.Object.GetName())
				}
			}
		}
		if other == nil {
			continue
		}
		more := ""
		if both = slices.Compact(both); len(both) > 1 {
			more = fmt.Sprintf(" and %d more", len(both)-1)
		}
		l.note(about(m.workload.Ref()))("spec.ruleSelector", "selects PrometheusRule %s%s, as Prometheus %s/%s does, and both send alerts to the same Alertmanager, where they differ by the label prometheus, so that each is notified twice: let each select other rules, such as by a label",
			both[0], more, other.Namespace, other.Name)
	}
}

// partial matches expressions whose result depends on the targets of other shards.
var partial = lazyregexp.New(`\b(?:absent|absent_over_time|sum|count|avg|min|max|quantile)\b\s*(?:\(|by|without)`)

// shardedRules reports rules that each shard of a Prometheus evaluates with a part of the targets.
func (l *linter) shardedRules(self Finding, w dryrun.Workload, selected []fragments.Result) {
	p, is := w.Object.(*v1.Prometheus)
	if !is || ptr.Deref(p.Spec.Shards, 0) < 2 {
		return
	}
	for _, v := range selected {
		r, is := v.Object.(*v1.PrometheusRule)
		if !is || v.Err != nil {
			continue
		}
		for _, group := range r.Spec.Groups {
			for i := range group.Rules {
				if rule := &group.Rules[i]; partial.MatchString(rule.Expr.String()) {
					name := rule.Alert + rule.Record
					l.note(self)("spec.shards", "each of the %d shards evaluates all rules with its own targets only: in %s of PrometheusRule %s/%s and others, sums are those of a part, and absent(…) fires on shards that do not have the target; let a ThanosRuler evaluate such rules", *p.Spec.Shards, name, r.Namespace, r.Name)
					return
				}
			}
		}
	}
}
