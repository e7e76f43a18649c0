package explain

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// fromApplied builds the question about an object of a cluster, read with r, to which the
// manifests were applied. wrong are the faults found when the manifests were read; faults of
// unrelated objects are ignored.
//
// Errors: the manifest of the object has faults; those of [fromCluster].
func fromApplied(ctx context.Context, r readers.Reader, o *manifests.Objects, wrong []manifests.Fault, setups []engine.Setup, n Name) (Question, error) {
	if err := faulty(o, wrong, setups, n); err != nil {
		return Question{}, err
	}
	if err := unreadable(o, wrong); err != nil {
		return Question{}, err // the object, or a workload, may be in an unreadable document
	}
	q, err := fromCluster(ctx, r, setups, n)
	if err != nil {
		return q, err
	}
	q.AsWritten = o.AsWritten
	for i := range q.Workloads {
		c := &q.Workloads[i]
		c.Faults = manifestFaults(wrong, c.Ref())
	}
	return q, nil
}
