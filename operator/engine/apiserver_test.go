package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
)

// object is a decoded JSON object.
type object = map[string]any

// apiServer is an in-memory API server and the transport to it: lists, watches and writes of the
// resources in kindsOf. It has no schemas, so server-side apply is a merge.
type apiServer struct {
	mu      sync.Mutex
	version int
	objects map[string]map[string]object // by resource, then "namespace/name"
	history []change
	oldest  int  // minimum version from which watches can start
	down    bool // lists and watches fail
	watches map[*watching]bool
	writes  []string // in order, as call.String, without rejected ones
	asked   []string // reads of single objects
	// answer (optional) is called before each request; a status it returns is the response. It may
	// use the server.
	answer func(call) *metav1.Status // guarded
}

// change is a change of an object; after is nil for a deletion.
type change struct {
	version       int
	resource      string
	before, after object
}

// call identifies the target of a request.
type call struct{ verb, resource, namespace, name, sub string }

func (c call) key() string { return c.namespace + "/" + c.name }

// String returns, for example, "update secrets team/web" or "patch thanosrulers/status team/web".
func (c call) String() string {
	resource := c.resource
	if c.sub != "" {
		resource += "/" + c.sub
	}
	return c.verb + " " + resource + " " + c.key()
}

func newAPIServer() *apiServer {
	return &apiServer{objects: map[string]map[string]object{}, watches: map[*watching]bool{}, version: 100}
}

// kindsOf are the kinds by resource.
var kindsOf = func() map[string]metav1.TypeMeta {
	out := map[string]metav1.TypeMeta{
		"statefulsets": {APIVersion: "apps/v1", Kind: "StatefulSet"}, "daemonsets": {APIVersion: "apps/v1", Kind: "DaemonSet"},
		"storageclasses": {APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
	}
	for resource, kind := range map[string]string{
		"secrets": "Secret", "configmaps": "ConfigMap", "services": "Service", "pods": "Pod", "namespaces": "Namespace", "persistentvolumeclaims": "PersistentVolumeClaim",
	} {
		out[resource] = metav1.TypeMeta{APIVersion: "v1", Kind: kind}
	}
	for _, r := range catalog.All {
		out[r.Resource] = metav1.TypeMeta{APIVersion: r.GroupVersion().String(), Kind: r.Kind}
	}
	return out
}()

func callOf(r *http.Request) call {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts = parts[2:]; strings.HasPrefix(r.URL.Path, "/apis/") {
		parts = parts[1:]
	}
	c := call{verb: map[string]string{"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]}
	if parts[0] == "namespaces" && len(parts) > 2 {
		c.namespace, parts = parts[1], parts[2:]
	}
	parts = append(parts, "", "")
	c.resource, c.name, c.sub = parts[0], parts[1], parts[2]
	switch {
	case r.URL.Query().Get("watch") == "true" || r.URL.Query().Get("watch") == "1":
		c.verb = "watch"
	case c.name == "" && c.verb == "get":
		c.verb = "list"
	}
	return c
}

// answers sets the function that is called before each request.
func (s *apiServer) answers(answer func(call) *metav1.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// RoundTrip implements http.RoundTripper.
func (s *apiServer) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r)
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	if r.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		body = asJSON(body)
	}
	if c.verb == "create" {
		var o object
		_ = json.Unmarshal(body, &o)
		c.name = str(meta(o), "name")
	}
	s.mu.Lock()
	answer := s.answer
	s.mu.Unlock()
	if answer != nil {
		if st := answer(c); st != nil {
			return respond(st), nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	partial := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	if s.down && (c.verb == "watch" || c.verb == "list") {
		return respond(failure(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, c)), nil
	}
	switch c.verb {
	case "watch":
		return s.watch(r, c, partial), nil
	case "list":
		return respond(s.list(c, matching(r), partial)), nil
	case "get":
		s.asked = append(s.asked, c.String())
		if o := s.objects[c.resource][c.key()]; o != nil {
			return respond(shown(o, partial)), nil
		}
		return respond(failure(http.StatusNotFound, metav1.StatusReasonNotFound, c)), nil
	}
	out, st := s.write(c, r.Header.Get("Content-Type"), body)
	if st != nil {
		return respond(st), nil
	}
	s.writes = append(s.writes, c.String())
	return respond(out), nil
}

// asJSON decodes an object from protobuf.
func asJSON(body []byte) []byte {
	o, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		panic(err)
	}
	o.GetObjectKind().SetGroupVersionKind(*kind)
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return text
}

func respond(v any) *http.Response {
	code := http.StatusOK
	if st, is := v.(*metav1.Status); is {
		st.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		st.Status, code = metav1.StatusFailure, int(st.Code)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text))}
}

func failure(code int32, reason metav1.StatusReason, c call) *metav1.Status {
	return &metav1.Status{Code: code, Reason: reason, Message: fmt.Sprintf("%s: %s", reason, c), Details: &metav1.StatusDetails{Name: c.name, Kind: c.resource}}
}

// write executes one write and returns the resulting object.
func (s *apiServer) write(c call, content string, body []byte) (object, *metav1.Status) {
	live := s.objects[c.resource][c.key()]
	var sent any
	if err := json.Unmarshal(body, &sent); err != nil && len(body) > 0 {
		return nil, failure(http.StatusBadRequest, metav1.StatusReasonBadRequest, c)
	}
	doc, _ := sent.(object)
	switch {
	case c.verb == "create" && live != nil:
		return nil, failure(http.StatusConflict, metav1.StatusReasonAlreadyExists, c)
	case c.verb == "create":
		m := meta(doc)
		m["uid"], m["creationTimestamp"], m["generation"] = fmt.Sprintf("uid-%d", s.version), time.Now().UTC().Format(time.RFC3339), 1.0
		return s.store(c, doc), nil
	case live == nil:
		return nil, failure(http.StatusNotFound, metav1.StatusReasonNotFound, c)
	case c.verb == "delete" || c.sub == "eviction":
		before, _ := doc["preconditions"].(object)
		if stale(live, before) {
			return nil, failure(http.StatusConflict, metav1.StatusReasonConflict, c)
		}
		return s.remove(c, live), nil
	case stale(live, meta(doc)):
		return nil, failure(http.StatusConflict, metav1.StatusReasonConflict, c)
	}
	next := clone(live)
	switch {
	case c.verb == "update":
		keep := meta(live)
		next = doc
		for _, k := range []string{"uid", "creationTimestamp", "generation", "deletionTimestamp"} {
			if v, has := keep[k]; has {
				meta(next)[k] = v
			}
		}
	case content == string(types.JSONPatchType):
		var steps []bindings.Operation
		if json.Unmarshal(body, &steps) != nil || !patched(next, steps) {
			return nil, &metav1.Status{Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: "the test of the patch failed"}
		}
	default:
		merge(next, doc)
	}
	if c.sub == "status" {
		status := next["status"]
		next = clone(live)
		next["status"] = status
	} else if live["status"] != nil {
		next["status"] = live["status"]
	}
	if !reflect.DeepEqual(next["spec"], live["spec"]) {
		generation, _ := meta(next)["generation"].(float64)
		meta(next)["generation"] = generation + 1
	}
	if reflect.DeepEqual(next, live) {
		return live, nil
	}
	if meta(next)["deletionTimestamp"] != nil && len(list(meta(next)["finalizers"])) == 0 {
		return s.drop(c, next), nil
	}
	return s.store(c, next), nil
}

// stale reports whether a write has a precondition on another version of an object.
func stale(live, about object) bool {
	for _, k := range []string{"resourceVersion", "uid"} {
		if want := str(about, k); want != "" && want != str(meta(live), k) {
			return true
		}
	}
	return false
}

func (s *apiServer) remove(c call, live object) object {
	if len(list(meta(live)["finalizers"])) == 0 {
		return s.drop(c, live)
	}
	next := clone(live)
	meta(next)["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	return s.store(c, next)
}

func (s *apiServer) drop(c call, last object) object {
	delete(s.objects[c.resource], c.key())
	s.version++
	last = clone(last)
	meta(last)["resourceVersion"] = strconv.Itoa(s.version)
	s.tell(change{s.version, c.resource, last, nil})
	return last
}

func (s *apiServer) store(c call, o object) object {
	if s.objects[c.resource] == nil {
		s.objects[c.resource] = map[string]object{}
	}
	s.version++
	if spec, is := o["spec"].(object); is && c.resource == "services" { // defaults
		for k, v := range map[string]any{"type": "ClusterIP", "sessionAffinity": "None"} {
			if spec[k] == nil {
				spec[k] = v
			}
		}
		for _, port := range list(spec["ports"]) {
			port.(object)["protocol"] = "TCP"
		}
	}
	kind := kindsOf[c.resource]
	o["apiVersion"], o["kind"] = kind.APIVersion, kind.Kind
	meta(o)["resourceVersion"] = strconv.Itoa(s.version)
	before := s.objects[c.resource][c.key()]
	s.objects[c.resource][c.key()] = o
	s.tell(change{s.version, c.resource, before, o})
	return o
}

func (s *apiServer) tell(ch change) {
	s.history = append(s.history, ch)
	for w := range s.watches {
		w.tell(ch)
	}
}

func (s *apiServer) list(c call, match func(object) bool, partial bool) any {
	items := []object{}
	for _, key := range slices.Sorted(maps.Keys(s.objects[c.resource])) {
		if o := s.objects[c.resource][key]; c.covers(o) && match(o) {
			items = append(items, shown(o, partial))
		}
	}
	kind := kindsOf[c.resource]
	if partial {
		kind = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}
	}
	return object{"apiVersion": kind.APIVersion, "kind": kind.Kind + "List", "metadata": object{"resourceVersion": strconv.Itoa(s.version)}, "items": items}
}

func (c call) covers(o object) bool {
	return c.namespace == "" || c.namespace == str(meta(o), "namespace")
}

func matching(r *http.Request) func(object) bool {
	byLabel, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	byField, err := fields.ParseSelector(r.URL.Query().Get("fieldSelector"))
	if err != nil {
		panic(err)
	}
	return func(o object) bool {
		set := labels.Set{}
		if all, is := meta(o)["labels"].(object); is {
			for k := range all {
				set[k] = str(all, k)
			}
		}
		return byLabel.Matches(set) && byField.Matches(fields.Set{"metadata.name": str(meta(o), "name"), "metadata.namespace": str(meta(o), "namespace")})
	}
}

// shown returns an object in the requested representation.
func shown(o object, partial bool) object {
	if !partial {
		return o
	}
	return object{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": o["metadata"]}
}
