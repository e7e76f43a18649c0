package workload

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// PrefixedName is the base of all other names: "prometheus-k8s".
func (b *Base) PrefixedName() string { return b.Kind.Prefix + "-" + b.Meta.Name }

// ConfigSecretName is the Secret with the configuration.
func (b *Base) ConfigSecretName() string { return b.PrefixedName() + b.Kind.ConfigSecret.Suffix }

// ConfigPartName is the Secret with the i-th part of the configuration, from 1.
func (b *Base) ConfigPartName(i int) string { return b.PrefixedName() + configPartSuffix(i) }

// WebConfigSecretName is the Secret with the web configuration.
func (b *Base) WebConfigSecretName() string { return b.PrefixedName() + "-web-config" }

// TLSAssetSecretName is the i-th Secret of TLS assets.
func (b *Base) TLSAssetSecretName(i int) string {
	return fmt.Sprintf("%s-tls-assets-%d", b.PrefixedName(), i)
}

// RuleConfigMapBase begins the names of the ConfigMaps of rules.
func (b *Base) RuleConfigMapBase() string { return b.PrefixedName() + "-rulefiles" }

// PadRuleConfigMaps adds names of ConfigMaps that do not exist (yet) until there are as
// many as pods mount at least, sorted: the volumes are optional, so rules can grow into
// them without a new pod. The result is what StatefulSet, InputHash and rule_files take.
func (b *Base) PadRuleConfigMaps(names []string) []string {
	most := wellknown.MountedRuleConfigMaps
	if b.Config.Layout != LayoutSingle && !(b.Kind.ConfigCarriesRules && b.PartsAhead()) {
		most = wellknown.MountedRuleConfigMapsAlone
	}
	return b.padRuleConfigMaps(names, most)
}

// padRuleConfigMaps adds the lowest names that are free until there are n, and sorts them.
func (b *Base) padRuleConfigMaps(names []string, n int) []string {
	out := slices.Clone(names)
	for i := 0; len(out) < n; i++ {
		if name := wellknown.RuleConfigMapName(b.RuleConfigMapBase(), i); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// GrowRuleConfigMaps is [Base.PadRuleConfigMaps] for pods that mount those of live, which may be nil: rules
// that exceed them get room for as many again, and what pods mount stays mounted. So rules that grow and
// shrink in a loop replace pods four times at most. The layout single mounts what there is.
func (b *Base) GrowRuleConfigMaps(names []string, live *appsv1.StatefulSet) []string {
	if b.Config.Layout == LayoutSingle {
		return names
	}
	out, room := b.PadRuleConfigMaps(names), wellknown.MountedRuleConfigMapsAlone
	if len(out) < room {
		return out
	}
	if live != nil {
		prefix := b.RuleConfigMapBase() + "-"
		mounted := 0
		for _, v := range live.Spec.Template.Spec.Volumes {
			if v.ConfigMap != nil && strings.HasPrefix(v.ConfigMap.Name, prefix) {
				mounted++
			}
		}
		room = min(max(room, mounted), budget.RuleConfigMaps)
	}
	for room < len(out) {
		room *= 2
	}
	return b.padRuleConfigMaps(out, min(room, budget.RuleConfigMaps))
}

// ServiceName is the Service that governs the StatefulSets: the object's or the
// default one.
func (b *Base) ServiceName() string {
	if b.CustomService() {
		return b.Fields.ServiceName
	}
	return b.Kind.Service
}

// CustomService reports whether the object names its own Service; then the
// default one is neither created nor deleted.
func (b *Base) CustomService() bool { return b.Fields.ServiceName != "" }

// childName is a name or label value that a field of the object leads to.
type childName struct {
	field, what, value string
	check              func(string) []string
}

// CheckNames refuses an object whose name is legal and leads to objects or pods that
// the API server refuses. version is the label of the pods, set the name of a
// StatefulSet or empty, and volumes are those with names of their own objects.
func (b *Base) CheckNames(version, set string, volumes []string) error {
	const name = "metadata.name"
	all := []childName{
		{name, "label " + b.Kind.NameLabels[0], b.Meta.Name, validation.IsValidLabelValue},
		{"spec.version", "label " + wellknown.LabelAppVersion, version, validation.IsValidLabelValue},
	}
	if set != "" {
		// The hostname of the last pod, which is also the value of a label.
		last := fmt.Sprintf("%s-%d", set, max(b.Replicas()-1, 0))
		all = append(all, childName{name, "pod", last, validation.IsDNS1123Label})
		// The StatefulSet's controller adds a hash of 10 characters.
		all = append(all, childName{name, "label " + appsv1.ControllerRevisionHashLabelKey, set + "-" + strings.Repeat("0", 10), validation.IsValidLabelValue})
	}
	for _, v := range volumes {
		all = append(all, childName{name, "volume", v, validation.IsDNS1123Label})
	}
	for _, c := range all {
		if wrong := c.check(c.value); len(wrong) > 0 {
			return fmt.Errorf("%s: results in the %s %q, which the API server rejects: %s", c.field, c.what, c.value, wrong[0])
		}
	}
	return nil
}
