package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// Objects writes what the operator may write of the users' own objects, those of one
// kind of monitoring.coreos.com: statuses and finalizers.
type Objects struct {
	client *client.Client
	row    *catalog.Row
}

// NewObjects returns a writer for a kind; the client is that of its version.
func NewObjects(c *client.Client, row *catalog.Row) *Objects { return &Objects{c, row} }

// Exists asks the API server whether there is an object. It lists, which whoever
// watches the kind may do.
func (o *Objects) Exists(ctx context.Context, key types.NamespacedName) (bool, error) {
	return o.client.Exists(ctx, o.row.Resource, key.Namespace, key.Name)
}

// Status writes the status subresource by server-side apply, taking over fields of
// other managers. status is the complete status that we want to own.
//
// Errors: those of the API server; NotFound when the object is gone.
func (o *Objects) Status(ctx context.Context, key types.NamespacedName, status any) error {
	body, err := o.document(map[string]string{"name": key.Name, "namespace": key.Namespace}, status)
	if err == nil {
		err = o.patch(types.ApplyPatchType, key).SubResource("status").Param("force", "true").Body(body).Do(ctx).Error()
	}
	if err != nil {
		return fmt.Errorf("apply status of %s %q: %w", o.row.Kind, key.Name, err)
	}
	return nil
}

// ErrOutdated says that there is a newer version of an object than the one that was to
// be changed.
var ErrOutdated = errors.New("the object has changed")

// AddFinalizer puts a finalizer on an object, in this very version of it: somebody
// else's finalizer must not get lost.
//
// Errors: ErrOutdated; those of the API server, which may no longer take the object as
// it is; NotFound when it is gone.
func (o *Objects) AddFinalizer(ctx context.Context, obj metav1.Object, finalizer string) error {
	add := bindings.Operation{Op: "add", Path: "/metadata/finalizers/-", Value: finalizer}
	if len(obj.GetFinalizers()) == 0 {
		add.Path, add.Value = "/metadata/finalizers", []string{finalizer}
	}
	err := o.change(ctx, obj, bindings.Operation{Op: "test", Path: "/metadata/resourceVersion", Value: obj.GetResourceVersion()}, add)
	if outdated(err) {
		return ErrOutdated
	}
	return err
}

// RemoveFinalizer takes a finalizer from an object; one that it has not, or an object
// that is gone, is no error.
//
// Errors: ErrOutdated when the list has changed; those of the API server.
func (o *Objects) RemoveFinalizer(ctx context.Context, obj metav1.Object, finalizer string) error {
	at := slices.Index(obj.GetFinalizers(), finalizer)
	if at < 0 {
		return nil
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", at)
	// What is removed must be what was seen.
	err := o.change(ctx, obj, bindings.Operation{Op: "test", Path: path, Value: finalizer}, bindings.Operation{Op: "remove", Path: path})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case outdated(err):
		return ErrOutdated
	}
	return err
}

// change changes an object step by step, or not at all when a test fails.
func (o *Objects) change(ctx context.Context, obj metav1.Object, steps ...bindings.Operation) error {
	body, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("encode patch of %s %q: %w", o.row.Resource, obj.GetName(), err)
	}
	key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if err := o.patch(types.JSONPatchType, key).Body(body).Do(ctx).Error(); err != nil {
		return fmt.Errorf("patch %s %q: %w", o.row.Resource, obj.GetName(), err)
	}
	return nil
}

// outdated reports whether the test of a patch failed. The API server gives causes
// when it would not take the patched object.
func outdated(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && apierrors.IsInvalid(status) && (status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0)
}

func (o *Objects) patch(kind types.PatchType, key types.NamespacedName) *rest.Request {
	return o.client.REST().Patch(kind).Namespace(key.Namespace).Resource(o.row.Resource).Name(key.Name).Param("fieldManager", FieldManager)
}

// document is an object of the kind with nothing but metadata and a status.
func (o *Objects) document(metadata map[string]string, status any) ([]byte, error) {
	return json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        map[string]string `json:"metadata"`
		Status          any               `json:"status"`
	}{
		TypeMeta: metav1.TypeMeta{APIVersion: o.row.GroupVersion().String(), Kind: o.row.Kind},
		Metadata: metadata, Status: status,
	})
}

// bindings makes one change of the bindings of an object, and returns what is there
// afterwards, as JSON.
//
// Errors: those of the API server; Conflict when the object has another version or
// Invalid when a test fails, NotFound when it is gone.
func (o *Objects) bindings(ctx context.Context, c bindings.Change) ([]byte, error) {
	key := types.NamespacedName{Namespace: c.Object.Namespace, Name: c.Object.Name}
	if c.Status == nil {
		body, err := json.Marshal(c.Steps)
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		return o.patch(types.JSONPatchType, key).SubResource("status").Param("fieldValidation", "Strict").Body(body).Do(ctx).Raw()
	}
	body, err := o.document(map[string]string{"name": key.Name, "namespace": key.Namespace, "resourceVersion": c.Object.Version}, c.Status)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return o.client.REST().Put().Namespace(key.Namespace).Resource(o.row.Resource).Name(key.Name).SubResource("status").
		Param("fieldManager", FieldManager).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Raw()
}

// Bindings returns what writes the bindings of all kinds; clients are by version.
func Bindings(clients map[schema.GroupVersion]*client.Client) *bindings.Writer {
	return bindings.NewWriter(func(ctx context.Context, c bindings.Change) (string, []v1.WorkloadBinding, error) {
		row := c.Object.Row
		raw, err := NewObjects(clients[row.GroupVersion()], row).bindings(ctx, c)
		if err != nil {
			return "", nil, err
		}
		var now struct {
			Metadata struct{ ResourceVersion string }
			Status   v1.ConfigResourceStatus
		}
		err = json.Unmarshal(raw, &now)
		return now.Metadata.ResourceVersion, now.Status.Bindings, err
	})
}

// Owns reports whether an object belongs to an owner, by its owner references.
func Owns(owner, obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}
