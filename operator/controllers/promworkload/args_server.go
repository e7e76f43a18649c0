package promworkload

import (
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// serverArgs follow commonArgs on a server.
var serverArgs = []workload.Row[*Owner]{
	// Since 3.11.0, retention is in the configuration file.
	{Name: "storage.tsdb.retention", In: workload.Versions{Until: "2.7.0"}, Value: func(o *Owner) (string, bool) {
		if o.server.Retention != "" {
			return string(o.server.Retention), true
		}
		return wellknown.DefaultRetention, true
	}},
	{Name: "storage.tsdb.retention.time", In: workload.Versions{Since: "2.7.0", Until: "3.11.0"}, Value: retentionTime},
	{Name: "storage.tsdb.retention.size", In: workload.Versions{Since: "2.7.0", Until: "3.11.0"}, Field: "spec.retentionSize",
		Value: workload.NonEmpty(func(o *Owner) v1.ByteSize { return o.server.RetentionSize })},
	{Name: "storage.tsdb.path", Value: workload.Always[*Owner](storageDir)},
	{Name: "web.enable-admin-api", Value: workload.FlagIf(func(o *Owner) bool { return o.server.EnableAdminAPI })},
	{Name: "rules.alert.for-outage-tolerance", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.forOutageTolerance",
		Value: workload.NonEmpty(func(o *Owner) string { return o.ruleAlerts().ForOutageTolerance })},
	{Name: "rules.alert.for-grace-period", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.forGracePeriod",
		Value: workload.NonEmpty(func(o *Owner) string { return o.ruleAlerts().ForGracePeriod })},
	{Name: "rules.alert.resend-delay", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.resendDelay",
		Value: workload.NonEmpty(func(o *Owner) string { return o.ruleAlerts().ResendDelay })},
	{Name: "query.lookback-delta", Value: lookbackDelta},
	{Name: "query.max-samples", In: workload.Versions{Since: "2.5.0"}, Field: "spec.query.maxSamples",
		Value: positive(func(o *Owner) *int32 { return o.query().MaxSamples })},
	{Name: "query.max-concurrency", Value: positive(func(o *Owner) *int32 { return o.query().MaxConcurrency })},
	{Name: "query.timeout", Value: workload.NonEmpty(func(o *Owner) v1.Duration { return o.query().Timeout })},
	{Name: "storage.tsdb.allow-overlapping-blocks", In: workload.Versions{Since: "2.11.0", Until: "2.39.0"},
		Field: "spec.allowOverlappingBlocks",
		Value: workload.FlagIf(func(o *Owner) bool { return o.server.AllowOverlappingBlocks })},
	{Name: "storage.tsdb.wal-compression", In: workload.Versions{Since: "2.11.0"}, Field: "spec.walCompression",
		Value: workload.FlagIf(func(o *Owner) bool { return is(o.common.WALCompression, true) })},
	{Name: "no-storage.tsdb.wal-compression", In: workload.Versions{Since: "2.11.0"}, Field: "spec.walCompression",
		Value: workload.FlagIf(func(o *Owner) bool { return is(o.common.WALCompression, false) })},
	// Independent of spec.web, so that setting it later changes no argument.
	{Name: "web.config.file", In: withWebConfig, Value: workload.Always[*Owner](webConfigFile)},
	{Name: "storage.tsdb.max-block-duration",
		Value: func(o *Owner) (string, bool) { return o.blockSize(), o.compactionIs(compactionDisabled) }},
	{Name: "storage.tsdb.min-block-duration",
		Value: func(o *Owner) (string, bool) { return o.blockSize(), o.compactionIs(compactionDisabled) }},
	{Name: "storage.tsdb.delay-compact-file.path",
		Value: func(o *Owner) (string, bool) {
			return storageDir + "/" + shipperFile, o.compactionIs(compactionDelayed)
		}},
	{Name: "no-storage.tsdb.allow-overlapping-compaction", In: workload.Versions{Since: "2.55.0"},
		Value: workload.FlagIf(func(o *Owner) bool {
			return o.common.TSDB != nil && o.common.TSDB.OutOfOrderTimeWindow != "" && !o.compactionIs(compactionDefault)
		})},
}

// agentArgs follow commonArgs on an agent.
var agentArgs = []workload.Row[*Owner]{
	{Name: "enable-feature", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Owner]("agent")},
	{Name: "agent", In: workload.Versions{Since: firstV3}, Value: workload.Always[*Owner]("")},
	{Name: "storage.agent.path", Value: workload.Always[*Owner](storageDir)},
	{Name: "storage.agent.wal-compression",
		Value: workload.FlagIf(func(o *Owner) bool { return is(o.common.WALCompression, true) })},
	{Name: "no-storage.agent.wal-compression",
		Value: workload.FlagIf(func(o *Owner) bool { return is(o.common.WALCompression, false) })},
	{Name: "web.config.file", In: withWebConfig, Value: workload.Always[*Owner](webConfigFile)},
}

// retentionTime returns the retention time. It is unset if only a size limits the
// storage.
func retentionTime(o *Owner) (string, bool) {
	switch {
	case o.server.Retention != "":
		return string(o.server.Retention), true
	case o.server.RetentionSize == "":
		return wellknown.DefaultRetention, true
	}
	return "", false
}

func (o *Owner) ruleAlerts() v1.RulesAlert {
	if o.server.Rules == nil || o.server.Rules.Alert == nil {
		return v1.RulesAlert{}
	}
	return *o.server.Rules.Alert
}

func (o *Owner) query() v1.QuerySpec {
	if o.server.Query == nil {
		return v1.QuerySpec{}
	}
	return *o.server.Query
}

func lookbackDelta(o *Owner) (string, bool) {
	d := o.query().LookbackDelta
	if d == nil {
		return "", false
	}
	return *d, *d != ""
}

func positive(get func(*Owner) *int32) func(*Owner) (string, bool) {
	return func(o *Owner) (string, bool) {
		n := get(o)
		if n == nil || *n <= 0 {
			return "", false
		}
		return strconv.Itoa(int(*n)), true
	}
}

// is reports whether b is set to the value.
func is(b *bool, value bool) bool { return b != nil && *b == value }
