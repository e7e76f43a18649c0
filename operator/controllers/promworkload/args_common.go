package promworkload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// commonArgs are the first arguments of servers and agents.
var commonArgs = []workload.Row[*Builder]{
	{Name: "config.file", Value: workload.Always[*Builder](configOutFile)},
	{Name: "web.console.templates", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Builder]("/etc/prometheus/consoles")},
	{Name: "web.console.libraries", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Builder]("/etc/prometheus/console_libraries")},
	{Name: "web.enable-lifecycle", Value: workload.FlagIf(func(b *Builder) bool { return !b.signalReload() })},
	{Name: "web.page-title", In: workload.Versions{Since: "2.6.0"}, Field: "spec.web.pageTitle", Value: pageTitle},
	{Name: "web.max-connections", Value: maxConnections},
	{Name: "web.enable-remote-write-receiver", In: workload.Versions{Since: "2.33.0"}, Field: "spec.enableRemoteWriteReceiver",
		Value: workload.FlagIf(func(b *Builder) bool { return b.common.EnableRemoteWriteReceiver })},
	{Name: "web.remote-write-receiver.accepted-protobuf-messages", In: workload.Versions{Since: "2.54.0"},
		Field: "spec.remoteWriteReceiverMessageVersions", Value: acceptedMessages},
	// The configuration file reports the field that requires it.
	{Name: "enable-feature", In: workload.Versions{Since: "2.54.0", Until: "3.4.0"}, Value: metadataRecords},
	{Name: "enable-feature", In: workload.Versions{Since: "2.47.0", Until: firstV3}, Field: "spec.enableOTLPReceiver",
		Value: func(b *Builder) (string, bool) { return "otlp-write-receiver", b.otlpReceiver() }},
	{Name: "web.enable-otlp-receiver", In: workload.Versions{Since: firstV3}, Value: workload.FlagIf((*Builder).otlpReceiver)},
	{Name: "enable-feature", In: workload.Versions{Since: "2.25.0"}, Field: "spec.enableFeatures",
		Value: workload.NonEmpty(func(b *Builder) string { return strings.Join(b.common.EnableFeatures, ",") })},
	{Name: "enable-feature", In: workload.Versions{Since: "3.13.0"}, Field: "spec.tsdb.chunkEncoding.floats", Value: xor2},
	{Name: "web.external-url", Value: workload.NonEmpty(func(b *Builder) string { return b.common.ExternalURL })},
	// Always set, so that a path in the external URL does not become the prefix.
	{Name: "web.route-prefix", Value: func(b *Builder) (string, bool) { return b.RoutePrefix(), true }},
	{Name: "log.level", Value: workload.UnlessDefault(func(b *Builder) string { return b.common.LogLevel }, "info")},
	{Name: "log.format", In: workload.Versions{Since: "2.6.0"}, Field: "spec.logFormat",
		Value: workload.UnlessDefault(func(b *Builder) string { return b.common.LogFormat }, "logfmt")},
	{Name: "web.listen-address",
		Value: func(b *Builder) (string, bool) { return "127.0.0.1:9090", b.common.ListenLocal }},
}

// ownArgs returns all arguments except the user's.
func (b *Builder) ownArgs() ([]workload.Arg, []gate.Dropped) {
	args, dropped := workload.Fill(commonArgs, b.Version, b)
	rows := agentArgs
	if b.server != nil {
		rows = serverArgs
	}
	more, moreDropped := workload.Fill(rows, b.Version, b)
	return append(args, more...), append(dropped, moreDropped...)
}

// args returns the command line of the prometheus container.
func (b *Builder) args() ([]string, error) {
	own, _ := b.ownArgs()
	all, err := workload.AppendUser("spec.additionalArgs", own, b.common.AdditionalArgs)
	return workload.Render(all), err
}

func pageTitle(b *Builder) (string, bool) {
	if b.common.Web == nil || b.common.Web.PageTitle == nil {
		return "", false
	}
	return *b.common.Web.PageTitle, *b.common.Web.PageTitle != ""
}

func maxConnections(b *Builder) (string, bool) {
	if b.common.Web == nil || b.common.Web.MaxConnections == nil {
		return "", false
	}
	return strconv.Itoa(int(*b.common.Web.MaxConnections)), true
}

// acceptedMessages returns the messages in the user's order. The server responds with the
// first one.
func acceptedMessages(b *Builder) (string, bool) {
	var names []string
	for _, v := range b.common.RemoteWriteReceiverMessageVersions {
		name := "prometheus.WriteRequest"
		if v == v1.RemoteWriteMessageVersion2_0 {
			name = "io.prometheus.write.v2.Request"
		}
		names = append(names, name)
	}
	return strings.Join(names, ","), b.common.EnableRemoteWriteReceiver && len(names) > 0
}

func metadataRecords(b *Builder) (string, bool) {
	return "metadata-wal-records", slices.ContainsFunc(b.common.RemoteWrite, func(rw v1.RemoteWriteSpec) bool {
		return rw.MessageVersion == v1.RemoteWriteMessageVersion2_0
	})
}

// otlpReceiver reports whether the OTLP receiver is enabled. If spec.enableOTLPReceiver
// is unset, settings for the receiver enable it.
func (b *Builder) otlpReceiver() bool {
	if b.common.EnableOTLPReceiver != nil {
		return *b.common.EnableOTLPReceiver
	}
	return b.common.OTLP != nil
}

func xor2(b *Builder) (string, bool) {
	const feature = "xor2-encoding"
	t := b.common.TSDB
	return feature, t != nil && t.ChunkEncoding != nil && t.ChunkEncoding.Floats == v1.FloatChunkEncodingXor2 &&
		!slices.Contains(b.common.EnableFeatures, feature)
}
