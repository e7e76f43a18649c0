package insight

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// Changes implements [Answers].
func (c *Cluster) Changes(ctx context.Context, each func(readers.Change)) error {
	feed, is := c.Reader.(readers.Feed)
	if !is {
		return apierrors.NewServiceUnavailable("changes are not known: what is read here is not watched")
	}
	return feed.Changes(ctx, each)
}
