// Package discoverytest provides an API server for tests of discovery: it lists the objects of the
// test, with pagination and selectors, and responds to access reviews.
package discoverytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// Object is a built-in Kubernetes object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Server is an API server. The zero value has no objects and allows everything.
type Server struct {
	// Answers are error responses to list requests, by "NAMESPACE/RESOURCE", as "CODE Reason".
	Answers map[string]string
	// Lacks are permissions that ServiceAccounts do not have: "VERB NAMESPACE/RESOURCE".
	Lacks []string
	// Reviews is the error response to every access review, as "CODE Reason".
	Reviews string
	// Starting makes it not ready.
	Starting bool
	// Expired rejects every page but the first.
	Expired bool

	mu      sync.Mutex
	objects map[string][]Object // by resource
	lists   []string
	reviews []authorizationv1.SubjectAccessReviewSpec
}

// kinds are the supported kinds, by resource.
var kinds = map[string]schema.GroupVersionKind{
	"pods": {Version: "v1", Kind: "Pod"}, "services": {Version: "v1", Kind: "Service"}, "nodes": {Version: "v1", Kind: "Node"},
	"namespaces": {Version: "v1", Kind: "Namespace"}, "endpoints": {Version: "v1", Kind: "Endpoints"},
	"endpointslices": {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
	"ingresses":      {Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// Add adds objects, which must not change afterwards. It panics for kinds that discovery does not use.
func (s *Server) Add(objects ...Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects == nil {
		s.objects = map[string][]Object{}
	}
	for _, object := range objects {
		resource := resourceOf(object)
		s.objects[resource] = append(s.objects[resource], object)
	}
}

func resourceOf(object Object) string {
	is, _, err := scheme.Scheme.ObjectKinds(object)
	for resource, kind := range kinds {
		if err == nil && is[0] == kind {
			return resource
		}
	}
	panic(fmt.Sprintf("discoverytest: no discovery looks at a %T", object))
}

// Lists returns the paths and queries of list requests since the last call.
func (s *Server) Lists() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.lists
	s.lists = nil
	return out
}

// AccessReviews returns the access reviews that were requested.
func (s *Server) AccessReviews() []authorizationv1.SubjectAccessReviewSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reviews)
}

// ServeHTTP implements http.Handler. Watches never send an event.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/version": // older releases detect API versions
		fmt.Fprint(w, `{"major": "1", "minor": "34", "gitVersion": "v1.34.4"}`)
	case r.URL.Path == "/readyz":
		w.Header().Set("Content-Type", "text/plain")
		if s.Starting {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "[-]poststarthook/rbac/bootstrap-roles failed")
	case r.Method == http.MethodPost:
		s.review(w, r)
	case query.Get("sendInitialEvents") != "": // simulates a server without streaming lists
		fail(w, "422 Invalid")
	case query.Get("watch") != "":
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	default:
		s.list(w, r)
	}
}

// fail responds with an error given as "CODE Reason".
func fail(w http.ResponseWriter, text string) {
	code, reason, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(code)
	w.WriteHeader(n)
	fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "message": "the server says %s", "code": %d}`, reason, reason, n)
}

// list responds with a page.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, strings.TrimSuffix(r.URL.Path+"?"+query.Encode(), "?"))
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	resource, namespace := parts[len(parts)-1], ""
	if i := slices.Index(parts, "namespaces"); i >= 0 && i+2 < len(parts) {
		namespace = parts[i+1]
	}
	if answer := s.Answers[namespace+"/"+resource]; answer != "" {
		fail(w, answer)
		return
	}
	from, _ := strconv.Atoi(query.Get("continue"))
	if s.Expired && from > 0 {
		fail(w, "410 Expired")
		return
	}
	items, err := s.selected(resource, namespace, query.Get("labelSelector"), query.Get("fieldSelector"))
	if err != nil {
		fail(w, "400 BadRequest")
		return
	}
	meta := map[string]any{"resourceVersion": "1"}
	items = items[min(from, len(items)):]
	if n, _ := strconv.Atoi(query.Get("limit")); n > 0 && len(items) > n {
		items = items[:n]
		meta["continue"] = strconv.Itoa(from + n)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": kinds[resource].GroupVersion().String(), "kind": kinds[resource].Kind + "List", "metadata": meta, "items": items,
	})
}

// selected returns the objects of a namespace that match the selectors.
func (s *Server) selected(resource, namespace, label, field string) ([]Object, error) {
	byLabel, err := labels.Parse(label)
	if err != nil {
		return nil, err
	}
	byField, err := fields.ParseSelector(field)
	if err != nil {
		return nil, err
	}
	out := []Object{}
	for _, object := range s.objects[resource] {
		if namespace != "" && object.GetNamespace() != namespace || !byLabel.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		ok, err := matches(byField, object)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, object)
		}
	}
	return out, nil
}

// matches applies a field selector to the JSON form of an object.
func matches(selector fields.Selector, object Object) (bool, error) {
	if selector.Empty() {
		return true, nil
	}
	whole, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return false, err
	}
	set := fields.Set{}
	for _, r := range selector.Requirements() {
		var value any = whole
		for part := range strings.SplitSeq(r.Field, ".") {
			m, _ := value.(map[string]any)
			value = m[part]
		}
		if value != nil {
			set[r.Field] = fmt.Sprint(value)
		}
	}
	return selector.Matches(set), nil
}

// review responds to an access review.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	if s.Reviews != "" {
		fail(w, s.Reviews)
		return
	}
	var review authorizationv1.SubjectAccessReview
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &review)
	}
	if err != nil || review.Spec.ResourceAttributes == nil {
		fail(w, "400 BadRequest")
		return
	}
	s.mu.Lock()
	s.reviews = append(s.reviews, review.Spec)
	s.mu.Unlock()
	a := review.Spec.ResourceAttributes
	review.Status.Allowed = !slices.Contains(s.Lacks, a.Verb+" "+a.Namespace+"/"+a.Resource)
	review.Kind, review.APIVersion = "SubjectAccessReview", authorizationv1.SchemeGroupVersion.String()
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(&review)
}
