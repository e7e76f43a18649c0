package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// configuration returns a configuration in two parts with these numbers.
func configuration(first, second string) State {
	part := func(number, content string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "prometheus-web-config-part-" + number}, "data": map[string]any{"rules-" + number + ".tar.gz": content}}
	}
	return State{
		"secrets/prometheus-web": map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{wellknown.AnnotationConfigParts: first + "," + second}},
			"data":     map[string]any{"parts.json": `[{"file":"rules-` + first + `.tar.gz"},{"file":"rules-` + second + `.tar.gz"}]`},
		},
		"secrets/prometheus-web-config-part-" + first:  part(first, "a"),
		"secrets/prometheus-web-config-part-" + second: part(second, "b"),
		"secrets/rules-15": map[string]any{"data": "rules-15"}, // another object
	}
}

// Configurations are the same whichever numbers their parts have, but not if a part has another content.
func TestRenumbered(t *testing.T) {
	want := renumbered(configuration("1", "2"))
	for _, have := range []State{configuration("2", "15"), configuration("15", "16"), configuration("7", "9")} {
		if diff := cmp.Diff(want, renumbered(have)); diff != "" {
			t.Errorf("want -, is +\n%s", diff)
		}
	}
	other := configuration("15", "16")
	other["secrets/prometheus-web-config-part-16"].(map[string]any)["data"] = map[string]any{"rules-16.tar.gz": "c"}
	if Differs(want, renumbered(other)) != "secrets/prometheus-web-config-part-2" {
		t.Error("another content is not noticed")
	}
	if one := (State{"secrets/prometheus-web-config-part-1": 1}); len(renumbered(one)) != 1 {
		t.Error("a part without its configuration is lost")
	}
}
