package explain

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// FromApplied asks about an object of a cluster to which manifests were applied. r reads that
// cluster. The manifests were read for the kinds, with faults: those of objects that have no
// part in the answer do not matter.
//
// Errors: the manifest of the object has faults; those of [FromCluster].
func FromApplied(ctx context.Context, r readers.Reader, o *manifests.Objects, wrong []manifests.Fault, setups []engine.Setup, n Name) (Question, error) {
	if err := faultsOf(wrong, n.row.Kind, n.Namespace, n.Name, true); err != nil {
		return Question{}, faulty(lint.Examine(o, wrong, Kinds(setups), lint.Options{}), n, err)
	}
	if err := faultsOf(wrong, "", "", "", true); err != nil {
		return Question{}, err // the object, or a workload, may be in a document that cannot be read
	}
	q, err := FromCluster(ctx, r, setups, n)
	if err != nil {
		return q, err
	}
	q.AsWritten = o.AsWritten
	for i := range q.Workloads {
		c := &q.Workloads[i]
		c.Faults = manifestFaults(wrong, c.Setup.Kind.Kind, c.Object.GetNamespace(), c.Object.GetName())
	}
	return q, nil
}
