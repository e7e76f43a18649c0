package informer

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
)

const (
	// pageBytes limits the encoded size of one page, which is held in memory together with its objects.
	pageBytes = 16 << 20
	// firstPage and lastPage bound the number of objects in a page.
	firstPage, lastPage = 64, 512
)

// listPages lists objects page by page, with one page in memory at a time, and returns the version of the
// list. It calls begin first, and again whenever the list expires and is restarted.
//
// Errors: those of page and each.
func listPages(ctx context.Context, o metav1.ListOptions, page pageFunc, begin func(), each func(runtime.Object) error) (version string, err error) {
	for {
		begin()
		if version, err = eachPage(ctx, o, page, each); !apierrors.IsResourceExpired(err) {
			return version, err
		}
	}
}

// eachPage lists once.
//
// Errors: those of listPages; apierrors.IsResourceExpired.
func eachPage(ctx context.Context, o metav1.ListOptions, page pageFunc, each func(runtime.Object) error) (version string, err error) {
	most := int64(pageBytes)
	o.Limit, o.Continue, o.ResourceVersion, o.ResourceVersionMatch = firstPage, "", "", "" // lists from the API server's cache are not paginated
	for {
		list, bytes, err := page(ctx, o, most)
		switch {
		case errors.Is(err, capacity.ErrTooLong) && o.Limit > 1:
			o.Limit = max(o.Limit/4, 1)
			continue
		case errors.Is(err, capacity.ErrTooLong):
			most *= 2 // a single object exceeds the limit
			continue
		case err != nil:
			return "", err
		}
		about, err := meta.ListAccessor(list)
		if err != nil {
			return "", err
		}
		if err := meta.EachListItemWithAlloc(list, each); err != nil {
			return "", err
		}
		if o.Continue = about.GetContinue(); o.Continue == "" {
			return about.GetResourceVersion(), nil
		}
		if most = pageBytes; bytes < pageBytes/8 {
			o.Limit = min(2*o.Limit, lastPage)
		}
	}
}

// listOf returns a list for a reflector.
func listOf[T runtime.Object](version string, objects []T) *metav1.List {
	out := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, obj := range objects {
		out.Items = append(out.Items, runtime.RawExtension{Object: obj})
	}
	return out
}

// listTrimmed returns a function that lists built-in Kubernetes objects page by page and trims each page.
func listTrimmed(client cache.Getter, resource, namespace string, tweak func(*metav1.ListOptions), trim cache.TransformFunc) cache.ListWithContextFunc {
	page := func(ctx context.Context, o metav1.ListOptions, most int64) (runtime.Object, int64, error) {
		body, err := client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, metav1.ParameterCodec).Stream(ctx)
		if err != nil {
			return nil, 0, err
		}
		defer body.Close()
		text, err := capacity.ReadAtMost(body, most)
		if err != nil {
			return nil, 0, err
		}
		list, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), text)
		return list, int64(len(text)), err
	}
	return inPages(page, tweak, trim)
}

// listMetadata is like listTrimmed for the metadata of objects. A page has as many objects as fit into
// [pageBytes] with the maximum metadata size of the API server.
func listMetadata(client metadata.ResourceInterface, tweak func(*metav1.ListOptions), trim cache.TransformFunc) cache.ListWithContextFunc {
	return inPages(func(ctx context.Context, o metav1.ListOptions, _ int64) (runtime.Object, int64, error) {
		list, err := client.List(ctx, o)
		return list, pageBytes, err
	}, tweak, trim)
}

// pageFunc lists one page of at most most bytes.
//
// Errors: [capacity.ErrTooLong].
type pageFunc func(ctx context.Context, o metav1.ListOptions, most int64) (list runtime.Object, bytes int64, err error)

func inPages(page pageFunc, tweak func(*metav1.ListOptions), trim cache.TransformFunc) cache.ListWithContextFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		tweak(&o)
		var kept []runtime.Object
		version, err := listPages(ctx, o, page, func() { kept = nil }, func(item runtime.Object) error {
			trimmed, err := trim(item)
			if err == nil {
				kept = append(kept, trimmed.(runtime.Object))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return listOf(version, kept), nil
	}
}
