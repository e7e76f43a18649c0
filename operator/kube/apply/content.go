package apply

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// contentEndpoint is the API of the Secrets or ConfigMaps of a namespace. The API server answers an
// update with the metadata alone: a configuration of 1 MiB is not encoded, sent and decoded once
// more.
type contentEndpoint[T content] struct {
	endpoint[T]
	client              rest.Interface
	namespace, resource string
	with                func(want T, meta metav1.ObjectMeta) T // the object with the metadata of the API server
}

// content is an object that may be large.
type content interface {
	metav1.Object
	runtime.Object
}

// metadataOnly is the parameter of a media type for objects without their content.
const metadataOnly = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// Update replaces an object and returns it with the metadata that the API server set. It lacks changes of the content
// by admission webhooks, which watches deliver.
func (e contentEndpoint[T]) Update(ctx context.Context, want T, opts metav1.UpdateOptions) (got T, err error) {
	var made metav1.PartialObjectMetadata
	err = e.client.Put().Namespace(e.namespace).Resource(e.resource).Name(want.GetName()).
		SetHeader("Accept", "application/vnd.kubernetes.protobuf"+metadataOnly, "application/json"+metadataOnly).
		VersionedParams(&opts, scheme.ParameterCodec).Body(want).Do(ctx).Into(&made)
	if err != nil {
		return got, err
	}
	return e.with(want, made.ObjectMeta), nil
}

// contentOf returns the API of the Secrets or ConfigMaps of a namespace. The API of a fake clientset is returned
// unchanged.
func contentOf[T content](kube kubernetes.Interface, api endpoint[T], namespace, resource string, with func(T, metav1.ObjectMeta) T) endpoint[T] {
	client, _ := kube.CoreV1().RESTClient().(*rest.RESTClient)
	if client == nil {
		return api
	}
	return contentEndpoint[T]{api, client, namespace, resource, with}
}

func secretsOf(kube kubernetes.Interface, namespace string) endpoint[*corev1.Secret] {
	return contentOf[*corev1.Secret](kube, kube.CoreV1().Secrets(namespace), namespace, "secrets", func(want *corev1.Secret, meta metav1.ObjectMeta) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: meta, Type: want.Type, Immutable: want.Immutable, Data: want.Data}
	})
}

func configMapsOf(kube kubernetes.Interface, namespace string) endpoint[*corev1.ConfigMap] {
	return contentOf[*corev1.ConfigMap](kube, kube.CoreV1().ConfigMaps(namespace), namespace, "configmaps", func(want *corev1.ConfigMap, meta metav1.ObjectMeta) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: meta, Immutable: want.Immutable, Data: want.Data, BinaryData: want.BinaryData}
	})
}
