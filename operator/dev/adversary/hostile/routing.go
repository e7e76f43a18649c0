package hostile

import (
	"fmt"
	"strings"
)

// receivers returns one receiver for each name.
func receivers(names ...string) []any {
	out := []any{}
	for _, name := range names {
		out = append(out, map[string]any{"name": name})
	}
	return out
}

// nearNames returns receivers with similar names, and routes to other similar names. Each of these is compared with all
// receivers to find a suggestion.
func (m *maker) nearNames() Manifest {
	count, length := oneOf(m, 10, 300, 2000), oneOf(m, 10, 500, 5000)
	count = max(1, min(count, stored/4/(length+40)))
	names, routes := []string{}, []any{}
	for i := range count {
		name := fmt.Sprintf("%s%d", strings.Repeat("r", length), i)
		names = append(names, name)
		if m.rng.IntN(2) == 0 {
			name += "x"
		}
		routes = append(routes, map[string]any{"receiver": name, "muteTimeIntervals": []any{name}})
	}
	intervals := []any{}
	for _, name := range names[:min(len(names), 100)] {
		intervals = append(intervals, map[string]any{"name": name, "timeIntervals": []any{}})
	}
	return m.shell(map[string]any{
		"route": map[string]any{"receiver": names[0], "routes": routes}, "receivers": receivers(names...), "muteTimeIntervals": intervals,
	})
}

// deepRoutes returns a deep or wide routing tree.
func (m *maker) deepRoutes() Manifest {
	depth := oneOf(m, 5, 100, 1000, 4000)
	route := map[string]any{"receiver": "a"}
	if m.rng.IntN(2) == 0 {
		for range min(depth, 4000) {
			route = map[string]any{"receiver": "a", "routes": []any{route}}
		}
	} else {
		for range min(depth/10+1, 13) { // two children each
			route = map[string]any{"receiver": "a", "continue": true, "routes": []any{route, route}}
		}
	}
	return m.shell(map[string]any{"route": route, "receivers": receivers("a")})
}

// otherCase spells the keys of child routes with the wrong case, or repeats them.
func (m *maker) otherCase() Manifest {
	spell := func(key string) string {
		return oneOf(m, key, strings.ToUpper(key), strings.ToUpper(key[:1])+key[1:], strings.ToLower(key), strings.ReplaceAll(key, "s", "ſ"), strings.ReplaceAll(key, "k", "\u212a"))
	}
	matcher := map[string]any{spell("name"): "a", spell("value"): "b", spell("matchType"): oneOf(m, "=", "=~"), spell("regex"): true}
	child := map[string]any{
		spell("receiver"): "a", spell("matchers"): []any{matcher}, spell("continue"): true, spell("groupBy"): []any{"job"},
		spell("groupWait"): "30s", spell("muteTimeIntervals"): []any{},
	}
	if m.rng.IntN(2) == 0 {
		child = map[string]any{spell("receiver"): "a", spell("routes"): []any{child}}
	}
	return m.shell(map[string]any{
		"route": map[string]any{"receiver": "a", "routes": []any{child}}, "receivers": receivers("a"),
	})
}

// unknownFields returns child routes with arbitrary fields, which the schema does not validate.
func (m *maker) unknownFields() Manifest {
	children := []any{}
	for range oneOf(m, 1, 3, 100) {
		child := m.anything(1 + m.rng.IntN(5))
		if m.rng.IntN(2) == 0 {
			object, ok := child.(map[string]any)
			if !ok {
				object = map[string]any{"matchers": child}
			}
			object["receiver"] = oneOf[any](m, "a", "a", int64(3), nil, []any{})
			child = object
		}
		children = append(children, child)
	}
	return m.shell(map[string]any{
		"route": map[string]any{"receiver": "a", "routes": children}, "receivers": receivers("a"),
	})
}

// matchers returns routes and inhibition rules with expensive regular expressions.
func (m *maker) matchers() Manifest {
	matcher := func() any {
		return map[string]any{"name": "a", "value": m.expensive(), "matchType": oneOf(m, "=~", "!~")}
	}
	routes, inhibit := []any{}, []any{}
	for range oneOf(m, 1, 50, 300) {
		routes = append(routes, map[string]any{"receiver": "a", "matchers": []any{matcher()}})
		inhibit = append(inhibit, map[string]any{"sourceMatch": []any{matcher()}, "targetMatch": []any{matcher()}})
	}
	for len(fmt.Sprint(routes, inhibit)) > stored {
		routes, inhibit = routes[:len(routes)/2], inhibit[:len(inhibit)/2]
	}
	return m.shell(map[string]any{
		"route": map[string]any{"receiver": "a", "routes": routes}, "receivers": receivers("a"), "inhibitRules": inhibit,
	})
}

// receiverTemplates returns receivers with notification templates.
func (m *maker) receiverTemplates() Manifest {
	m.with = append(m.with, Manifest{
		"apiVersion": "v1", "kind": "Secret", "metadata": Manifest{"name": fmt.Sprintf("hooks-%d", m.index), "namespace": m.namespace},
		"stringData": map[string]any{"url": oneOf(m, "https://hooks.example/a", m.oddString())},
	})
	list := []any{}
	for range oneOf(m, 1, 20) {
		list = append(list, map[string]any{
			"apiURL":  map[string]any{"name": fmt.Sprintf("hooks-%d", m.index), "key": "url"},
			"channel": "#" + m.templateText(), "title": m.templateText(), "text": m.templateText(), "color": m.templateText(),
		})
	}
	return m.shell(map[string]any{
		"route": map[string]any{"receiver": "a"}, "receivers": []any{map[string]any{"name": "a", "slackConfigs": list}},
	})
}
