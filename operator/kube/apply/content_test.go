package apply

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The response to an update of a large object has only its metadata. The writer remembers the object with that
// metadata, and returns errors of the API server.
func TestUpdateIsAnsweredWithMetadata(t *testing.T) {
	var accepted, sent []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		accepted, sent = append(accepted, r.Header.Values("Accept")...), append(sent, r.Method+" "+r.URL.String()+" "+string(body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status != http.StatusOK {
			_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: metav1.StatusReasonConflict, Code: int32(status)})
			return
		}
		_, _ = io.WriteString(w, `{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": {"name": "a", "namespace": "team", "resourceVersion": "7", "uid": "u"}}`)
	}))
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Namespace: "team", Name: "a", ResourceVersion: "6"}
	made := metav1.ObjectMeta{Namespace: "team", Name: "a", ResourceVersion: "7", UID: "u"}
	opts := metav1.UpdateOptions{FieldManager: FieldManager}

	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"k": []byte("value")}}
	gotSecret, err := secretsOf(kube, "team").Update(t.Context(), secret, opts)
	if diff := cmp.Diff(&corev1.Secret{ObjectMeta: made, Data: secret.Data}, gotSecret); diff != "" || err != nil {
		t.Error(diff, err)
	}
	rules := &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"k": "groups"}}
	gotRules, err := configMapsOf(kube, "team").Update(t.Context(), rules, opts)
	if diff := cmp.Diff(&corev1.ConfigMap{ObjectMeta: made, Data: rules.Data}, gotRules); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for i, want := range []string{"PUT /api/v1/namespaces/team/secrets/a?fieldManager=PrometheusOperator ", "PUT /api/v1/namespaces/team/configmaps/a?fieldManager=PrometheusOperator "} {
		if !strings.HasPrefix(sent[i], want) {
			t.Errorf("sent %q", sent[i])
		}
	}
	if !strings.Contains(sent[0], `"resourceVersion":"6"`) {
		t.Errorf("sent %q", sent[0])
	}
	for _, header := range accepted {
		for _, one := range strings.Split(header, ",") {
			if !strings.Contains(one, "as=PartialObjectMetadata") {
				t.Errorf("accepts %q", header)
			}
		}
	}
	status = http.StatusConflict
	if _, err := secretsOf(kube, "team").Update(t.Context(), secret, opts); !apierrors.IsConflict(err) {
		t.Errorf("err = %v", err)
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
