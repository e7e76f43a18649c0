package insight

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/preview"
)

// Routes implements [Answers].
func (c *Cluster) Routes(ctx context.Context, r Rights, am types.NamespacedName, labels []string) (*Routes, error) {
	return nil, apierrors.NewServiceUnavailable("routes are not known here")
}

// Preview implements [Answers].
func (c *Cluster) Preview(ctx context.Context, r Rights, manifests []byte) (*preview.Report, error) {
	return nil, apierrors.NewServiceUnavailable("a preview cannot be made here")
}
