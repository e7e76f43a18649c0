package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// nameRemarks reports names of metrics in rules that the series of a workload do not have: those that its scrapes
// convert, and native histograms where none are scraped. It also reports recorded names that each query must quote. f are
// the fields of the workload, nil if it is not among the manifests.
func (l *linter) nameRemarks(say, note says, queries []*query, f *v1.CommonPrometheusFields) {
	for _, q := range queries {
		if name := q.rule.Record; name != "" && !model.LegacyValidation.IsValidMetricName(name) && model.UTF8Validation.IsValidMetricName(name) {
			note(q.path("record"), "queries find this name only in quotes, as in {%q}, because it has other characters than letters, digits, _ and :; use these alone", name)
		}
		quantile, quoted := strings.Contains(q.text, "histogram_quantile"), strings.Contains(q.text, `{"`) || strings.Contains(q.text, `{'`)
		if f == nil || !quantile && !quoted || q.expr() == nil {
			continue
		}
		if quoted && f.NameValidationScheme == v1.LegacyNameValidationScheme {
			escapedRemark(say, q.path("expr"), q.expr())
		}
		if quantile && !l.scrapesNative(f) {
			l.nativeRemark(note, q.path("expr"), q.expr())
		}
	}
}

// escapedRemark reports names that scrapes of the validation scheme Legacy convert.
func escapedRemark(say says, field string, expr parser.Expr) {
	for _, selector := range parser.ExtractSelectors(expr) {
		if name := nameIn(selector); name != "" && !model.LegacyValidation.IsValidMetricName(name) {
			say(field, "spec.nameValidationScheme of the workload is Legacy, with which no series has the name %q: scrapes convert it; write %s", name, model.EscapeName(name, model.UnderscoreEscaping))
			return
		}
	}
}

// nativeRemark reports a quantile of a histogram that has neither the name of its buckets nor is recorded.
func (l *linter) nativeRemark(note says, field string, expr parser.Expr) {
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		call, is := n.(*parser.Call)
		if !is || call.Func.Name != "histogram_quantile" || len(call.Args) < 2 {
			return nil
		}
		without := ""
		for _, selector := range parser.ExtractSelectors(call.Args[1]) {
			name := nameIn(selector)
			_, recorded := slices.BinarySearch(l.recordedNames(), name)
			if name == "" || recorded || strings.HasSuffix(name, "_bucket") || strings.Contains(name, ":") {
				return nil // others may be joined for their labels
			}
			without = cmp.Or(without, name)
		}
		if without != "" {
			note(field, "histogram_quantile of %[1]s, without _bucket, needs a native histogram, and the workload scrapes none; write sum by (le) (rate(%[1]s_bucket[5m])), or set scrapeNativeHistograms: true where it is scraped", without)
		}
		return nil
	})
}

// scrapesNative reports whether a workload may have native histograms: a field or feature turns them on, or series come
// from elsewhere.
func (l *linter) scrapesNative(f *v1.CommonPrometheusFields) bool {
	if ptr.Deref(f.ScrapeNativeHistograms, false) || slices.Contains(f.EnableFeatures, "native-histograms") || f.AdditionalScrapeConfigs != nil ||
		f.EnableRemoteWriteReceiver || ptr.Deref(f.EnableOTLPReceiver, false) {
		return true
	}
	if l.native == nil {
		l.native = new(l.monitorsOfNative())
	}
	return *l.native
}

// monitorsOfNative reports whether an object among the manifests turns on native histograms for its targets.
func (l *linter) monitorsOfNative() bool {
	for _, row := range []*catalog.Row{catalog.ServiceMonitor, catalog.PodMonitor, catalog.Probe, catalog.ScrapeConfig} {
		for _, o := range l.objects.All(row) {
			for _, c := range fields.Of[v1.NativeHistogramConfig]("", o) {
				if ptr.Deref(c.ScrapeNativeHistograms, false) {
					return true
				}
			}
		}
	}
	return false
}
