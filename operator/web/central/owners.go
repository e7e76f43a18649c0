package central

import (
	"cmp"
	"fmt"
	"strings"

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

// ownersOf returns the owners of the StatefulSets of all workloads. before are the results of the last call: the names
// of two workloads can result in the same StatefulSet, which the operator leaves to the workload that has it.
func ownersOf(all []choice, before map[types.NamespacedName]feed.Owner) map[types.NamespacedName]feed.Owner {
	out, by := map[types.NamespacedName]feed.Owner{}, map[types.NamespacedName]choice{}
	for _, c := range all {
		account := c.Object.GetWorkloadFields().ServiceAccountName
		for i, set := range c.Setup.Shape(c.Object).Sets {
			name := types.NamespacedName{Namespace: c.Object.GetNamespace(), Name: set.Name}
			if rival, shared := by[name]; shared && rival.precedes(c, before[name].Shard.Workload) {
				continue
			}
			by[name] = c
			out[name] = feed.Owner{Shard: feed.Shard{Workload: c.Ref(), Number: i}, ServiceAccount: account, Refused: c.refused}
		}
	}
	return out
}

// precedes reports whether c, and not rival, has the StatefulSet that results from both names: one that the operator
// manages, that has had it before, or that is older.
func (c choice) precedes(rival choice, before catalog.Ref) bool {
	if managed := c.Unmanaged() == ""; managed != (rival.Unmanaged() == "") {
		return managed
	}
	if before == c.Ref() || before == rival.Ref() {
		return before == c.Ref()
	}
	mine, its := c.Object.GetCreationTimestamp(), rival.Object.GetCreationTimestamp()
	return cmp.Or(mine.Compare(its.Time), strings.Compare(c.Ref().String(), rival.Ref().String())) < 0
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
