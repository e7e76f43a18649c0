package workload

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
)

// childName is a name or label value that a field of the owner leads to.
type childName struct {
	field, what, value string
	check              func(string) []string
}

// checkNames refuses an owner whose name is legal and leads to objects or pods that
// the API server refuses.
func (o *Owner) checkNames(in Inputs, match map[string]string) error {
	const name = "metadata.name"
	all := []childName{
		{name, "label " + LabelOwnerName, o.meta.Name, validation.IsValidLabelValue},
		{"spec.version", "label " + LabelAppVersion, o.podMeta(match).Labels[LabelAppVersion], validation.IsValidLabelValue},
	}
	if !o.daemonSet {
		// The hostname of the last pod, which is also the value of a label.
		last := fmt.Sprintf("%s-%d", o.shardName(in.Shard), max(o.Replicas()-1, 0))
		all = append(all, childName{name, "pod", last, validation.IsDNS1123Label})
	}
	for _, cm := range o.ruleConfigMaps(in) {
		all = append(all, childName{name, "volume", cm, validation.IsDNS1123Label})
	}
	for _, c := range all {
		if wrong := c.check(c.value); len(wrong) > 0 {
			return fmt.Errorf("%s: results in the %s %q, which the API server rejects: %s", c.field, c.what, c.value, wrong[0])
		}
	}
	return nil
}
