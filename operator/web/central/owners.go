package central

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// choice is a workload with its choice of central discovery.
type choice struct {
	explain.Candidate
	// refused is the reason why it has no lists; empty if it has.
	refused string
}

// choose reads the annotation of a workload. With an invalid value, the operator keeps the last valid
// configuration, and it keeps its lists if it has any.
func choose(c explain.Candidate, has bool) choice {
	out := choice{Candidate: c}
	mode, err := wellknown.ParseTargetDiscovery(c.Object.GetAnnotations())
	switch why := c.Unmanaged(); {
	case why != "":
		out.refused = "it is not managed by the operator: " + why
	case err != nil && !has:
		out.refused = fmt.Sprintf("annotation %s: %v", wellknown.AnnotationTargetDiscovery, err)
	case err == nil && !mode.Central():
		out.refused = fmt.Sprintf("annotation %s is %s", wellknown.AnnotationTargetDiscovery, mode)
	case c.Setup.Shape(c.Object).DaemonSet != "":
		out.refused = "each of its pods discovers the targets of its node"
	}
	return out
}

// ownersOf returns the owners of the StatefulSets of all workloads.
func ownersOf(all []choice) map[types.NamespacedName]feed.Owner {
	out := map[types.NamespacedName]feed.Owner{}
	for _, c := range all {
		account := c.Object.GetWorkloadFields().ServiceAccountName
		for i, set := range c.Setup.Shape(c.Object).Sets {
			out[types.NamespacedName{Namespace: c.Object.GetNamespace(), Name: set.Name}] = feed.Owner{
				Shard: feed.Shard{Workload: c.Ref(), Number: i}, ServiceAccount: account, Refused: c.refused,
			}
		}
	}
	return out
}

// central returns the workloads that have lists.
func central(all []choice) map[catalog.Ref]choice {
	out := map[catalog.Ref]choice{}
	for _, c := range all {
		if c.refused == "" {
			out[c.Ref()] = c
		}
	}
	return out
}
