package apply

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// secretEndpoint is the API of the Secrets of a namespace. The API server answers an update with the
// metadata alone: a configuration of 1 MiB is not encoded, sent and decoded once more.
type secretEndpoint struct {
	typedcorev1.SecretInterface
	client    rest.Interface
	namespace string
}

func secretsOf(kube kubernetes.Interface, namespace string) endpoint[*corev1.Secret] {
	api := kube.CoreV1().Secrets(namespace)
	client, _ := kube.CoreV1().RESTClient().(*rest.RESTClient)
	if client == nil { // of a fake clientset
		return api
	}
	return secretEndpoint{api, client, namespace}
}

// metadataOnly is the media type for objects without their content.
const metadataOnly = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// Update replaces a Secret and returns it with the metadata that the API server set. What an
// admission webhook has changed in the content is not in it; watches bring that.
func (e secretEndpoint) Update(ctx context.Context, s *corev1.Secret, opts metav1.UpdateOptions) (*corev1.Secret, error) {
	var got metav1.PartialObjectMetadata
	err := e.client.Put().Namespace(e.namespace).Resource("secrets").Name(s.Name).
		SetHeader("Accept", "application/vnd.kubernetes.protobuf"+metadataOnly, "application/json"+metadataOnly).
		VersionedParams(&opts, scheme.ParameterCodec).Body(s).Do(ctx).Into(&got)
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{ObjectMeta: got.ObjectMeta, Type: s.Type, Immutable: s.Immutable, Data: s.Data}, nil
}
