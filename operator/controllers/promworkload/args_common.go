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
var commonArgs = []workload.Row[*Owner]{
	{Name: "config.file", Value: workload.Always[*Owner](configOutFile)},
	{Name: "web.console.templates", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Owner]("/etc/prometheus/consoles")},
	{Name: "web.console.libraries", In: workload.Versions{Until: firstV3}, Value: workload.Always[*Owner]("/etc/prometheus/console_libraries")},
	{Name: "web.enable-lifecycle", Value: workload.FlagIf(func(o *Owner) bool { return !o.signalReload() })},
	{Name: "web.page-title", In: workload.Versions{Since: "2.6.0"}, Field: "spec.web.pageTitle", Value: pageTitle},
	{Name: "web.max-connections", Value: maxConnections},
	{Name: "web.enable-remote-write-receiver", In: workload.Versions{Since: "2.33.0"}, Field: "spec.enableRemoteWriteReceiver",
		Value: workload.FlagIf(func(o *Owner) bool { return o.common.EnableRemoteWriteReceiver })},
	{Name: "web.remote-write-receiver.accepted-protobuf-messages", In: workload.Versions{Since: "2.54.0"},
		Field: "spec.remoteWriteReceiverMessageVersions", Value: acceptedMessages},
	// The configuration file reports the field that requires it.
	{Name: "enable-feature", In: workload.Versions{Since: "2.54.0", Until: "3.4.0"}, Value: metadataRecords},
	{Name: "enable-feature", In: workload.Versions{Since: "2.47.0", Until: firstV3}, Field: "spec.enableOTLPReceiver",
		Value: func(o *Owner) (string, bool) { return "otlp-write-receiver", o.otlpReceiver() }},
	{Name: "web.enable-otlp-receiver", In: workload.Versions{Since: firstV3}, Value: workload.FlagIf((*Owner).otlpReceiver)},
	{Name: "enable-feature", In: workload.Versions{Since: "2.25.0"}, Field: "spec.enableFeatures",
		Value: workload.NonEmpty(func(o *Owner) string { return strings.Join(o.common.EnableFeatures, ",") })},
	{Name: "enable-feature", In: workload.Versions{Since: "3.13.0"}, Field: "spec.tsdb.chunkEncoding.floats", Value: xor2},
	{Name: "web.external-url", Value: workload.NonEmpty(func(o *Owner) string { return o.common.ExternalURL })},
	// Always set, so that a path in the external URL does not become the prefix.
	{Name: "web.route-prefix", Value: func(o *Owner) (string, bool) { return o.RoutePrefix(), true }},
	{Name: "log.level", Value: workload.UnlessDefault(func(o *Owner) string { return o.common.LogLevel }, "info")},
	{Name: "log.format", In: workload.Versions{Since: "2.6.0"}, Field: "spec.logFormat",
		Value: workload.UnlessDefault(func(o *Owner) string { return o.common.LogFormat }, "logfmt")},
	{Name: "web.listen-address",
		Value: func(o *Owner) (string, bool) { return "127.0.0.1:9090", o.common.ListenLocal }},
}

// ownArgs returns all arguments except the user's.
func (o *Owner) ownArgs() ([]workload.Arg, []gate.Dropped) {
	args, dropped := workload.Fill(commonArgs, o.version, o)
	rows := agentArgs
	if o.server != nil {
		rows = serverArgs
	}
	more, moreDropped := workload.Fill(rows, o.version, o)
	return append(args, more...), append(dropped, moreDropped...)
}

// args returns the command line of the prometheus container.
func (o *Owner) args() ([]string, error) {
	own, _ := o.ownArgs()
	all, err := workload.AppendUser("spec.additionalArgs", own, o.common.AdditionalArgs)
	return workload.Render(all), err
}

func pageTitle(o *Owner) (string, bool) {
	if o.common.Web == nil || o.common.Web.PageTitle == nil {
		return "", false
	}
	return *o.common.Web.PageTitle, *o.common.Web.PageTitle != ""
}

func maxConnections(o *Owner) (string, bool) {
	if o.common.Web == nil || o.common.Web.MaxConnections == nil {
		return "", false
	}
	return strconv.Itoa(int(*o.common.Web.MaxConnections)), true
}

// acceptedMessages returns the messages in the user's order. The server responds with the
// first one.
func acceptedMessages(o *Owner) (string, bool) {
	var names []string
	for _, v := range o.common.RemoteWriteReceiverMessageVersions {
		name := "prometheus.WriteRequest"
		if v == v1.RemoteWriteMessageVersion2_0 {
			name = "io.prometheus.write.v2.Request"
		}
		names = append(names, name)
	}
	return strings.Join(names, ","), o.common.EnableRemoteWriteReceiver && len(names) > 0
}

func metadataRecords(o *Owner) (string, bool) {
	return "metadata-wal-records", slices.ContainsFunc(o.common.RemoteWrite, func(rw v1.RemoteWriteSpec) bool {
		return rw.MessageVersion == v1.RemoteWriteMessageVersion2_0
	})
}

// otlpReceiver reports whether the OTLP receiver is enabled. If spec.enableOTLPReceiver
// is unset, settings for the receiver enable it.
func (o *Owner) otlpReceiver() bool {
	if o.common.EnableOTLPReceiver != nil {
		return *o.common.EnableOTLPReceiver
	}
	return o.common.OTLP != nil
}

func xor2(o *Owner) (string, bool) {
	const feature = "xor2-encoding"
	t := o.common.TSDB
	return feature, t != nil && t.ChunkEncoding != nil && t.ChunkEncoding.Floats == v1.FloatChunkEncodingXor2 &&
		!slices.Contains(o.common.EnableFeatures, feature)
}
