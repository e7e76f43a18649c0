package promworkload

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// InputHash returns [workload.Base.HashOf] of one shard. While it equals the annotation
// of the live object, the StatefulSet need not be written.
func (o *Owner) InputHash(live *appsv1.StatefulSet, pod Inputs) (string, error) {
	in := workload.HashInputs{
		RuleConfigMaps: o.ruleConfigMaps(pod),
		TLSSecrets:     pod.TLSSecrets,
		ConfigInParts:  pod.ConfigInParts && !o.PartsAhead(), // otherwise always in parts
	}
	in.HTTP2 = o.webConfig().HTTP2()
	return o.HashOf(live, in)
}
