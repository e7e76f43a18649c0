package promworkload

import (
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// serverArgs follow commonArgs on a server.
var serverArgs = []workload.Row[*Builder]{
	// Since 3.11.0, retention is in the configuration file.
	{Name: "storage.tsdb.retention", In: workload.Versions{Until: "2.7.0"}, Value: func(b *Builder) (string, bool) {
		if b.server.Retention != "" {
			return string(b.server.Retention), true
		}
		return wellknown.DefaultRetention, true
	}},
	{Name: "storage.tsdb.retention.time", In: workload.Versions{Since: "2.7.0", Until: "3.11.0"}, Value: retentionTime},
	{Name: "storage.tsdb.retention.size", In: workload.Versions{Since: "2.7.0", Until: "3.11.0"}, Field: "spec.retentionSize",
		Value: workload.NonEmpty(func(b *Builder) v1.ByteSize { return b.server.RetentionSize })},
	{Name: "storage.tsdb.path", Value: workload.Always[*Builder](storageDir)},
	{Name: "web.enable-admin-api", Value: workload.FlagIf(func(b *Builder) bool { return b.server.EnableAdminAPI })},
	{Name: "rules.alert.for-outage-tolerance", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.forOutageTolerance",
		Value: workload.NonEmpty(func(b *Builder) string { return b.ruleAlerts().ForOutageTolerance })},
	{Name: "rules.alert.for-grace-period", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.forGracePeriod",
		Value: workload.NonEmpty(func(b *Builder) string { return b.ruleAlerts().ForGracePeriod })},
	{Name: "rules.alert.resend-delay", In: workload.Versions{Since: "2.4.0"}, Field: "spec.rules.alert.resendDelay",
		Value: workload.NonEmpty(func(b *Builder) string { return b.ruleAlerts().ResendDelay })},
	{Name: "query.lookback-delta", Value: lookbackDelta},
	{Name: "query.max-samples", In: workload.Versions{Since: "2.5.0"}, Field: "spec.query.maxSamples",
		Value: positive(func(b *Builder) *int32 { return b.query().MaxSamples })},
	{Name: "query.max-concurrency", Value: positive(func(b *Builder) *int32 { return b.query().MaxConcurrency })},
	{Name: "query.timeout", Value: workload.NonEmpty(func(b *Builder) v1.Duration { return b.query().Timeout })},
	{Name: "storage.tsdb.allow-overlapping-blocks", In: workload.Versions{Since: "2.11.0", Until: "2.39.0"},
		Field: "spec.allowOverlappingBlocks",
		Value: workload.FlagIf(func(b *Builder) bool { return b.server.AllowOverlappingBlocks })},
	{Name: "storage.tsdb.wal-compression", In: workload.Versions{Since: "2.11.0"}, Field: "spec.walCompression",
		Value: workload.FlagIf(func(b *Builder) bool { return is(b.common.WALCompression, true) })},
	{Name: "no-storage.tsdb.wal-compression", In: workload.Versions{Since: "2.11.0"}, Field: "spec.walCompression",
		Value: workload.FlagIf(func(b *Builder) bool { return is(b.common.WALCompression, false) })},
	// Independent of spec.web, so that setting it later changes no argument.
	{Name: "web.config.file", In: serverWeb.In, Value: workload.Always[*Builder](serverWeb.Path())},
	{Name: "storage.tsdb.max-block-duration",
		Value: func(b *Builder) (string, bool) { return b.blockSize(), b.compactionIs(compactionDisabled) }},
	{Name: "storage.tsdb.min-block-duration",
		Value: func(b *Builder) (string, bool) { return b.blockSize(), b.compactionIs(compactionDisabled) }},
	{Name: "storage.tsdb.delay-compact-file.path",
		Value: func(b *Builder) (string, bool) {
			return storageDir + "/" + shipperFile, b.compactionIs(compactionDelayed)
		}},
	{Name: "no-storage.tsdb.allow-overlapping-compaction", In: workload.Versions{Since: "2.55.0"},
		Value: workload.FlagIf(func(b *Builder) bool {
			return b.common.TSDB != nil && b.common.TSDB.OutOfOrderTimeWindow != "" && !b.compactionIs(compactionDefault)
		})},
}

// agentArgs follow commonArgs on an agent.
var agentArgs = []workload.Row[*Builder]{
	{Name: "enable-feature", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Builder]("agent")},
	{Name: "agent", In: workload.Versions{Since: firstV3}, Value: workload.Always[*Builder]("")},
	{Name: "storage.agent.path", Value: workload.Always[*Builder](storageDir)},
	{Name: "storage.agent.wal-compression",
		Value: workload.FlagIf(func(b *Builder) bool { return is(b.common.WALCompression, true) })},
	{Name: "no-storage.agent.wal-compression",
		Value: workload.FlagIf(func(b *Builder) bool { return is(b.common.WALCompression, false) })},
	{Name: "web.config.file", In: serverWeb.In,
		Value: func(b *Builder) (string, bool) { return serverWeb.Path(), !b.daemonSet }},
	{Name: "web.config.file", Value: func(b *Builder) (string, bool) { return serverWeb.Path(), b.daemonSet }},
}

// retentionTime returns the retention time. It is unset if only a size limits the
// storage.
func retentionTime(b *Builder) (string, bool) {
	switch {
	case b.server.Retention != "":
		return string(b.server.Retention), true
	case b.server.RetentionSize == "":
		return wellknown.DefaultRetention, true
	}
	return "", false
}

func (b *Builder) ruleAlerts() v1.RulesAlert {
	if b.server.Rules == nil || b.server.Rules.Alert == nil {
		return v1.RulesAlert{}
	}
	return *b.server.Rules.Alert
}

func (b *Builder) query() v1.QuerySpec {
	if b.server.Query == nil {
		return v1.QuerySpec{}
	}
	return *b.server.Query
}

func lookbackDelta(b *Builder) (string, bool) {
	d := b.query().LookbackDelta
	if d == nil {
		return "", false
	}
	return *d, *d != ""
}

func positive(get func(*Builder) *int32) func(*Builder) (string, bool) {
	return func(b *Builder) (string, bool) {
		n := get(b)
		if n == nil || *n <= 0 {
			return "", false
		}
		return strconv.Itoa(int(*n)), true
	}
}

// is reports whether b is set to the value.
func is(b *bool, value bool) bool { return b != nil && *b == value }
