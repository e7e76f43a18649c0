package live

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/discovery"
)

// server is an API server with objects.
type server struct {
	objects []discovery.Object
	// answers are those to the list of a resource instead of objects, by
	// "NAMESPACE/RESOURCE", as "CODE Reason".
	answers map[string]string
	// lacks are what the ServiceAccount may not do: "verb NAMESPACE/RESOURCE".
	lacks []string
	// reviews is the answer to questions about permissions instead of one.
	reviews string
	// expired is true until a list is read in one piece, if pages are too late.
	expired bool

	mu    sync.Mutex
	lists []string // that were read: path and query
	asked []authorizationv1.SubjectAccessReviewSpec
}

// start returns a client.
func (s *server) start(t testing.TB) Cluster {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: h.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return Cluster{Kube: kube}
}

// fail answers "CODE Reason".
func fail(w http.ResponseWriter, text string) {
	code, reason, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(code)
	w.WriteHeader(n)
	fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "message": "the server says %s", "code": %d}`, reason, reason, n)
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		s.review(w, r)
		return
	}
	query := r.URL.Query()
	s.lists = append(s.lists, strings.TrimSuffix(r.URL.Path+"?"+query.Encode(), "?"))
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	resource, namespace := parts[len(parts)-1], ""
	if i := slices.Index(parts, "namespaces"); i >= 0 && i+2 < len(parts) {
		namespace = parts[i+1]
	}
	if answer := s.answers[namespace+"/"+resource]; answer != "" {
		fail(w, answer)
		return
	}
	from, _ := strconv.Atoi(query.Get("continue"))
	if s.expired && from > 0 {
		fail(w, "410 Expired")
		return
	}
	s.page(w, resource, namespace, query.Get("labelSelector"), from, query.Get("limit"))
}

// kinds are what lists have, by resource.
var kinds = map[string]schema.GroupVersionKind{
	"pods": {Version: "v1", Kind: "Pod"}, "services": {Version: "v1", Kind: "Service"}, "nodes": {Version: "v1", Kind: "Node"},
	"namespaces": {Version: "v1", Kind: "Namespace"}, "endpoints": {Version: "v1", Kind: "Endpoints"},
	"endpointslices": {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	"ingresses":      {Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// page answers with a page of a list.
func (s *server) page(w http.ResponseWriter, resource, namespace, label string, from int, limit string) {
	selector, err := labels.Parse(label)
	if err != nil {
		fail(w, "400 BadRequest")
		return
	}
	items := []discovery.Object{}
	for _, object := range s.objects {
		is, _, err := scheme.Scheme.ObjectKinds(object)
		if err == nil && is[0] == kinds[resource] && (namespace == "" || object.GetNamespace() == namespace) && selector.Matches(labels.Set(object.GetLabels())) {
			items = append(items, object)
		}
	}
	meta := map[string]any{"resourceVersion": "1"}
	items = items[min(from, len(items)):]
	if n, _ := strconv.Atoi(limit); n > 0 && len(items) > n {
		items = items[:n]
		meta["continue"] = strconv.Itoa(from + n)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": kinds[resource].GroupVersion().String(), "kind": kinds[resource].Kind + "List", "metadata": meta, "items": items,
	})
}

// review answers a question about permissions.
func (s *server) review(w http.ResponseWriter, r *http.Request) {
	if s.reviews != "" {
		fail(w, s.reviews)
		return
	}
	var review authorizationv1.SubjectAccessReview
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &review)
	}
	if err != nil {
		fail(w, "400 BadRequest")
		return
	}
	s.asked = append(s.asked, review.Spec)
	a := review.Spec.ResourceAttributes
	review.Status.Allowed = !slices.Contains(s.lacks, a.Verb+" "+a.Namespace+"/"+a.Resource)
	w.WriteHeader(http.StatusCreated)
	review.Kind, review.APIVersion = "SubjectAccessReview", authorizationv1.SchemeGroupVersion.String()
	_ = json.NewEncoder(w).Encode(&review)
}
