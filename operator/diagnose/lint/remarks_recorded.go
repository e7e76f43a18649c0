package lint

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// levelled matches a name with a colon.
var levelled = lazyregexp.New(`\w:\w`)

// maxRecorded is the maximum number of recorded names with which others are compared.
const maxRecorded = 2000

// recordedRemarks reports recorded names in expressions that no rule among the manifests records, although one records
// almost the same name. Names of levels, such as job:errors:rate5m, are only those of recording rules.
func (l *linter) recordedRemarks(note says, queries []*query) {
	all := l.recordedNames()
	if len(all) == 0 || len(all) > maxRecorded {
		return
	}
	for _, q := range queries {
		if !levelled.MatchString(q.text) {
			continue
		}
		for _, selector := range q.selectors() {
			name := nameIn(selector)
			if strings.Count(name, ":") == 0 || slices.Contains(all, name) {
				continue
			}
			if meant := l.likeRecorded.of(name, func() string { return noSibling(name, manifest.Similar(name, all)) }); meant != "" {
				note(q.path("expr"), "no rule among the manifests records %s; one records %s: did you mean that?", name, meant)
			}
		}
	}
}

// nameIn returns the metric name that a selector compares with =; empty if there is none.
func nameIn(selector []*labels.Matcher) string {
	for _, m := range selector {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

// noSibling returns a similar name; empty if it differs in digits only: such names are siblings, such as rate5m and rate1h.
func noSibling(name, similar string) string {
	if withoutDigits(similar) == withoutDigits(name) {
		return ""
	}
	return similar
}

func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// recordedNames returns the names that the rules among the manifests record, sorted.
func (l *linter) recordedNames() []string {
	if l.recorded != nil {
		return l.recorded
	}
	l.recorded = []string{}
	for _, o := range l.objects.All(catalog.PrometheusRule) {
		for _, group := range o.(*v1.PrometheusRule).Spec.Groups {
			for i := range group.Rules {
				if name := group.Rules[i].Record; name != "" {
					l.recorded = append(l.recorded, name)
				}
			}
		}
	}
	slices.Sort(l.recorded)
	l.recorded = slices.Compact(l.recorded)
	return l.recorded
}
