package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Stems of names between that of the workload and a number.
const (
	configPartStem = "-config-part-"
	tlsAssetsStem  = "-tls-assets-"
	rulesStem      = "-rulefiles-"
)

// PrefixedName returns the prefix of all other names: "prometheus-k8s".
func (b *Base) PrefixedName() string { return b.Kind.Prefix + "-" + b.Meta.Name }

// ConfigSecretName returns the name of the Secret with the configuration.
func (b *Base) ConfigSecretName() string { return b.PrefixedName() + b.Kind.ConfigSecret.Suffix }

// ConfigPartName returns the name of the Secret with the i-th part of the configuration, from 1.
func (b *Base) ConfigPartName(i int) string { return b.PrefixedName() + configPartSuffix(i) }

// WebConfigSecretName returns the name of the Secret with the web configuration.
func (b *Base) WebConfigSecretName() string { return b.PrefixedName() + "-web-config" }

// TLSAssetSecretName returns the name of the i-th Secret of TLS assets.
func (b *Base) TLSAssetSecretName(i int) string {
	return fmt.Sprintf("%s%s%d", b.PrefixedName(), tlsAssetsStem, i)
}

// RuleConfigMapBase returns the prefix of the names of rule ConfigMaps.
func (b *Base) RuleConfigMapBase() string {
	return b.PrefixedName() + strings.TrimSuffix(rulesStem, "-")
}

// Divided reports whether a Secret or ConfigMap holds a share of a workload's content, by its name: the configuration
// and its parts, TLS assets and rules. The distribution of new content depends on their current content.
func (k Kind) Divided(workload, name string) bool {
	suffix, ok := strings.CutPrefix(name, k.Prefix+"-"+workload)
	if !ok {
		return false
	}
	number := strings.TrimLeft(suffix, "-abcdefghijklmnopqrstuvwxyz")
	switch stem := strings.TrimSuffix(suffix, number); stem {
	case rulesStem, tlsAssetsStem, configPartStem:
		i, err := strconv.Atoi(number)
		return err == nil && strconv.Itoa(i) == number
	}
	return suffix == k.ConfigSecret.Suffix
}

// PadRuleConfigMaps adds names of ConfigMaps that need not exist, up to the minimum number that pods mount,
// and sorts the names. The volumes are optional, so that rules can grow without new pods. The result is the
// input for StatefulSet, InputHash and rule_files.
func (b *Base) PadRuleConfigMaps(names []string) []string {
	most := wellknown.MountedRuleConfigMaps
	if b.Config.Layout != LayoutSingle && !(b.Kind.ConfigCarriesRules && b.partsAhead()) {
		most = wellknown.MountedRuleConfigMapsAlone
	}
	return b.padRuleConfigMaps(names, most)
}

// padRuleConfigMaps adds the lowest unused names until there are n, and sorts them.
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

// GrowRuleConfigMaps is like [Base.PadRuleConfigMaps] for pods that mount the ConfigMaps of live, which may
// be nil: if the rules exceed the mounted ConfigMaps, their number is doubled, and mounted ones remain
// mounted. Rules that grow and shrink in a loop thus replace pods at most four times. The single layout
// only mounts names.
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

// ServiceName returns the name of the Service that governs the StatefulSets: the object's or the default.
func (b *Base) ServiceName() string {
	if b.CustomService() {
		return b.Fields.ServiceName
	}
	return b.Kind.Service
}

// CustomService reports whether the object names its own Service. The default Service is then neither
// created nor deleted.
func (b *Base) CustomService() bool { return b.Fields.ServiceName != "" }

// childName is a name or label value that is derived from a field of the object.
type childName struct {
	field, what, value string
	check              func(string) []string
}

// CheckNames rejects an object whose valid name results in objects or pods that the API server rejects.
// version is a label value of the pods, set is the name of a StatefulSet or empty, and volumes are the
// volumes that are named after objects.
func (b *Base) CheckNames(version, set string, volumes []string) error {
	const name = "metadata.name"
	all := []childName{
		{name, "label " + b.Kind.NameLabels[0], b.Meta.Name, validation.IsValidLabelValue},
		{"spec.version", "label " + wellknown.LabelAppVersion, version, validation.IsValidLabelValue},
	}
	if set != "" {
		// The hostname of the last pod, which is also a label value.
		last := fmt.Sprintf("%s-%d", set, max(b.Replicas()-1, 0))
		all = append(all, childName{name, "pod", last, validation.IsDNS1123Label})
		// The StatefulSet controller appends a hash of 10 characters.
		all = append(all, childName{name, "label " + appsv1.ControllerRevisionHashLabelKey, set + "-" + strings.Repeat("0", 10), validation.IsValidLabelValue})
	}
	for _, v := range volumes {
		all = append(all, childName{name, "volume", v, validation.IsDNS1123Label})
	}
	for _, c := range all {
		if wrong := c.check(c.value); len(wrong) > 0 {
			return faults.At(c.field, fmt.Errorf("results in the %s %q, which the API server rejects: %s", c.what, c.value, wrong[0]))
		}
	}
	return nil
}
