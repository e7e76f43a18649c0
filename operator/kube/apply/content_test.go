package apply

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

// request is a request that a server received.
type request struct {
	accepts []string
	line    string
	object  runtime.Object
	status  int // of the next response; 0 is OK
}

// metadataServer returns a client of a server that answers with metadata, and its last request.
func metadataServer(t testing.TB) (kubernetes.Interface, *request) {
	last := &request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil || r.Header.Get("Content-Type") != protobuf {
			t.Error(r.Header, err)
		}
		last.accepts, last.line, last.object = r.Header.Values("Accept"), r.Method+" "+r.URL.String(), object
		w.Header().Set("Content-Type", "application/json")
		if last.status != 0 {
			w.WriteHeader(last.status)
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonConflict, Code: int32(last.status)})
			return
		}
		_, _ = io.WriteString(w, `{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a", "namespace": "team", "resourceVersion": "7", "uid": "u", "managedFields": [{"manager": "m"}]}}`)
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return kube, last
}

// The response to a write of a large object has only its metadata. The writer remembers the object with that
// metadata, and returns errors of the API server.
func TestWritesAreAnsweredWithMetadata(t *testing.T) {
	kube, last := metadataServer(t)
	meta := metav1.ObjectMeta{Namespace: "team", Name: "a", ResourceVersion: "6"}
	made := metav1.ObjectMeta{Namespace: "team", Name: "a", ResourceVersion: "7", UID: "u", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}}}
	update, create := metav1.UpdateOptions{FieldManager: FieldManager}, metav1.CreateOptions{FieldManager: FieldManager}

	received := func(line string, sent runtime.Object) {
		t.Helper()
		if last.line != line {
			t.Errorf("sent %q instead of %q", last.line, line)
		}
		if diff := cmp.Diff(sent, last.object, cmpopts.IgnoreTypes(metav1.TypeMeta{}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
		for _, header := range last.accepts {
			for _, one := range strings.Split(header, ",") {
				if !strings.Contains(one, "as=PartialObjectMetadata") {
					t.Errorf("accepts %q", header)
				}
			}
		}
	}
	secret := &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"k": []byte("value")}}
	gotSecret, err := secretsOf(kube, "team").Update(t.Context(), secret, update)
	if diff := cmp.Diff(&corev1.Secret{ObjectMeta: made, Type: secret.Type, Data: secret.Data}, gotSecret); diff != "" || err != nil {
		t.Error(diff, err)
	}
	received("PUT /api/v1/namespaces/team/secrets/a?fieldManager=PrometheusOperator", secret)

	rules := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "groups", "empty": ""}}
	gotRules, err := configMapsOf(kube, "team").Create(t.Context(), rules, create)
	if diff := cmp.Diff(&corev1.ConfigMap{ObjectMeta: made, Data: rules.Data}, gotRules); diff != "" || err != nil {
		t.Error(diff, err)
	}
	received("POST /api/v1/namespaces/team/configmaps?fieldManager=PrometheusOperator", rules)

	compressed := digestEndpoint{configMapsOf(kube, "team"), func() map[string]Value { return plainValues(rules.Data) }}
	digested := digestedConfigMap(rules, map[string]string{"k": "sum", "empty": "sum of none"})
	gotRules, err = compressed.Update(t.Context(), digested, update)
	if diff := cmp.Diff(&corev1.ConfigMap{ObjectMeta: made, Data: digested.Data, BinaryData: client.DigestsOnly}, gotRules); diff != "" || err != nil {
		t.Error(diff, err)
	}
	received("PUT /api/v1/namespaces/team/configmaps/a?fieldManager=PrometheusOperator", rules)

	last.status = http.StatusConflict
	if _, err := secretsOf(kube, "team").Update(t.Context(), secret, update); !apierrors.IsConflict(err) {
		t.Errorf("err = %v", err)
	}
	if _, err := compressed.Create(t.Context(), digested, create); !apierrors.IsConflict(err) {
		t.Errorf("err = %v", err)
	}
}

// A body that is sent again from the buffer of a larger one has nothing of it.
func TestBodiesDoNotMix(t *testing.T) {
	kube, last := metadataServer(t)
	for _, size := range []int{1 << 20, 10, 0, 300, 200 << 10, 1} {
		want := map[string]string{"one.yaml": strings.Repeat("x", size), "two.yaml": strings.Repeat("ü", size/2)}
		api := digestEndpoint{configMapsOf(kube, "team"), func() map[string]Value { return plainValues(want) }}
		if _, err := api.Update(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, last.object.(*corev1.ConfigMap).Data); diff != "" {
			t.Error(size, diff)
		}
	}
}

// BenchmarkBody encodes a ConfigMap of rules of half a megabyte into the buffer of the request before.
func BenchmarkBody(b *testing.B) {
	text := plainValue(strings.Repeat("x", 5<<10))
	values := map[string]Value{}
	for i := range 100 {
		values[strconv.Itoa(i)] = text
	}
	head := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "prometheus"}}}
	var body []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if body, err = appendObject(body[:0], "ConfigMap", head, values); err != nil {
			b.Fatal(err)
		}
	}
}

// A body is written into the buffer of the request before, without a copy of its values.
func TestBodiesAreNotCopied(t *testing.T) {
	if got := testing.Benchmark(BenchmarkBody).AllocedBytesPerOp(); got > 4<<10 {
		t.Errorf("a body of half a megabyte allocates %d bytes", got)
	}
}

// An update that is interrupted at the end of the process is an error and is not remembered, so the next reconciliation
// writes again.
func TestInterruptedUpdate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has disconnected
		cancel()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	live := DigestSecret(secret("1", "old"))
	w := NewWriter(kube, Caches{Secrets: shown[*corev1.Secret]{"ns/web": live}})
	if change, err := w.Secret(ctx, secret("", "new")); !errors.Is(err, context.Canceled) || change != "" {
		t.Errorf("%q, %v", change, err)
	}
	if got, ok := w.Secrets().Get("ns", "web"); !ok || got != live {
		t.Errorf("remembers %+v", got)
	}
}
