package lint

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// environment matches a variable as a shell and Prometheus replace it; shellVariable one that is no group of a regex.
var (
	environment   = lazyregexp.New(`\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))`)
	shellVariable = lazyregexp.New(`\$\{[A-Z_][A-Z0-9_]*\}`)
)

// unreplaced reports whether the value of a field, which is refused, has a variable that another program is to replace.
func (l *linter) unreplaced(f Finding) bool {
	t := l.tree(l.placeOf(f))
	if f.Field == "" || t.root == nil {
		return false
	}
	node := find(t.root, manifests.SplitPath(f.Field))
	return node != nil && node.Kind == yaml.ScalarNode && shellVariable.MatchString(node.Value)
}

// expandedLabels reports external labels with a variable that the container of Prometheus does not have.
func expandedLabels(note says, w v1.Workload) {
	common := v1alpha1.CommonFields(w)
	if common == nil {
		return
	}
	has := map[string]bool{}
	for _, c := range common.Containers {
		if c.Name != "prometheus" {
			continue
		}
		if len(c.EnvFrom) > 0 {
			return
		}
		for _, env := range c.Env {
			has[env.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(common.ExternalLabels)) {
		for _, m := range environment.Get().FindAllStringSubmatch(common.ExternalLabels[name], -1) {
			if variable := m[1] + m[2]; !has[variable] {
				note(fmt.Sprintf("spec.externalLabels[%q]", name), "Prometheus >= 3.0 replaces %s by a variable of its container, which has none of this name, so that the value is empty: write the value, or containers: [{name: prometheus, env: [{name: %s, …}]}], unless another program replaces it in this file", m[0], variable)
				break
			}
		}
	}
}
