package commands

import (
	"context"
	"io"

	"github.com/Masterminds/semver/v3"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/evidence"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
)

// input is the input of a command, with the operator that manages it.
type input struct {
	explain.Input
	options    *userOptions // with the flags of an operator among the manifests
	kubernetes *semver.Version
	kube       kubernetes.Interface // nil if only manifests are read
	look       nearmiss.Look        // for hints
}

// loadFunc reads manifests: loadAll or loadSound.
type loadFunc func(files []string, kinds []*engine.Kind) (*manifests.Objects, []manifests.Fault, error)

// loadAll reads manifests with faults.
func loadAll(files []string, kinds []*engine.Kind) (*manifests.Objects, []manifests.Fault, error) {
	objects, faults := manifests.LoadAll(files, kinds)
	return objects, faults, nil
}

// loadSound reads manifests.
//
// Errors: manifests have faults; they are listed with their lines.
func loadSound(files []string, kinds []*engine.Kind) (*manifests.Objects, []manifests.Fault, error) {
	objects, wrong := manifests.LoadSound(files, kinds, false)
	return objects, nil, lint.Unsound(objects, wrong)
}

// open reads the manifests, and connects to the cluster unless only manifests are read. version is
// the Kubernetes version of manifests alone.
//
// Errors: the manifests cannot be loaded; the cluster cannot be reached; a flag is invalid.
func (a *appliedFiles) open(ctx context.Context, o *userOptions, version string, load loadFunc, stderr io.Writer) (in input, err error) {
	var cluster apiserver.Reader
	reads := a.readsCluster(&o.connection)
	if reads {
		if cluster, version, err = a.connect(ctx, &o.connection); err != nil {
			return in, err
		}
		in.kube = cluster.Kube
	}
	if in.kubernetes, err = parseKubernetes(version); err != nil {
		return in, err
	}
	in.options = o
	if in.Setups, in.Scopes, err = o.setups(in.kubernetes); err != nil {
		return in, err
	}
	if len(a.files) > 0 {
		defer o.reading(a.files...)()
		if in.Manifests, in.Faults, err = load(a.files, explain.Kinds(in.Setups)); err != nil {
			return in, err
		}
		if in.options, in.Setups, in.Scopes, err = o.setupsOf(in.Manifests, in.kubernetes, stderr); err != nil {
			return in, err
		}
	}
	switch {
	case !reads:
		in.look = static.Look(in.Manifests)
		return in, nil
	case in.Manifests == nil:
		in.Reader = cluster
	default:
		in.Reader = overlay.Over(cluster, in.Manifests)
	}
	in.look = evidence.New(ctx, in.Reader).Look
	return in, nil
}
