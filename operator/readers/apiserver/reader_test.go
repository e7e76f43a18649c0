package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
)

// apiServer is a fake API server with pods that records list requests.
type apiServer struct {
	pods []string // NAMESPACE/NAME
	// perPage is the maximum page size, overriding larger limits; 0 for no maximum.
	perPage int
	// expires makes all continue tokens expired.
	expires bool
	// refuses are the namespaces in which lists are forbidden; "" for lists of all namespaces.
	refuses []string
	absent  bool // the kind is not installed

	asked []string // queries of lists
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v1/"), "/")
	namespace := ""
	if parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) == 2 {
		if !slices.Contains(s.pods, namespace+"/"+parts[1]) {
			fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
			return
		}
		answer(w, pod(namespace, parts[1]))
		return
	}
	q := r.URL.Query()
	s.asked = append(s.asked, strings.TrimSpace(fmt.Sprintf("%s limit=%s continue=%s", namespace, q.Get("limit"), q.Get("continue"))))
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	switch {
	case s.absent:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	case slices.Contains(s.refuses, namespace):
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		return
	case s.expires && from > 0:
		fail(w, http.StatusGone, metav1.StatusReasonExpired)
		return
	}
	if s.perPage > 0 && limit > 0 {
		limit = min(limit, s.perPage)
	}
	list := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	for i, key := range s.pods {
		in, name, _ := strings.Cut(key, "/")
		if only, by := strings.CutPrefix(q.Get("fieldSelector"), "metadata.name="); by && only != name {
			continue
		}
		if i < from || namespace != "" && in != namespace {
			continue
		}
		if limit > 0 && len(list.Items) == limit {
			list.Continue = strconv.Itoa(i)
			break
		}
		list.Items = append(list.Items, pod(in, name))
	}
	answer(w, list)
}

func pod(namespace, name string) corev1.Pod {
	return corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

func answer(w http.ResponseWriter, what any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(what)
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: reason, Code: int32(code)})
}

func (s *apiServer) cluster(t *testing.T) apiserver.Reader {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return apiserver.Reader{Kube: kube}
}

func names(objects []readers.Object) (out []string) {
	for _, o := range objects {
		out = append(out, o.GetNamespace()+"/"+o.GetName())
	}
	return out
}

var pods = readers.Query{GroupVersionResource: readers.Pods}

// A list is complete, however it is split into pages.
func TestList(t *testing.T) {
	all := []string{"a/1", "a/2", "b/3", "a/4", "b/5"}
	withLimit, withKeep := pods, pods
	withLimit.Limit = 2
	withKeep.Keep = func(o readers.Object) readers.Object {
		if o.GetNamespace() == "b" {
			return nil
		}
		return o
	}
	withName := pods
	withName.Name = "4"
	inA := pods
	inA.Namespace = "a"
	for name, tc := range map[string]struct {
		server apiServer
		query  readers.Query
		want   []string
		asked  []string
	}{
		"one page":      {apiServer{pods: all}, pods, all, []string{"limit=500 continue="}},
		"several pages": {apiServer{pods: all, perPage: 2}, pods, all, []string{"limit=500 continue=", "limit=500 continue=2", "limit=500 continue=4"}},
		"the state is gone after the first page": {
			apiServer{pods: all, perPage: 2, expires: true}, pods, all, []string{"limit=500 continue=", "limit=500 continue=2", "limit= continue="},
		},
		"only some":          {apiServer{pods: all}, withLimit, []string{"a/1", "a/2"}, []string{"limit=2 continue="}},
		"what is kept":       {apiServer{pods: all, perPage: 3}, withKeep, []string{"a/1", "a/2", "a/4"}, []string{"limit=500 continue=", "limit=500 continue=3"}},
		"one name":           {apiServer{pods: append(all, "b/4")}, withName, []string{"a/4", "b/4"}, []string{"limit=500 continue="}},
		"one namespace":      {apiServer{pods: all}, inA, []string{"a/1", "a/2", "a/4"}, []string{"a limit=500 continue="}},
		"kind not installed": {apiServer{absent: true}, pods, nil, []string{"limit=500 continue="}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.server.cluster(t).List(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.asked, tc.server.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGet(t *testing.T) {
	c := (&apiServer{pods: []string{"a/1"}}).cluster(t)
	got, err := readers.Pod(t.Context(), c, types.NamespacedName{Namespace: "a", Name: "1"})
	if err != nil || got == nil || got.Name != "1" {
		t.Errorf("got %v, %v", got, err)
	}
	got, err = readers.Pod(t.Context(), c, types.NamespacedName{Namespace: "a", Name: "2"})
	if err != nil || got != nil {
		t.Errorf("of a pod that does not exist: %v, %v", got, err)
	}
	if _, err := c.Get(t.Context(), readers.Pods, types.NamespacedName{Namespace: "a", Name: "2"}); !apierrors.IsNotFound(err) {
		t.Errorf("err = %v, want not found", err)
	}
}

// Without permission to list all namespaces, the own ones are listed, and a note names the others.
func TestEverywhere(t *testing.T) {
	all := []string{"a/1", "b/2", "c/3"}
	const refused = "no permission to list pods in "
	for name, tc := range map[string]struct {
		refuses []string
		in      []string
		own     []string
		want    []string
		notes   []string
	}{
		"everything":         {nil, nil, []string{"a"}, all, nil},
		"the own namespaces": {[]string{""}, nil, []string{"a", "b"}, []string{"a/1", "b/2"}, []string{refused + "namespaces other than a, b"}},
		"one of the own ones": {
			[]string{"", "a"}, nil, []string{"a", "b"}, []string{"b/2"}, []string{refused + "namespaces other than a, b", refused + "namespace a"},
		},
		"none of the own ones": {[]string{"", "a"}, nil, []string{"a"}, nil, []string{refused + "all namespaces"}},
		"none of them":         {[]string{""}, nil, nil, nil, []string{refused + "all namespaces"}},
		"the given namespaces": {[]string{"", "c"}, []string{"b", "c"}, []string{"a"}, []string{"b/2"}, []string{refused + "namespace c"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := informer.NewNamespaces(tc.in, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, missing := readers.Everywhere(t.Context(), (&apiServer{pods: all, refuses: tc.refuses}).cluster(t), pods, in, tc.own...)
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Error(diff)
			}
			var notes []string
			for _, m := range missing {
				notes = append(notes, m.String())
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Where all namespaces may not be listed, each of the needed ones is, without a note.
func TestAtOnce(t *testing.T) {
	all := []string{"a/1", "b/2"}
	for name, tc := range map[string]struct {
		refuses []string
		want    []string
		missing int
	}{
		"everything":     {nil, all, 0},
		"the needed one": {[]string{""}, []string{"a/1"}, 0},
		"not that one":   {[]string{"", "a"}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, missing := readers.AtOnce(t.Context(), (&apiServer{pods: all, refuses: tc.refuses}).cluster(t), pods, []string{"a"})
			if diff := cmp.Diff(tc.want, names(got)); diff != "" || len(missing) != tc.missing {
				t.Errorf("%s, missing %v", diff, missing)
			}
		})
	}
}
