package amconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// routeNode is a route of an object with decoded children.
type routeNode struct {
	// Route has Routes only at the top.
	*v1alpha1.Route
	// path is the path in the object: "spec.route.routes[2]".
	path     string
	children []*routeNode
	// faulty has the indexes of matchers that were reported, and of which only a part is decoded.
	faulty map[int]bool
}

// decodeRoutes decodes all levels below route; nil stays nil. The JSON of a child contains that of its own
// children, and is parsed once.
//
// Errors, joined: children that are not routes; unknown fields and wrong types in them; too many levels. The valid part
// is returned even on error.
func decodeRoutes(route *v1alpha1.Route, path string) (*routeNode, error) {
	if route == nil {
		return nil, nil
	}
	n := &routeNode{Route: route, path: path}
	objects := 0
	for _, child := range route.Routes {
		objects += bytes.Count(child.Raw, []byte("{"))
	}
	if len(route.Routes) >= budget.Routes || objects > mostObjects {
		return n, faults.At(path+".routes", errRoutes)
	}
	var r routeReader
	for i, child := range route.Routes {
		path := faults.Index(path+".routes", i)
		value, err := parseJSON(child)
		if err != nil {
			r.wrong.Add(path, err)
			continue
		}
		n.add(value, path, 2, &r)
	}
	return n, r.wrong.Err()
}

// mostObjects is the maximum number of JSON objects in all routes, including matchers. Each takes memory before
// its type is known.
const mostObjects = 20 * budget.Routes

var errRoutes = fmt.Errorf("there are more than %d routes on all levels, the limit of one %s", budget.Routes, v1alpha1.AlertmanagerConfigKind)

// routeReader counts the routes of a tree and collects errors.
type routeReader struct {
	n     int
	wrong faults.List
}

func parseJSON(in apiextensionsv1.JSON) (value any, err error) {
	if len(in.Raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(in.Raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return value, nil
}

// add decodes a JSON value as a child, without its faulty fields. One that is no route is skipped with its children.
func (n *routeNode) add(value any, path string, level int, r *routeReader) {
	if r.wrong.Full() || r.n >= budget.Routes {
		return
	}
	if r.n++; r.n == budget.Routes { // including the top one
		r.wrong.Add("", errRoutes)
		return
	}
	children := takeChildren(value)
	route, err := ownFields(value)
	if level > budget.RouteDepth {
		route, err = nil, fmt.Errorf("routes are nested deeper than %d levels", budget.RouteDepth)
	}
	r.wrong.Add(path, err)
	if route == nil {
		return
	}
	child := &routeNode{Route: route, path: path, faulty: faultyMatchers(err)}
	n.children = append(n.children, child)
	for i, value := range children {
		child.add(value, faults.Index(path+".routes", i), level+1, r)
	}
}

// faultyMatchers returns the indexes of the matchers that the errors of a route are about.
func faultyMatchers(err error) map[int]bool {
	out := map[int]bool{}
	for _, one := range faults.Of(err) {
		var i int
		if _, err := fmt.Sscanf(one.Field, "matchers[%d]", &i); err == nil {
			out[i] = true
		}
	}
	return out
}

// takeChildren removes the list of children from a route and returns it. If it is not a list, it is kept, so
// that decoding reports the error.
func takeChildren(value any) []any {
	route, _ := value.(map[string]any)
	list, is := route["routes"].([]any)
	if is {
		delete(route, "routes")
	}
	return list
}

// ownFields decodes the fields of one route. Names are case-sensitive, as in the API server.
//
// Errors, joined: one for each unknown field and each value of another type. The other fields are returned even then, and
// nil if value is no route.
func ownFields(value any) (*v1alpha1.Route, error) {
	if value == nil {
		return nil, errors.New("is null")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	route := &v1alpha1.Route{}
	unknown, err := kjson.UnmarshalStrict(text, route)
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typeErr.Field == "" {
		return nil, fmt.Errorf("is a JSON %s, not a route", typeErr.Value)
	}
	if err = cmp.Or(err, errors.Join(unknown...)); err == nil {
		return route, nil
	}
	var all faults.List
	named := "" // the field of Alertmanager's file that was reported last
	for _, one := range faults.Leaves(manifest.DecodeJSON(text, &v1alpha1.Route{})) {
		if fault, is := errors.AsType[*manifest.FieldError](one); is && (named == "" || !strings.HasPrefix(fault.Path, named)) {
			if named = ""; fault.Unknown() && slices.Contains(matchMaps, fault.Path) {
				named = fault.Path
			}
			all.Add(fault.Path, errors.New(inRoute(fault)))
		}
	}
	if !all.Any() {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return route, all.Err()
}

// matchMaps are the fields of Alertmanager's file with matchers as a map.
var matchMaps = []string{"match", "match_re", "matchRe"}

// inRoute returns the reason of a fault in a child route, with a suggestion for the notation of Alertmanager's
// configuration file.
func inRoute(fault *manifest.FieldError) string {
	_, reason := fault.Located()
	_, isObject := fault.Value.(map[string]any)
	field, _, _ := strings.Cut(fault.Path, "[")
	switch {
	case fault.Unknown() && slices.Contains(matchMaps, fault.Path):
		return "unknown field; write matchers: [{name: …, value: …, matchType: …}]"
	case fault.Unknown():
	case field == "matchers" && fault.Type.Kind() == reflect.Struct:
		reason += `; write {name: severity, value: critical, matchType: "="} for severity="critical"`
	case isObject && fault.Type.Kind() == reflect.Slice:
		reason += "; write a list, with a dash"
	case fault.Path == "groupBy":
		reason += "; write a list, such as [alertname]"
	case fault.Type.Kind() == reflect.String && quotable(fault.Value):
		reason += ": put it in quotes"
	case fault.Type.Kind() == reflect.Bool && (fault.Value == "true" || fault.Value == "false"):
		reason += ": write it without quotes"
	}
	return reason
}

// quotable reports whether a value would be a string in quotes.
func quotable(value any) bool {
	switch value.(type) {
	case int64, float64, bool:
		return true
	}
	return false
}
