package thanosruler

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	// replicaLabel is the external label that distinguishes the pods.
	replicaLabel = "thanos_ruler_replica"
	// defaultInterval and wellknown.DefaultRetention are the defaults of the CRD. They
	// also apply to an object that bypassed the CRD defaults.
	defaultInterval = "15s"
)

// withUTF8Labels has several uses. The other version ranges are in the tables.
var withUTF8Labels = workload.Versions{Since: "0.38.0"} // label names with characters other than letters, digits and "_"

// args are the arguments between "rule" and the user's arguments.
var args = slices.Concat([]workload.Row[*builder]{
	{Name: "data-dir", Value: workload.Always[*builder](kind.Data.Dir)},
	{Name: "eval-interval", Value: workload.DurationFlag(func(b *builder) v1.Duration { return cmp.Or(b.spec.EvaluationInterval, defaultInterval) })},
	{Name: "tsdb.retention",
		Value: workload.NonEmpty(func(b *builder) v1.Duration { return cmp.Or(b.spec.Retention, wellknown.DefaultRetention) })},
	{Name: "rule-query-offset", In: workload.Versions{Since: "0.38.0"}, Field: "spec.ruleQueryOffset",
		Value: workload.DurationFlag(func(b *builder) v1.Duration { return b.spec.RuleQueryOffset })},
	{Name: "rule-concurrent-evaluation", In: workload.Versions{Since: "0.37.0"}, Field: "spec.ruleConcurrentEval", Value: concurrency},
	{Name: "for-outage-tolerance", In: workload.Versions{Since: "0.30.0"}, Field: "spec.ruleOutageTolerance",
		Value: workload.DurationFlag(func(b *builder) v1.Duration { return b.spec.RuleOutageTolerance })},
	{Name: "for-grace-period", In: workload.Versions{Since: "0.30.0"}, Field: "spec.ruleGracePeriod",
		Value: workload.DurationFlag(func(b *builder) v1.Duration { return b.spec.RuleGracePeriod })},
	{Name: "resend-delay", Value: workload.DurationFlag(func(b *builder) v1.Duration { return b.spec.ResendDelay })},
	{Name: "enable-feature", In: workload.Versions{Since: "0.39.0"}, Field: "spec.enableFeatures",
		Each: func(b *builder) []string { return b.spec.EnableFeatures }},
	{Name: "label", Each: externalLabels},
	{Name: "alert.label-drop", Each: droppedLabels},
	{Name: "http-address", Value: func(b *builder) (string, bool) {
		return workload.HostPort("localhost", serverPort), b.spec.ListenLocal
	}},
	{Name: "log.level", Value: workload.UnlessDefault(func(b *builder) string { return b.spec.LogLevel }, "info")},
	{Name: "log.format", Value: workload.NonEmpty(func(b *builder) string { return b.spec.LogFormat })},
	{Name: "rule-file", Value: workload.Always[*builder](kind.RulesDir + "/*/*.yaml")},
	{Name: "remote-write.config-file", In: workload.Versions{Since: "0.24.0"}, Field: "spec.remoteWrite",
		Value: func(b *builder) (string, bool) {
			path, _ := b.files().PathOf(remoteWriteVolume)
			return path, len(b.spec.RemoteWrite) > 0
		}},
	{Name: "query.config-file", Value: pathOf(queryVolume)},
	{Name: "query", Each: func(b *builder) []string { return unless(b.spec.QueryConfig != nil, b.spec.QueryEndpoints) }},
	{Name: "alertmanagers.config-file", Value: pathOf(alertmanagersVolume)},
	{Name: "alertmanagers.url", Each: alertmanagers},
	{Name: "objstore.config-file", Value: pathOf(objectStorageVolume)},
	{Name: "tracing.config-file", Value: pathOf(tracingVolume)},
	{Name: "alert.relabel-config-file", Value: pathOf(alertRelabelVolume)},
}, workload.GRPCServerArgs("spec.grpcServerTlsConfig", func(b *builder) *v1.GRPCServerTLSConfig {
	return b.spec.GRPCServerTLSConfig
}), []workload.Row[*builder]{
	{Name: "web.external-prefix", Value: workload.NonEmpty(func(b *builder) string { return b.spec.ExternalPrefix })},
	{Name: "web.route-prefix", Value: func(b *builder) (string, bool) { return b.RoutePrefix(), b.spec.RoutePrefix != "" }},
	{Name: "alert.query-url", Value: workload.NonEmpty(func(b *builder) string { return b.spec.AlertQueryURL })},
})

// lastArgs follow the user's arguments. They do not depend on spec.web, so that setting
// it later changes no argument.
var lastArgs = []workload.Row[*builder]{
	{Name: "http.config", In: kind.Web.In, Value: workload.Always[*builder](kind.Web.Path())},
}

// args returns the command line of the container.
func (b *builder) args() ([]string, error) {
	const field = "spec.additionalArgs"
	own, _ := workload.Fill(args, b.Version, b)
	last, _ := workload.Fill(lastArgs, b.Version, b)
	if err := workload.CheckUser(field, last, b.spec.AdditionalArgs); err != nil {
		return nil, err
	}
	all, err := workload.AppendUser(field, own, b.spec.AdditionalArgs)
	if err != nil {
		return nil, err
	}
	return append([]string{"rule"}, workload.Render(append(all, last...))...), nil
}

// Gates returns the gated arguments in the order in which they are written.
func Gates() []workload.Gate {
	b := newBuilder(&v1.ThanosRuler{}, workload.Config{})
	return workload.GatesOf("thanos rule", slices.Concat(args, lastArgs), b)
}

// pathOf returns the path of a file, if it is configured.
func pathOf(volume string) func(*builder) (string, bool) {
	return func(b *builder) (string, bool) { return b.files().PathOf(volume) }
}

func concurrency(b *builder) (string, bool) {
	n := b.spec.RuleConcurrentEval
	if n == nil || *n <= 0 {
		return "", false
	}
	return strconv.Itoa(int(*n)), true
}

// externalLabels returns the external labels of series and alerts, the replica label
// first.
func externalLabels(b *builder) []string {
	out := []string{replicaLabel + `="$(POD_NAME)"`}
	for _, name := range slices.Sorted(maps.Keys(b.spec.Labels)) {
		out = append(out, name+"="+quote(b.spec.Labels[name]))
	}
	return out
}

// quote quotes a label value. A value that is valid between quotation marks is kept as
// written: its escapes are the user's, and a changed argument would replace pods.
func quote(value string) string {
	if quoted := `"` + value + `"`; readable(quoted) {
		return quoted
	}
	return strconv.Quote(value)
}

func readable(quoted string) bool {
	_, err := strconv.Unquote(quoted)
	return err == nil
}

// droppedLabels returns the labels that are removed from alerts before they are sent.
func droppedLabels(b *builder) []string {
	return append([]string{replicaLabel}, b.spec.AlertDropLabels...)
}

// alertmanagers returns the URLs to which alerts are sent.
func alertmanagers(b *builder) []string {
	return unless(b.spec.AlertmanagersConfig != nil, b.spec.AlertmanagersURL)
}

// unless returns the list, or nil if another setting replaces it.
func unless(replaced bool, list []string) []string {
	if replaced {
		return nil
	}
	return list
}
