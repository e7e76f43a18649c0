package overlay

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// rbac are the resources that grant permissions.
var rbac = []schema.GroupVersionResource{readers.Roles, readers.RoleBindings, readers.ClusterRoles, readers.ClusterRoleBindings}

// May implements [readers.Reviewer]. The API server does not have the manifests, so if they contain
// Roles or bindings it returns forbidden, and callers read the Roles and bindings instead.
func (c *Cluster) May(ctx context.Context, account types.NamespacedName, verb string, of schema.GroupResource, namespace string) (bool, error) {
	under, can := c.under.(readers.Reviewer)
	if !can || c.Grants() {
		return false, apierrors.NewForbidden(schema.ParseGroupResource(readers.Reviews), "", nil)
	}
	return under.May(ctx, account, verb, of, namespace)
}

// Grants reports whether Roles or bindings are among the manifests.
func (c *Cluster) Grants() bool {
	return slices.ContainsFunc(rbac, func(kind schema.GroupVersionResource) bool { return len(c.objects[kind]) > 0 })
}
