package apply

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// answering returns a client of an API server that records requests as "METHOD path
// content-type" and body and always returns the same response.
func answering(t *testing.T, code int, answer any) (c *client.Client, asked *[]string) {
	t.Helper()
	asked = new([]string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*asked = append(*asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Content-Type"), string(body))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	scheme := runtime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(&rest.Config{Host: srv.URL}, scheme, v1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	return c, asked
}

func invalid(causes ...metav1.StatusCause) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity,
		Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: causes},
	}
}

const rulersPath = "/apis/monitoring.coreos.com/v1/namespaces/demo/thanosrulers/main"

func TestStatusAndFinalizerRequests(t *testing.T) {
	w := func(finalizers ...string) metav1.Object {
		return &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "main", ResourceVersion: "7", Finalizers: finalizers}}
	}
	const patch = "PATCH " + rulersPath + "?fieldManager=PrometheusOperator application/json-patch+json"
	for name, tc := range map[string]struct {
		do   func(*Objects) error
		want []string
	}{
		"status": {
			func(o *Objects) error {
				return o.Status(t.Context(), types.NamespacedName{Namespace: "demo", Name: "main"}, map[string]int{"replicas": 2})
			},
			[]string{
				"PATCH " + rulersPath + "/status?fieldManager=PrometheusOperator&force=true application/apply-patch+yaml",
				`{"kind":"ThanosRuler","apiVersion":"monitoring.coreos.com/v1","metadata":{"name":"main","namespace":"demo"},"status":{"replicas":2}}`,
			},
		},
		"first finalizer": {
			func(o *Objects) error { return o.AddFinalizer(t.Context(), w(), "x/y") },
			[]string{patch, `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/metadata/finalizers","value":["x/y"]}]`},
		},
		"finalizer beside another": {
			func(o *Objects) error { return o.AddFinalizer(t.Context(), w("a/b"), "x/y") },
			[]string{patch, `[{"op":"test","path":"/metadata/resourceVersion","value":"7"},{"op":"add","path":"/metadata/finalizers/-","value":"x/y"}]`},
		},
		"finalizer goes": {
			func(o *Objects) error { return o.RemoveFinalizer(t.Context(), w("a/b", "x/y"), "x/y") },
			[]string{patch, `[{"op":"test","path":"/metadata/finalizers/1","value":"x/y"},{"op":"remove","path":"/metadata/finalizers/1"}]`},
		},
		"it has none": {func(o *Objects) error { return o.RemoveFinalizer(t.Context(), w("a/b"), "x/y") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := answering(t, http.StatusOK, &v1.ThanosRuler{})
			if err := tc.do(NewObjects(c, catalog.ThanosRuler)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, *asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The API server responds 422 to a patch of an old version and to one that makes the
// object invalid; only the latter has causes.
func TestFinalizerErrors(t *testing.T) {
	gone := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
	w := &v1.ThanosRuler{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "main", Finalizers: []string{"x/y"}}}
	outdated := func(err error) bool { return errors.Is(err, ErrOutdated) }
	for name, tc := range map[string]struct {
		answer        metav1.Status
		added, passed func(error) bool
	}{
		"a newer version": {invalid(), outdated, outdated},
		"an object that is not taken": {invalid(metav1.StatusCause{Field: "spec"}), func(err error) bool {
			return apierrors.IsInvalid(err) && !errors.Is(err, ErrOutdated)
		}, apierrors.IsInvalid},
		"it is gone": {gone, apierrors.IsNotFound, func(err error) bool { return err == nil }},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := answering(t, int(tc.answer.Code), tc.answer)
			o := NewObjects(c, catalog.ThanosRuler)
			if err := o.AddFinalizer(t.Context(), w, "z/z"); !tc.added(err) {
				t.Errorf("added: %v", err)
			}
			if err := o.RemoveFinalizer(t.Context(), w, "x/y"); !tc.passed(err) {
				t.Errorf("removed: %v", err)
			}
		})
	}
}

// Bindings are written with strict validation: an API server without the status field returns an error.
func TestBindingRequests(t *testing.T) {
	const path = "/apis/monitoring.coreos.com/v1/namespaces/demo/prometheusrules/alerts/status?fieldManager=PrometheusOperator&fieldValidation=Strict application/"
	answer := &v1.PrometheusRule{TypeMeta: metav1.TypeMeta{APIVersion: "monitoring.coreos.com/v1", Kind: "PrometheusRule"}, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "8"}}
	owner := bindings.Workload{Resource: "thanosrulers", Namespace: "demo", Name: "main"}
	now := metav1.Unix(0, 0)
	first := bindings.Object{Row: catalog.PrometheusRule, Namespace: "demo", Name: "alerts", Version: "7", Generation: 1}
	put, _ := bindings.Bind(first, owner, nil, now)
	bound := first
	bound.Bindings = put.Status.Bindings
	steps, _ := bindings.Release(bound, owner)
	for name, tc := range map[string]struct {
		change bindings.Change
		want   string
	}{
		"the first": {put, "PUT " + path + "json"}, "one goes": {steps, "PATCH " + path + "json-patch+json"},
	} {
		t.Run(name, func(t *testing.T) {
			c, asked := answering(t, http.StatusOK, answer)
			w := Bindings(map[schema.GroupVersion]*client.Client{v1.SchemeGroupVersion: c})
			if refused, _, err := w.Do(t.Context(), []bindings.Change{tc.change}); err != nil || len(refused) > 0 {
				t.Fatal(refused, err)
			}
			if len(*asked) != 2 || (*asked)[0] != tc.want {
				t.Errorf("asked %q, want %q", *asked, tc.want)
			}
			if got := w.Current(first); got.Version != "8" {
				t.Errorf("version %q is remembered, want that of the answer", got.Version)
			}
		})
	}
}
