package discoverytest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// Encoded returns a list in the encoding of API servers.
func Encoded(tb testing.TB, list runtime.Object) []byte {
	tb.Helper()
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), corev1.SchemeGroupVersion)
	if _, slices := list.(*discoveryv1.EndpointSliceList); slices {
		encoder = scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), discoveryv1.SchemeGroupVersion)
	}
	text, err := runtime.Encode(encoder, list)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// RecordedServer is a cheap API server for benchmarks: it has the encoded pages of lists, by the last
// element of the path.
type RecordedServer map[string][][]byte

// ServeHTTP implements http.Handler.
func (r RecordedServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	pages := r[path[strings.LastIndex(path, "/")+1:]]
	at, _ := strconv.Atoi(request.URL.Query().Get("continue"))
	if pages == nil { // every call is permitted
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": true}}`)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	_, _ = w.Write(pages[at])
}

// Record returns a namespace demo with Services of ten pods each, in pages of a size. A tenth of
// the Services have the label app=web-3.
func Record(tb testing.TB, pods, pageSize int) RecordedServer {
	tb.Helper()
	out := RecordedServer{}
	token := func(page, pages int) metav1.ListMeta {
		if page+1 < pages {
			return metav1.ListMeta{ResourceVersion: "1", Continue: strconv.Itoa(page + 1)}
		}
		return metav1.ListMeta{ResourceVersion: "1"}
	}
	pages := pods / pageSize
	var services corev1.ServiceList
	var slices discoveryv1.EndpointSliceList
	for page := range pages {
		list := corev1.PodList{ListMeta: token(page, pages)}
		for i := range pageSize {
			list.Items = append(list.Items, TypicalPod(page*pageSize+i))
		}
		for s := range pageSize / 10 {
			service, slice := TypicalService(page*pageSize/10 + s)
			services.Items, slices.Items = append(services.Items, service), append(slices.Items, slice)
		}
		out["pods"] = append(out["pods"], Encoded(tb, &list))
	}
	out["services"], out["endpointslices"] = [][]byte{Encoded(tb, &services)}, [][]byte{Encoded(tb, &slices)}
	return out
}
