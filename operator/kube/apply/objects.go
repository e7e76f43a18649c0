package apply

import (
	"cmp"
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

// Objects writes statuses and finalizers, the only parts of users' objects that the
// operator may change, for one kind of monitoring.coreos.com.
type Objects struct {
	client *client.Client
	row    *catalog.Row
}

// NewObjects returns a writer for a kind. c must be the client of its version.
func NewObjects(c *client.Client, row *catalog.Row) *Objects { return &Objects{c, row} }

// Exists reports whether an object exists in the API server. It uses list, which every
// account that can watch the kind may do.
func (o *Objects) Exists(ctx context.Context, key types.NamespacedName) (bool, error) {
	return o.client.Exists(ctx, o.row.Resource, key.Namespace, key.Name)
}

// Status writes the status subresource by server-side apply and takes over fields of
// other managers. status is the complete status that we want to own.
//
// Errors: those of the API server; NotFound if the object does not exist.
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

// ErrOutdated means that the object to change has a newer version.
var ErrOutdated = errors.New("the object has changed")

// AddFinalizer adds a finalizer to exactly this version of an object, so that finalizers
// of others cannot be lost.
//
// Errors: ErrOutdated; those of the API server, which may reject the object as it is;
// NotFound if it does not exist.
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

// RemoveFinalizer removes a finalizer from an object. It is a no-op if the finalizer or
// the object does not exist.
//
// Errors: ErrOutdated if the list has changed; those of the API server.
func (o *Objects) RemoveFinalizer(ctx context.Context, obj metav1.Object, finalizer string) error {
	at := slices.Index(obj.GetFinalizers(), finalizer)
	if at < 0 {
		return nil
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", at)
	// The test makes sure that the index still refers to this finalizer.
	err := o.change(ctx, obj, bindings.Operation{Op: "test", Path: path, Value: finalizer}, bindings.Operation{Op: "remove", Path: path})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case outdated(err):
		return ErrOutdated
	}
	return err
}

// change patches an object, or leaves it unchanged if a test fails.
func (o *Objects) change(ctx context.Context, obj metav1.Object, steps ...bindings.Operation) error {
	body, err := json.Marshal(steps)
	if err != nil {
		return fmt.Errorf("encode patch of %s %q: %w", o.row.Resource, obj.GetName(), err)
	}
	key := catalog.KeyOf(obj)
	if err := o.patch(types.JSONPatchType, key).Body(body).Do(ctx).Error(); err != nil {
		return fmt.Errorf("patch %s %q: %w", o.row.Resource, obj.GetName(), err)
	}
	return nil
}

// outdated reports whether the test of a patch failed. If the API server rejects the
// patched object, the error has causes.
func outdated(err error) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	return is && apierrors.IsInvalid(status) && (status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0)
}

func (o *Objects) patch(kind types.PatchType, key types.NamespacedName) *rest.Request {
	return o.client.REST().Patch(kind).Namespace(key.Namespace).Resource(o.row.Resource).Name(key.Name).Param("fieldManager", FieldManager)
}

// document returns an object of the kind that only has metadata and a status.
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

// bindings makes one change of the bindings of an object and returns the resulting object
// as JSON.
//
// Errors: those of the API server; Conflict if the object has another version, Invalid if
// a test fails, NotFound if it does not exist.
func (o *Objects) bindings(ctx context.Context, c bindings.Change) ([]byte, error) {
	key := types.NamespacedName{Namespace: c.Object.Namespace, Name: c.Object.Name}
	if c.Status == nil {
		body, err := json.Marshal(c.Steps)
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		return raw(o.patch(types.JSONPatchType, key).SubResource("status").Param("fieldValidation", "Strict").Body(body).Do(ctx))
	}
	body, err := o.document(map[string]string{"name": key.Name, "namespace": key.Namespace, "resourceVersion": c.Object.Version}, c.Status)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return raw(o.client.REST().Put().Namespace(key.Namespace).Resource(o.row.Resource).Name(key.Name).SubResource("status").
		Param("fieldManager", FieldManager).Param("fieldValidation", "Strict").
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx))
}

// raw returns the body of a response. Unlike that of [rest.Result.Raw], its error has the message of the API server.
func raw(r rest.Result) ([]byte, error) {
	body, err := r.Raw()
	if err != nil {
		return nil, cmp.Or(r.Error(), err)
	}
	return body, nil
}

// Bindings returns the writer of bindings for all kinds; clients are by version.
func Bindings(clients map[schema.GroupVersion]*client.Client) *bindings.Writer {
	return bindings.NewWriter(func(ctx context.Context, c bindings.Change) (bindings.Written, error) {
		row := c.Object.Row
		raw, err := NewObjects(clients[row.GroupVersion()], row).bindings(ctx, c)
		if err != nil {
			return bindings.Written{}, err
		}
		var now struct {
			Metadata struct{ ResourceVersion string }
			Status   v1.ConfigResourceStatus
		}
		err = json.Unmarshal(raw, &now)
		return bindings.Written{Version: now.Metadata.ResourceVersion, Bindings: now.Status.Bindings, Bytes: len(raw)}, err
	})
}

// Owns reports whether the owner references of obj include owner.
func Owns(owner, obj metav1.Object) bool {
	return slices.ContainsFunc(obj.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
}
