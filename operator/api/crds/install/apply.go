package install

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// fieldManager is the field manager of our server-side apply.
const fieldManager = "PrometheusOperator"

// Outcome is the outcome of applying one CRD.
type Outcome string

// Values of Outcome.
const (
	Created    Outcome = "created"
	Configured Outcome = "configured"
	Unchanged  Outcome = "unchanged"
)

// Progress has the callbacks of [Apply]. They are called from one goroutine.
type Progress struct {
	Applied func(name string, outcome Outcome)
	Waiting func(names []string) // every two seconds, with the CRDs that are not established yet
}

// Apply applies the CRDs and returns when all of them are established or the context
// ends. A step takes some hundred milliseconds on the API server.
//
// Errors: those of the API server with the CRD; a CRD whose names conflict with another
// one.
func Apply(ctx context.Context, c definitions.Interface, steps []Step, progress Progress) error {
	for _, step := range steps {
		outcome, err := step.apply(ctx, c)
		if err != nil {
			return fmt.Errorf("apply CRD %s: %w", step.Want.Name, err)
		}
		progress.Applied(step.Want.Name, outcome)
	}
	return wait(ctx, c, steps, progress)
}

func (s Step) apply(ctx context.Context, c definitions.Interface) (Outcome, error) {
	body, err := json.Marshal(crds.NewManifest(s.Want))
	if err != nil {
		return "", err
	}
	live := s.Live
	if live != nil {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			err := takeOver(ctx, c, live)
			if apierrors.IsConflict(err) {
				fresh, getErr := c.Get(ctx, live.Name, metav1.GetOptions{})
				if getErr != nil {
					return getErr
				}
				live = fresh
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	force := true
	now, err := c.Patch(ctx, s.Want.Name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: fieldManager, Force: &force})
	switch {
	case err != nil:
		return "", err
	case live == nil:
		return Created, nil
	case now.Generation == live.Generation && len(metadataDiff(s.Want, live)) == 0:
		return Unchanged, nil
	}
	return Configured, nil
}
