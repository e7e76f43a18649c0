package amconfig

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// deepTree returns a tree with many routes below a path of some levels.
func deepTree(levels, routes int) *v1alpha1.Route {
	var many []string
	for i := range routes {
		many = append(many, fmt.Sprintf(`{"receiver":"r","groupBy":["a%d"],"matchers":[{"name":"team","value":"team-%d","matchType":"="}]}`, i, i))
	}
	raw := strings.Repeat(`{"routes":[`, levels) + strings.Join(many, ",") + strings.Repeat("]}", levels)
	return &v1alpha1.Route{Receiver: "r", Routes: []apiextensionsv1.JSON{{Raw: []byte(raw)}}}
}

// TestTreeIsReadOnce: the cost does not grow with the depth.
func TestTreeIsReadOnce(t *testing.T) {
	cost := func(levels int) uint64 {
		route := deepTree(levels, 2000)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		root, err := decodeRoutes(route, "spec.route")
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		n := root
		for range levels + 1 {
			n = n.children[0]
		}
		if n.GroupBy[0] != "a0" || len(n.children) > 0 {
			t.Fatalf("%d levels: the deepest route is %+v", levels, n.Route)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if flat, deep := cost(1), cost(60); deep > 2*flat {
		t.Errorf("60 levels allocate %d bytes, one level %d", deep, flat)
	}
}

// TestChildRoutes: errors in children are reported with their path, in order.
func TestChildRoutes(t *testing.T) {
	for raw, want := range map[string]string{
		`{"receiver":"r","continue":true}`:        "",
		`{"Receiver":"r"}`:                        `spec.route.routes[0].Receiver: unknown field, did you mean "receiver"?`,
		`{"Routes":[{"receiver":"r"}]}`:           `spec.route.routes[0].Routes: unknown field, did you mean "routes"?`,
		`{"receiver":"r","RECEIVER":"r"}`:         `spec.route.routes[0].RECEIVER: unknown field: receiver is set too: remove this one`,
		`{"matchers":[{"Name":"a","value":"b"}]}`: `spec.route.routes[0].matchers[0].Name: unknown field, did you mean "name"?`,
		`{"routes":null}`:                         "",
		`{"routes":[{}],"Routes":[{}]}`:           `spec.route.routes[0].Routes: unknown field, did you mean "routes"?`,
		`null`:                                    "spec.route.routes[0]: is null",
		`{"routes":[{},null]}`:                    "spec.route.routes[0].routes[1]: is null",
		`[]`:                                      "spec.route.routes[0]: is a JSON array, not a route",
		`{"routes":{}}`:                           "spec.route.routes[0].routes: want a list, got an object; write a list, with a dash",
		`{"matchers":[{"name":"a","value":"b"},{"name":"c","value":true}]}`: "spec.route.routes[0].matchers[1].value: want a string, got true or false: put it in quotes",
		`{"continue":"true"}`: "spec.route.routes[0].continue: want true or false, got a string: write it without quotes",
		`{"continue":"true","group_by":["a"],"matchers":[{"name":"a","values":"b"},"c=d"],"routes":[{"a":1}]}`: `spec.route.routes[0].continue: want true or false, got a string: write it without quotes
spec.route.routes[0].group_by: unknown field, did you mean "groupBy"?
spec.route.routes[0].matchers[0].values: unknown field, did you mean "value"?
spec.route.routes[0].matchers[1]: want an object, got a string; write {name: severity, value: critical, matchType: "="} for severity="critical"
spec.route.routes[0].routes[0].a: unknown field`,
		`{"match_re":{"a":"b"},"matchRe":{"a":"b"}}`: `spec.route.routes[0].matchRe: unknown field; write matchers: [{name: …, value: …, matchType: …}]
spec.route.routes[0].match_re: unknown field; write matchers: [{name: …, value: …, matchType: …}]`,
		`{"matchers":["a=b"]}`:                                               `spec.route.routes[0].matchers[0]: want an object, got a string; write {name: severity, value: critical, matchType: "="} for severity="critical"`,
		`{"routes":[{"receiver":7}]}`:                                        "spec.route.routes[0].routes[0].receiver: want a string, got an integer: put it in quotes",
		`{"routes":[{"routes":[{"a":1}]},{"b":1}],"c":1}`:                    "spec.route.routes[0].c: unknown field\nspec.route.routes[0].routes[0].routes[0].a: unknown field\nspec.route.routes[0].routes[1].b: unknown field",
		`{"routes":[{"routes":[{"a":1}]},{"b":1}]}`:                          "spec.route.routes[0].routes[0].routes[0].a: unknown field\nspec.route.routes[0].routes[1].b: unknown field",
		strings.Repeat(`{"routes":[`, 20_000) + strings.Repeat("]}", 20_000): "spec.route.routes[0]: invalid character '{' exceeded max depth",
	} {
		_, err := decodeRoutes(&v1alpha1.Route{Routes: []apiextensionsv1.JSON{{Raw: []byte(raw)}}}, "spec.route")
		if got := fmt.Sprint(err); got != want && (want != "" || err != nil) {
			t.Errorf("%.60s: %s, want %s", raw, got, want)
		}
	}
}

// BenchmarkDeepRoutes decodes 10,000 routes (800 kB) at two depths.
func BenchmarkDeepRoutes(b *testing.B) {
	for _, levels := range []int{1, 60} {
		b.Run(fmt.Sprintf("levels=%d", levels), func(b *testing.B) {
			route := deepTree(levels, 10_000)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decodeRoutes(route, "spec.route"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
