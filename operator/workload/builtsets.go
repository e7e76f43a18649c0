package workload

import (
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// BuiltSets holds the StatefulSets of a workload that were built last. A change of the selected objects would build the
// same ones again, which would take longer than to assemble the configuration. The zero value is empty. It is not safe
// for concurrent use.
type BuiltSets struct {
	uid     types.UID
	version string
	kept    map[int32]builtSet // by shard
	bytes   int                // of kept
}

type builtSet struct {
	in    PodInputs
	set   *appsv1.StatefulSet
	bytes int
}

// maxBuiltBytes is the maximum size in bytes of the StatefulSets that are kept for a workload, which its user
// determines. A usual one has 20 kB.
const maxBuiltBytes = 256 << 10

// Get returns the StatefulSet of a shard, which must not be modified. It calls build unless the last one was built from
// the same version of the workload and equal inputs. The settings of the operator must be the same in all calls.
//
// The version identifies the object as a whole, its metadata and status included. An object without a version, which
// does not come from an API server, is built each time. Results with an error are not kept, nor more than a workload may
// occupy.
func (k *BuiltSets) Get(owner metav1.Object, in PodInputs, build func(PodInputs) (*appsv1.StatefulSet, error)) (*appsv1.StatefulSet, error) {
	if k == nil || owner.GetResourceVersion() == "" || owner.GetUID() == "" {
		return build(in)
	}
	if k.uid != owner.GetUID() || k.version != owner.GetResourceVersion() {
		*k = BuiltSets{uid: owner.GetUID(), version: owner.GetResourceVersion(), kept: map[int32]builtSet{}}
	}
	if last, ok := k.kept[in.Shard]; ok && reflect.DeepEqual(last.in, in) {
		return last.set, nil
	}
	k.bytes -= k.kept[in.Shard].bytes
	delete(k.kept, in.Shard)
	set, err := build(in)
	if err != nil {
		return set, err
	}
	in.RuleConfigMaps = slices.Clone(in.RuleConfigMaps) // callers may reuse it
	if bytes := budget.Size(set, maxBuiltBytes); k.bytes+bytes < maxBuiltBytes {
		k.kept[in.Shard] = builtSet{in, set, bytes}
		k.bytes += bytes
	}
	return set, nil
}

// Held returns the size in bytes of the StatefulSets that are kept.
func (k *BuiltSets) Held() int { return k.bytes }
