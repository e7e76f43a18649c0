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
	// replicaLabel is the external label that tells the pods apart.
	replicaLabel = "thanos_ruler_replica"
	// defaultInterval and wellknown.DefaultRetention are the defaults of the CRD; an
	// object that bypassed them gets the same.
	defaultInterval = "15s"
)

// Ranges that more than one decision depends on. The others stand in the tables.
var (
	withWebConfig  = workload.Versions{Since: "0.21.0"} // --http.config and everything it needs
	withUTF8Labels = workload.Versions{Since: "0.38.0"} // names of labels beyond letters, digits and "_"
)

// args are the arguments after "rule" and before the user's.
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

// lastArgs come after the user's. Also without spec.web, so that settings made later
// need no new argument.
var lastArgs = []workload.Row[*Owner]{
	{Name: "http.config", In: withWebConfig, Value: workload.Always[*Owner](webConfigDir + "/web-config.yaml")},
}

// args is the command line of the container.
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

// Gates lists the gated arguments in the order in which they are written.
func Gates() []workload.Gate {
	o := ForRuler(&v1.ThanosRuler{}, workload.Config{})
	return workload.GatesOf("thanos rule", slices.Concat(args, lastArgs), o)
}

// duration is a value for a flag that knows no years, which the field allows.
func duration(get func(*Owner) v1.Duration) func(*Owner) (string, bool) {
	return func(o *Owner) (string, bool) {
		text := string(get(o))
		if !strings.Contains(text, "y") {
			return text, text != ""
		}
		d, err := model.ParseDuration(text)
		if err != nil {
			return text, true // Check tells what is wrong
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

// externalLabels are those of the series and alerts, that of the pod first.
func externalLabels(o *Owner) []string {
	out := []string{replicaLabel + `="$(POD_NAME)"`}
	for _, name := range slices.Sorted(maps.Keys(o.spec.Labels)) {
		out = append(out, name+"="+quote(o.spec.Labels[name]))
	}
	return out
}

// quote puts a value into quotation marks. One that can be read between them stays as
// it is written: escapes in it are the user's, and arguments that change replace pods.
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

// droppedLabels are what alerts lose before they are sent.
func droppedLabels(o *Owner) []string {
	return append([]string{replicaLabel}, o.spec.AlertDropLabels...)
}

// unless is the list where nothing else has taken its place.
func unless(replaced bool, list []string) []string {
	if replaced {
		return nil
	}
	return list
}
