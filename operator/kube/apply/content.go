package apply

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// contentEndpoint is the API of the Secrets or ConfigMaps of a namespace. The API server answers a
// write with the metadata alone: a configuration of 1 MiB is not encoded, sent and decoded once
// more.
type contentEndpoint[T content] struct {
	endpoint[T]
	client         *rest.RESTClient
	kind, resource string
	namespace      string
	values         func() map[string]Value                // of ConfigMaps that have digests in Data; nil: the objects are whole
	with           func(want T, meta metav1.ObjectMeta) T // the object with the metadata of the API server
}

// content is an object that may be large.
type content interface {
	metav1.Object
	encodable
}

const (
	protobuf = runtime.ContentTypeProtobuf
	// metadataOnly is the parameter of a media type for objects without their content.
	metadataOnly = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

// Update replaces an object and returns it with the metadata that the API server set. It lacks changes of the content
// by admission webhooks, which watches deliver.
func (e contentEndpoint[T]) Update(ctx context.Context, want T, opts metav1.UpdateOptions) (T, error) {
	return e.send(ctx, e.client.Put().Name(want.GetName()), want, &opts)
}

// Create creates an object. It returns what [contentEndpoint.Update] does.
func (e contentEndpoint[T]) Create(ctx context.Context, want T, opts metav1.CreateOptions) (T, error) {
	return e.send(ctx, e.client.Post(), want, &opts)
}

// bodies holds the buffers of finished requests.
var bodies = sync.Pool{New: func() any { return new([]byte) }}

func (e contentEndpoint[T]) send(ctx context.Context, r *rest.Request, want T, opts runtime.Object) (got T, err error) {
	var values map[string]Value
	if e.values != nil {
		values = e.values()
	}
	body := bodies.Get().(*[]byte)
	if *body, err = appendObject((*body)[:0], e.kind, want, values); err != nil {
		return got, err
	}
	var made metav1.PartialObjectMetadata
	err = r.Namespace(e.namespace).Resource(e.resource).
		SetHeader("Accept", protobuf+metadataOnly, runtime.ContentTypeJSON+metadataOnly).SetHeader("Content-Type", protobuf).
		VersionedParams(opts, scheme.ParameterCodec).Body(*body).Do(ctx).Into(&made)
	if err != nil {
		return got, err // the connection may still read the body
	}
	bodies.Put(body)
	return e.with(want, made.ObjectMeta), nil
}

// contentOf returns the API of the Secrets or ConfigMaps of a namespace. The API of a fake clientset is returned
// unchanged.
func contentOf[T content](kube kubernetes.Interface, direct contentEndpoint[T]) endpoint[T] {
	if direct.client, _ = kube.CoreV1().RESTClient().(*rest.RESTClient); direct.client == nil {
		return direct.endpoint
	}
	return direct
}

func secretsOf(kube kubernetes.Interface, namespace string) endpoint[*corev1.Secret] {
	return contentOf(kube, contentEndpoint[*corev1.Secret]{
		endpoint: kube.CoreV1().Secrets(namespace), kind: "Secret", resource: "secrets", namespace: namespace,
		with: func(want *corev1.Secret, meta metav1.ObjectMeta) *corev1.Secret {
			return &corev1.Secret{ObjectMeta: meta, Type: want.Type, Immutable: want.Immutable, Data: want.Data}
		},
	})
}

func configMapsOf(kube kubernetes.Interface, namespace string) endpoint[*corev1.ConfigMap] {
	return contentOf(kube, contentEndpoint[*corev1.ConfigMap]{
		endpoint: kube.CoreV1().ConfigMaps(namespace), kind: "ConfigMap", resource: "configmaps", namespace: namespace,
		with: func(want *corev1.ConfigMap, meta metav1.ObjectMeta) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: meta, Immutable: want.Immutable, Data: want.Data, BinaryData: want.BinaryData}
		},
	})
}

// digestEndpoint is the API of the ConfigMaps of a namespace for objects that have digests in Data. It sends the values
// instead.
type digestEndpoint struct {
	endpoint[*corev1.ConfigMap]
	values func() map[string]Value
}

// Update replaces a ConfigMap. It returns digests if the API server does not return the values.
func (e digestEndpoint) Update(ctx context.Context, want *corev1.ConfigMap, opts metav1.UpdateOptions) (*corev1.ConfigMap, error) {
	return e.write(want, func(api endpoint[*corev1.ConfigMap], m *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		return api.Update(ctx, m, opts)
	})
}

// Create creates a ConfigMap. It returns what [digestEndpoint.Update] does.
func (e digestEndpoint) Create(ctx context.Context, want *corev1.ConfigMap, opts metav1.CreateOptions) (*corev1.ConfigMap, error) {
	return e.write(want, func(api endpoint[*corev1.ConfigMap], m *corev1.ConfigMap) (*corev1.ConfigMap, error) {
		return api.Create(ctx, m, opts)
	})
}

func (e digestEndpoint) write(want *corev1.ConfigMap, do func(endpoint[*corev1.ConfigMap], *corev1.ConfigMap) (*corev1.ConfigMap, error)) (*corev1.ConfigMap, error) {
	sent := new(*want)
	sent.TypeMeta, sent.Data, sent.BinaryData = configMapType, nil, nil
	direct, is := e.endpoint.(contentEndpoint[*corev1.ConfigMap])
	if !is {
		sent.Data = texts(e.values())
		return do(e.endpoint, sent)
	}
	direct.values = e.values
	got, err := do(direct, sent)
	if err != nil {
		return nil, err
	}
	got.Data, got.BinaryData = want.Data, client.DigestsOnly
	return got, nil
}

var configMapType = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
