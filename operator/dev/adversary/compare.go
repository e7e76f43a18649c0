package adversary

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/config"
	_ "github.com/prometheus/prometheus/discovery/kubernetes" // registers the Kubernetes discovery
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
)

func everything() *metav1.LabelSelector { return &metav1.LabelSelector{} }

// loadable parses a configuration as Prometheus does. It tolerates discovery mechanisms that are not compiled in here.
func loadable(text []byte) error {
	_, err := config.Load(string(text), nil)
	if err != nil && strings.Contains(err.Error(), "_sd_configs not found in type") {
		return nil
	}
	return err
}

// matchers lists the fields with lists of matchers.
var matchers = []string{"matchers", "sourceMatch", "targetMatch"}

// normal converts matchers to the form of v1beta1, which always has matchType and no regex. in is the field that
// contains the value.
func normal(v any, in string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = normal(v[i], in)
		}
	case map[string]any:
		if slices.Contains(matchers, in) {
			if v["matchType"] == nil || v["matchType"] == "" {
				v["matchType"] = "="
				if v["regex"] == true {
					v["matchType"] = "=~"
				}
			}
			delete(v, "regex")
		}
		for key := range v {
			v[key] = normal(v[key], key)
		}
	}
	return v
}

// firstDifference returns the path of the first difference between two JSON values, with excerpts of both.
func firstDifference(want, got any, path string) string {
	switch want := want.(type) {
	case map[string]any:
		other, is := got.(map[string]any)
		if !is {
			break
		}
		keys := maps.Clone(want)
		maps.Copy(keys, other)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			a, in := want[key]
			b, out := other[key]
			if in != out {
				return fmt.Sprintf("%s.%s is there: %t, then: %t", path, excerpt.Of(key, 60), in, out)
			}
			if text := firstDifference(a, b, path+"."+excerpt.Of(key, 60)); text != "" {
				return text
			}
		}
		return ""
	case []any:
		other, is := got.([]any)
		if !is || len(want) != len(other) {
			break
		}
		for i := range want {
			if text := firstDifference(want[i], other[i], fmt.Sprintf("%s[%d]", path, i)); text != "" {
				return text
			}
		}
		return ""
	}
	if fmt.Sprint(want) == fmt.Sprint(got) && fmt.Sprintf("%T", want) == fmt.Sprintf("%T", got) {
		return ""
	}
	return fmt.Sprintf("%s was %s and is %s", path, excerpt.Of(fmt.Sprintf("%T %v", want, want), 100), excerpt.Of(fmt.Sprintf("%T %v", got, got), 100))
}
