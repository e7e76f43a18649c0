package thanosruler

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

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

// Version ranges that several decisions depend on. The others are in the tables.
var (
	withWebConfig  = workload.Versions{Since: "0.21.0"} // --http.config and everything it needs
	withUTF8Labels = workload.Versions{Since: "0.38.0"} // label names with characters other than letters, digits and "_"
)

// args are the arguments between "rule" and the user's arguments.
var args = slices.Concat([]workload.Row[*Owner]{
	{Name: "data-dir", Value: workload.Always[*Owner](kind.Data.Dir)},
	{Name: "eval-interval", Value: duration(func(o *Owner) v1.Duration { return cmp.Or(o.spec.EvaluationInterval, defaultInterval) })},
	{Name: "tsdb.retention",
		Value: workload.NonEmpty(func(o *Owner) v1.Duration { return cmp.Or(o.spec.Retention, wellknown.DefaultRetention) })},
	{Name: "rule-query-offset", In: workload.Versions{Since: "0.38.0"}, Field: "spec.ruleQueryOffset",
		Value: duration(func(o *Owner) v1.Duration { return o.spec.RuleQueryOffset })},
	{Name: "rule-concurrent-evaluation", In: workload.Versions{Since: "0.37.0"}, Field: "spec.ruleConcurrentEval", Value: concurrency},
	{Name: "for-outage-tolerance", In: workload.Versions{Since: "0.30.0"}, Field: "spec.ruleOutageTolerance",
		Value: duration(func(o *Owner) v1.Duration { return o.spec.RuleOutageTolerance })},
	{Name: "for-grace-period", In: workload.Versions{Since: "0.30.0"}, Field: "spec.ruleGracePeriod",
		Value: duration(func(o *Owner) v1.Duration { return o.spec.RuleGracePeriod })},
	{Name: "resend-delay", Value: duration(func(o *Owner) v1.Duration { return o.spec.ResendDelay })},
	{Name: "enable-feature", In: workload.Versions{Since: "0.39.0"}, Field: "spec.enableFeatures",
		Each: func(o *Owner) []string { return o.spec.EnableFeatures }},
	{Name: "label", Each: externalLabels},
	{Name: "alert.label-drop", Each: droppedLabels},
	{Name: "http-address", Value: func(o *Owner) (string, bool) {
		return workload.HostPort("localhost", ServerPort), o.spec.ListenLocal
	}},
	{Name: "log.level", Value: workload.UnlessDefault(func(o *Owner) string { return o.spec.LogLevel }, "info")},
	{Name: "log.format", Value: workload.NonEmpty(func(o *Owner) string { return o.spec.LogFormat })},
	{Name: "rule-file", Value: workload.Always[*Owner](kind.RulesDir + "/*/*.yaml")},
	{Name: "remote-write.config-file", In: workload.Versions{Since: "0.24.0"}, Field: "spec.remoteWrite",
		Value: func(o *Owner) (string, bool) { return remoteWriteFile, len(o.spec.RemoteWrite) > 0 }},
	{Name: "query.config-file", Value: queryConfig.path},
	{Name: "query", Each: func(o *Owner) []string { return unless(o.spec.QueryConfig != nil, o.spec.QueryEndpoints) }},
	{Name: "alertmanagers.config-file", Value: alertmanagersConfig.path},
	{Name: "alertmanagers.url",
		Each: func(o *Owner) []string { return unless(o.spec.AlertmanagersConfig != nil, o.spec.AlertmanagersURL) }},
	{Name: "objstore.config-file", Value: objectStorageConfig.path},
	{Name: "tracing.config-file", Value: tracingConfig.path},
	{Name: "alert.relabel-config-file", Value: alertRelabelConfig.path},
}, workload.GRPCServerArgs("spec.grpcServerTlsConfig", func(o *Owner) *v1.GRPCServerTLSConfig {
	return o.spec.GRPCServerTLSConfig
}), []workload.Row[*Owner]{
	{Name: "web.external-prefix", Value: workload.NonEmpty(func(o *Owner) string { return o.spec.ExternalPrefix })},
	{Name: "web.route-prefix", Value: func(o *Owner) (string, bool) { return o.RoutePrefix(), o.spec.RoutePrefix != "" }},
	{Name: "alert.query-url", Value: workload.NonEmpty(func(o *Owner) string { return o.spec.AlertQueryURL })},
})

// lastArgs follow the user's arguments. They do not depend on spec.web, so that setting
// it later changes no argument.
var lastArgs = []workload.Row[*Owner]{
	{Name: "http.config", In: withWebConfig, Value: workload.Always[*Owner](webConfigDir + "/web-config.yaml")},
}

// args returns the command line of the container.
func (o *Owner) args() ([]string, error) {
	const field = "spec.additionalArgs"
	own, _ := workload.Fill(args, o.version, o)
	last, _ := workload.Fill(lastArgs, o.version, o)
	if err := workload.CheckUser(field, last, o.spec.AdditionalArgs); err != nil {
		return nil, err
	}
	all, err := workload.AppendUser(field, own, o.spec.AdditionalArgs)
	if err != nil {
		return nil, err
	}
	return append([]string{"rule"}, workload.Render(append(all, last...))...), nil
}

// Gates returns the gated arguments in the order in which they are written.
func Gates() []workload.Gate {
	o := ForRuler(&v1.ThanosRuler{}, workload.Config{})
	return workload.GatesOf("thanos rule", slices.Concat(args, lastArgs), o)
}

// duration returns the value of a flag that does not support years, which the field
// allows.
func duration(get func(*Owner) v1.Duration) func(*Owner) (string, bool) {
	return func(o *Owner) (string, bool) {
		text := string(get(o))
		if !strings.Contains(text, "y") {
			return text, text != ""
		}
		d, err := model.ParseDuration(text)
		if err != nil {
			return text, true // Check reports the error
		}
		return time.Duration(d).String(), true
	}
}

func concurrency(o *Owner) (string, bool) {
	n := o.spec.RuleConcurrentEval
	if n == nil || *n <= 0 {
		return "", false
	}
	return strconv.Itoa(int(*n)), true
}

// externalLabels returns the external labels of series and alerts, the replica label
// first.
func externalLabels(o *Owner) []string {
	out := []string{replicaLabel + `="$(POD_NAME)"`}
	for _, name := range slices.Sorted(maps.Keys(o.spec.Labels)) {
		out = append(out, name+"="+quote(o.spec.Labels[name]))
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
func droppedLabels(o *Owner) []string {
	return append([]string{replicaLabel}, o.spec.AlertDropLabels...)
}

// unless returns the list, or nil if another setting replaces it.
func unless(replaced bool, list []string) []string {
	if replaced {
		return nil
	}
	return list
}
