package access

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// noPermissions denies all permission checks.
type noPermissions struct{}

// May implements [Rights].
func (noPermissions) May(context.Context, string, schema.GroupResource, string) (bool, error) {
	return false, nil
}

// Limit returns a reader that enforces the permissions of the caller.
func (a *Checker) Limit(r readers.Reader) readers.Reader {
	out := limitedReader{r, a}
	if reviewer, is := r.(readers.Reviewer); is {
		return struct {
			limitedReader
			readers.Reviewer
		}{out, reviewer}
	}
	return out
}

type limitedReader struct {
	readers.Reader
	caller *Checker
}

// Get implements [readers.Reader].
func (l limitedReader) Get(ctx context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	if !l.caller.MayResource("get", of.GroupResource(), key.Namespace) {
		return nil, apierrors.NewForbidden(of.GroupResource(), key.Name, nil)
	}
	return l.Reader.Get(ctx, of, key)
}

// List implements [readers.Reader].
func (l limitedReader) List(ctx context.Context, q readers.Query) ([]readers.Object, error) {
	if !l.caller.MayResource("list", q.GroupResource(), q.Namespace) {
		return nil, apierrors.NewForbidden(q.GroupResource(), "", nil)
	}
	return l.Reader.List(ctx, q)
}
