package insight

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/online"
)

// Changes implements [Answers].
func (c *Cluster) Changes(ctx context.Context, each func(online.Change)) error {
	feed, is := c.Reader.(online.Feed)
	if !is {
		return apierrors.NewServiceUnavailable("changes are not known: what is read here is not watched")
	}
	return feed.Changes(ctx, each)
}
