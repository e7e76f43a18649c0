package amconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
}

// decodeRoutes decodes all levels below route; nil stays nil. The JSON of a child contains that of its own
// children, and is parsed once.
//
// Errors, joined: children that are not routes or have unknown fields; too many levels. The valid part is
// returned even on error.
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

// add decodes a JSON value as a child. An invalid one is skipped with its children.
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
	switch {
	case err != nil:
	case level > budget.RouteDepth:
		err = fmt.Errorf("routes are nested deeper than %d levels", budget.RouteDepth)
	}
	if err != nil {
		r.wrong.Add(path, err)
		return
	}
	child := &routeNode{Route: route, path: path}
	n.children = append(n.children, child)
	for i, value := range children {
		child.add(value, faults.Index(path+".routes", i), level+1, r)
	}
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

// insteadOf maps a field and the type of its value to a suggestion, for values in the notation of
// Alertmanager's configuration file.
var insteadOf = map[string]string{
	"matchers string": `write {name: severity, value: critical, matchType: "="} for severity="critical"`,
	"matchers object": "write a list, with a dash",
	"groupBy string":  "write a list, such as [alertname]",
	"routes object":   "write a list, with a dash",
}

// ownFields decodes the fields of one route. Names are case-sensitive, as in the API server.
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
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return nil, fmt.Errorf("is a JSON %s, not a route", wrong.Value)
		}
		if hint := insteadOf[wrong.Field+" "+wrong.Value]; hint != "" {
			return nil, faults.At(wrong.Field, fmt.Errorf("must not be a JSON %s; %s", wrong.Value, hint))
		}
		return nil, mistyped(text, wrong)
	}
	if err = cmp.Or(err, errors.Join(unknown...)); err != nil {
		return nil, unknownIn(text, err)
	}
	return route, nil
}

// mistyped returns an error with the field of a route that has a value of another type.
func mistyped(route []byte, wrong *json.UnmarshalTypeError) error {
	err := faults.At(wrong.Field, fmt.Errorf("must not be a JSON %s", wrong.Value))
	for _, one := range faults.Leaves(manifest.Decode(route, &v1alpha1.Route{})) {
		fault, is := errors.AsType[*manifest.FieldError](one)
		if !is || fault.Unknown() {
			continue
		}
		if err = fault; wrong.Type.Kind() == reflect.String && (wrong.Value == "number" || wrong.Value == "bool") {
			err = faults.At(fault.Path, errors.New(fault.Reason+": put it in quotes"))
		}
		break
	}
	return err
}

// unknownIn returns an error with the unknown field of a route and a suggestion.
func unknownIn(route []byte, err error) error {
	for _, one := range faults.Leaves(manifest.Decode(route, &v1alpha1.Route{})) {
		fault, is := errors.AsType[*manifest.FieldError](one)
		switch {
		case !is:
		case fault.Path == "match", fault.Path == "match_re", fault.Path == "matchRe":
			return faults.At(fault.Path, errors.New("unknown field; write matchers: [{name: …, value: …, matchType: …}]"))
		default:
			return fault
		}
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}
