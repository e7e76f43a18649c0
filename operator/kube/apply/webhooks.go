package apply

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"

	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
)

// Webhooks writes the certificates with which API servers and webhooks trust each other, and those of
// other servers of the operator.
type Webhooks struct {
	Kube kubernetes.Interface
	CRDs definitions.Interface
}

// Caller is an object that makes API servers call a webhook.
type Caller struct {
	Kind, Name, ResourceVersion string
	Paths                       []string // JSON pointers to each caBundle
}

// Kinds of callers.
const (
	ValidatingWebhooks = "ValidatingWebhookConfiguration"
	MutatingWebhooks   = "MutatingWebhookConfiguration"
	Definition         = "CustomResourceDefinition"
)

// Secret creates a Secret, or updates exactly the version that was read.
//
// Errors: those of the API server; Conflict and AlreadyExists after a concurrent write.
func (w Webhooks) Secret(ctx context.Context, s *corev1.Secret) (err error) {
	api := w.Kube.CoreV1().Secrets(s.Namespace)
	if s.ResourceVersion == "" {
		_, err = api.Create(ctx, s, metav1.CreateOptions{})
	} else {
		_, err = api.Update(ctx, s, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write Secret %s/%s: %w", s.Namespace, s.Name, err)
	}
	return nil
}

// ConfigMap creates a ConfigMap, or updates exactly the version that was read.
//
// Errors: those of the API server; Conflict and AlreadyExists after a concurrent write.
func (w Webhooks) ConfigMap(ctx context.Context, c *corev1.ConfigMap) (err error) {
	api := w.Kube.CoreV1().ConfigMaps(c.Namespace)
	if c.ResourceVersion == "" {
		_, err = api.Create(ctx, c, metav1.CreateOptions{})
	} else {
		_, err = api.Update(ctx, c, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", c.Namespace, c.Name, err)
	}
	return nil
}

// Bundle sets the CA bundle (PEM) in exactly this version of a caller.
func (w Webhooks) Bundle(ctx context.Context, c Caller, bundle []byte) error {
	operations := []bindings.Operation{{Op: "test", Path: "/metadata/resourceVersion", Value: c.ResourceVersion}}
	for _, path := range c.Paths {
		operations = append(operations, bindings.Operation{Op: "add", Path: path, Value: bundle})
	}
	body, err := json.Marshal(operations)
	if err != nil {
		return err
	}
	var none metav1.PatchOptions
	switch c.Kind {
	case ValidatingWebhooks:
		_, err = w.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Patch(ctx, c.Name, types.JSONPatchType, body, none)
	case MutatingWebhooks:
		_, err = w.Kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Patch(ctx, c.Name, types.JSONPatchType, body, none)
	default:
		_, err = w.CRDs.Patch(ctx, c.Name, types.JSONPatchType, body, none)
	}
	if err != nil {
		return fmt.Errorf("write caBundle of %s %s: %w", c.Kind, c.Name, err)
	}
	return nil
}
