package workload

import (
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// DefaultRetention is how long a server keeps samples when the object names
// neither a time nor a size.
const DefaultRetention = "24h"

// serverArgs follow commonArgs on a server.
var serverArgs = []argRow[*Owner]{
	// From 3.11.0 on, retention is in the configuration file.
	{name: "storage.tsdb.retention", in: versions{until: "2.7.0"}, value: func(o *Owner) (string, bool) {
		if o.server.Retention != "" {
			return string(o.server.Retention), true
		}
		return DefaultRetention, true
	}},
	{name: "storage.tsdb.retention.time", in: versions{since: "2.7.0", until: "3.11.0"}, value: retentionTime},
	{name: "storage.tsdb.retention.size", in: versions{since: "2.7.0", until: "3.11.0"}, field: "spec.retentionSize",
		value: nonEmpty(func(o *Owner) v1.ByteSize { return o.server.RetentionSize })},
	{name: "storage.tsdb.path", value: always[*Owner](storageDir)},
	{name: "web.enable-admin-api", value: flagIf(func(o *Owner) bool { return o.server.EnableAdminAPI })},
	{name: "rules.alert.for-outage-tolerance", in: versions{since: "2.4.0"}, field: "spec.rules.alert.forOutageTolerance",
		value: nonEmpty(func(o *Owner) string { return o.ruleAlerts().ForOutageTolerance })},
	{name: "rules.alert.for-grace-period", in: versions{since: "2.4.0"}, field: "spec.rules.alert.forGracePeriod",
		value: nonEmpty(func(o *Owner) string { return o.ruleAlerts().ForGracePeriod })},
	{name: "rules.alert.resend-delay", in: versions{since: "2.4.0"}, field: "spec.rules.alert.resendDelay",
		value: nonEmpty(func(o *Owner) string { return o.ruleAlerts().ResendDelay })},
	{name: "query.lookback-delta", value: lookbackDelta},
	{name: "query.max-samples", in: versions{since: "2.5.0"}, field: "spec.query.maxSamples",
		value: positive(func(o *Owner) *int32 { return o.query().MaxSamples })},
	{name: "query.max-concurrency", value: positive(func(o *Owner) *int32 { return o.query().MaxConcurrency })},
	{name: "query.timeout", value: nonEmpty(func(o *Owner) v1.Duration { return o.query().Timeout })},
	{name: "storage.tsdb.allow-overlapping-blocks", in: versions{since: "2.11.0", until: "2.39.0"},
		field: "spec.allowOverlappingBlocks",
		value: flagIf(func(o *Owner) bool { return o.server.AllowOverlappingBlocks })},
	{name: "storage.tsdb.wal-compression", in: versions{since: "2.11.0"}, field: "spec.walCompression",
		value: flagIf(func(o *Owner) bool { return is(o.common.WALCompression, true) })},
	{name: "no-storage.tsdb.wal-compression", in: versions{since: "2.11.0"}, field: "spec.walCompression",
		value: flagIf(func(o *Owner) bool { return is(o.common.WALCompression, false) })},
	// Also without spec.web, so that settings made later need no new argument.
	{name: "web.config.file", in: withWebConfig, value: always[*Owner](webConfigFile)},
	{name: "storage.tsdb.max-block-duration",
		value: func(o *Owner) (string, bool) { return o.blockSize(), o.compactionIs(compactionDisabled) }},
	{name: "storage.tsdb.min-block-duration",
		value: func(o *Owner) (string, bool) { return o.blockSize(), o.compactionIs(compactionDisabled) }},
	{name: "storage.tsdb.delay-compact-file.path",
		value: func(o *Owner) (string, bool) {
			return storageDir + "/" + shipperFile, o.compactionIs(compactionDelayed)
		}},
	{name: "no-storage.tsdb.allow-overlapping-compaction", in: versions{since: "2.55.0"},
		value: flagIf(func(o *Owner) bool {
			return o.common.TSDB != nil && o.common.TSDB.OutOfOrderTimeWindow != "" && !o.compactionIs(compactionDefault)
		})},
}

// agentArgs follow commonArgs on an agent.
var agentArgs = []argRow[*Owner]{
	{name: "enable-feature", in: versions{until: firstV3}, value: always[*Owner]("agent")},
	{name: "agent", in: versions{since: firstV3}, value: always[*Owner]("")},
	{name: "storage.agent.path", value: always[*Owner](storageDir)},
	{name: "storage.agent.wal-compression",
		value: flagIf(func(o *Owner) bool { return is(o.common.WALCompression, true) })},
	{name: "no-storage.agent.wal-compression",
		value: flagIf(func(o *Owner) bool { return is(o.common.WALCompression, false) })},
	{name: "web.config.file", in: withWebConfig, value: always[*Owner](webConfigFile)},
}

// retentionTime is left to the server when only a size limits the storage.
func retentionTime(o *Owner) (string, bool) {
	switch {
	case o.server.Retention != "":
		return string(o.server.Retention), true
	case o.server.RetentionSize == "":
		return DefaultRetention, true
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

// is reports whether a switch was set to the value; not set is neither.
func is(b *bool, value bool) bool { return b != nil && *b == value }
