package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// MissingLabel returns how to give an object a label that it lacks: often it has the label in
// another place, or a misspelled one.
func MissingLabel(object catalog.Object, label string) string {
	if object == nil {
		return "add it"
	}
	own := slices.Sorted(maps.Keys(object.GetLabels()))
	if i := slices.IndexFunc(own, func(key string) bool { return strings.EqualFold(key, label) }); i >= 0 {
		return fmt.Sprintf("write %s instead of %s, case matters", label, own[i])
	}
	if meant := manifest.Similar(label, own); meant != "" {
		return fmt.Sprintf("did you mean it by %s? Otherwise add it", meant)
	}
	if _, is := object.GetAnnotations()[label]; is {
		return "it is in metadata.annotations, which selectors do not compare: move it"
	}
	var looks map[string]string
	of := "Services"
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		looks = m.Spec.Selector.MatchLabels
	case *v1.PodMonitor:
		looks, of = m.Spec.Selector.MatchLabels, "pods"
	}
	if _, is := looks[label]; is {
		return "it is in spec.selector.matchLabels, which selects " + of + ": move it"
	}
	return "add it"
}
