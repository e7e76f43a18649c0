package startup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// Component is a controller or another part of the operator that starts once its CRDs are installed and its
// permissions granted.
type Component struct {
	Name        string                        // for logs
	Resources   []schema.GroupVersionResource // must be served by the API server
	Permissions []Permission
	Instead     map[Permission][]Permission // alternatives: all of the values together replace the key
	Start       func() error                // runs the component; an error stops the operator
	// OnCheck (optional) is called after each check with whether the first of Resources is installed.
	OnCheck func(installed bool)

	reportKey string    // key in Missing; empty: Name
	logged    string    // missing requirements as last logged
	failed    bool      // whether the last check failed, which has been logged
	next      time.Time // earliest time of the next check

	forbidden atomic.Pointer[string] // permissions that the last check found missing, for Forbidden
}

// Forbidden describes the permissions that the last check found missing, in human-readable form. It is empty
// before the first check, after a successful one, and while a resource is not installed.
func (c *Component) Forbidden() string {
	if text := c.forbidden.Load(); text != nil {
		return *text
	}
	return ""
}

// found stores the result of a check for Forbidden. nil means that no permission is missing.
func (c *Component) found(l *lack) {
	text := ""
	if l != nil && len(l.resources) == 0 {
		text = l.String()
	}
	c.forbidden.Store(&text)
	if c.OnCheck != nil {
		c.OnCheck(l == nil || !slices.Contains(l.resources, resourceText(c.Resources[0])))
	}
}

// Controller returns the component of a controller. own is the resource of its workloads, and selected are
// the resources of the objects that they select, which it requires too.
func Controller(name string, own schema.GroupVersionResource, selected []schema.GroupVersionResource, scopes Scopes, start func() error) *Component {
	c := &Component{
		Name:        name,
		Resources:   append([]schema.GroupVersionResource{own}, selected...),
		Permissions: required(own, selected, scopes),
		Instead:     map[Permission][]Permission{},
		Start:       start,
	}
	// If list and watch of all Secrets or ConfigMaps are permitted, a failing get only concerns the object
	// that has the reference.
	for _, resource := range []string{"secrets", "configmaps"} {
		for _, get := range Permissions("", resource, scopes.Instances.Watches(), "get") {
			c.Instead[get] = Permissions("", resource, []string{get.Namespace}, "list", "watch")
		}
	}
	return c
}

// required returns the permissions that a controller cannot run without.
func required(own schema.GroupVersionResource, selected []schema.GroupVersionResource, scopes Scopes) []Permission {
	read := func(group, resource string, in informer.Namespaces) []Permission {
		return Permissions(group, resource, in.Watches(), "list", "watch")
	}
	out := read(own.Group, own.Resource, scopes.Instances)
	out = append(out, Permissions(own.Group, own.Resource+"/status", scopes.Instances.Watches(), "patch")...)
	for _, r := range selected {
		out = append(out, read(r.Group, r.Resource, scopes.Configs)...)
	}
	out = append(out, Permissions("", "secrets", scopes.Instances.Watches(), "get")...)
	out = append(out, Permissions("", "configmaps", scopes.Instances.Watches(), "get")...)
	out = append(out, read("apps", "statefulsets", scopes.Instances)...)
	out = append(out, Permissions("", "services", scopes.Instances.Watches(), "get")...)
	out = append(out, Permissions("", "pods", scopes.Instances.Watches(), "list")...)
	if scopes.all().All() {
		out = append(out, Permissions("", "namespaces", []string{""}, "list", "watch")...)
	}
	return out
}

// lack holds the missing requirements of a component.
type lack struct {
	resources   []string     // not installed
	permissions []Permission // missing ones outside of barred; only checked if all resources are installed
	barred      []string     // namespaces in which all permissions are missing
	all         []Permission // missing ones including those in barred namespaces
}

// lackOf splits the missing permissions into those of barred namespaces and the others.
func lackOf(needs, missing []Permission) *lack {
	count := map[string]int{}
	for _, a := range needs {
		count[a.Namespace]++
	}
	for _, a := range missing {
		count[a.Namespace]--
	}
	out := &lack{all: missing}
	for _, a := range missing {
		switch {
		case a.Namespace == "" || count[a.Namespace] > 0:
			out.permissions = append(out.permissions, a)
		case !slices.Contains(out.barred, a.Namespace):
			out.barred = append(out.barred, a.Namespace)
		}
	}
	return out
}

// String returns a human-readable description.
func (l *lack) String() string {
	if len(l.resources) > 0 {
		return "not installed: " + strings.Join(l.resources, ", ")
	}
	var texts []string
	if len(l.barred) > 0 {
		texts = append(texts, "no permissions in namespace "+strings.Join(l.barred, ", ")+" (do the namespace, the Role and its RoleBinding exist?)")
	}
	if len(l.permissions) > 0 {
		texts = append(texts, "no permission to "+summary(l.permissions))
	}
	return strings.Join(texts, "; ")
}

// lacks returns the missing requirements of the component, nil if it can start.
func (c *Component) lacks(ctx context.Context, kube server) (*lack, error) {
	resources, err := c.absent(ctx, kube)
	if err != nil {
		return nil, err
	}
	if len(resources) > 0 {
		return &lack{resources: resources}, nil
	}
	missing, err := c.insufficient(ctx, kube)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return lackOf(c.Permissions, missing), nil
}

// insufficient returns the missing permissions for which no alternative is granted.
func (c *Component) insufficient(ctx context.Context, kube server) ([]Permission, error) {
	missing, err := denied(ctx, kube, c.Permissions)
	if err != nil {
		return nil, err
	}
	var instead []Permission
	for _, need := range missing {
		instead = append(instead, c.Instead[need]...)
	}
	refused, err := denied(ctx, kube, instead)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(missing, func(need Permission) bool {
		others := c.Instead[need]
		return len(others) > 0 && !slices.ContainsFunc(others, func(p Permission) bool { return slices.Contains(refused, p) })
	}), nil
}

// absent returns the resources that are not installed.
func (c *Component) absent(ctx context.Context, kube server) (out []string, err error) {
	served := map[schema.GroupVersion][]metav1.APIResource{}
	for _, need := range c.Resources {
		version := need.GroupVersion()
		if _, asked := served[version]; !asked {
			if served[version], err = installed(ctx, kube, version); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(served[version], func(r metav1.APIResource) bool { return r.Name == need.Resource }) {
			out = append(out, resourceText(need))
		}
	}
	return out, nil
}

// resourceText returns a resource as in [lack.resources].
func resourceText(r schema.GroupVersionResource) string {
	return r.Resource + " " + r.GroupVersion().String()
}

// installed returns the resources of a group version, none if the API server does not serve it.
func installed(ctx context.Context, kube server, version schema.GroupVersion) ([]metav1.APIResource, error) {
	list, err := Insist(ctx, kube.patience, func() (*metav1.APIResourceList, error) {
		return client.Within(ctx, func() (*metav1.APIResourceList, error) {
			return kube.Discovery().ServerResourcesForGroupVersion(version.String())
		})
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the resources of %s: %w", version, err)
	}
	return list.APIResources, nil
}
