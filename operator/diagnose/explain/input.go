package explain

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Input is the source of the answers of a command: manifests, a cluster, or a cluster with manifests
// applied.
type Input struct {
	Setups []engine.Setup
	Scopes engine.Scopes
	// Manifests and the Faults found when they were read; nil without manifests.
	Manifests *manifests.Objects
	Faults    []manifests.Fault
	// Reader reads the cluster, with the manifests applied; nil for the manifests alone.
	Reader readers.Reader
}

// Live reports whether a cluster is read.
func (in Input) Live() bool { return in.Reader != nil }

// Where returns the location of objects for messages.
func (in Input) Where() string {
	if in.Live() {
		return "in the cluster"
	}
	return "among the manifests"
}

// Question builds the question about an object.
//
// Errors: the object does not exist, or its manifest has faults; the cluster cannot be read.
func (in Input) Question(ctx context.Context, n Name) (Question, error) {
	switch {
	case !in.Live():
		return FromManifests(in.Manifests, in.Faults, in.Setups, n)
	case in.Manifests == nil:
		return fromCluster(ctx, in.Reader, in.Setups, n)
	}
	return fromApplied(ctx, in.Reader, in.Manifests, in.Faults, in.Setups, n)
}
