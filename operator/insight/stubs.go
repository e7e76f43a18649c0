package insight

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/preview"
)

// Preview implements [Answers].
func (c *Cluster) Preview(ctx context.Context, r Rights, manifests []byte) (*preview.Report, error) {
	return nil, apierrors.NewServiceUnavailable("a preview cannot be made here")
}
