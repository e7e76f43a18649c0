package workload

import (
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// commonArgs are the first arguments of servers and agents.
var commonArgs = []argRow[*Owner]{
	{name: "config.file", value: always[*Owner](configOutFile)},
	{name: "web.console.templates", in: versions{until: firstV3}, value: always[*Owner]("/etc/prometheus/consoles")},
	{name: "web.console.libraries", in: versions{until: firstV3}, value: always[*Owner]("/etc/prometheus/console_libraries")},
	{name: "web.enable-lifecycle", value: flagIf(func(o *Owner) bool { return !o.signalReload() })},
	{name: "web.page-title", in: versions{since: "2.6.0"}, field: "spec.web.pageTitle", value: pageTitle},
	{name: "web.max-connections", value: maxConnections},
	{name: "web.enable-remote-write-receiver", in: versions{since: "2.33.0"}, field: "spec.enableRemoteWriteReceiver",
		value: flagIf(func(o *Owner) bool { return o.common.EnableRemoteWriteReceiver })},
	{name: "web.remote-write-receiver.accepted-protobuf-messages", in: versions{since: "2.54.0"},
		field: "spec.remoteWriteReceiverMessageVersions", value: acceptedMessages},
	// The field that asks for it is reported by the configuration file.
	{name: "enable-feature", in: versions{since: "2.54.0", until: "3.4.0"}, value: metadataRecords},
	{name: "enable-feature", in: versions{since: "2.47.0", until: firstV3}, field: "spec.enableOTLPReceiver",
		value: func(o *Owner) (string, bool) { return "otlp-write-receiver", o.otlpReceiver() }},
	{name: "web.enable-otlp-receiver", in: versions{since: firstV3}, value: flagIf((*Owner).otlpReceiver)},
	{name: "enable-feature", in: versions{since: "2.25.0"}, field: "spec.enableFeatures",
		value: nonEmpty(func(o *Owner) string { return strings.Join(o.common.EnableFeatures, ",") })},
	{name: "enable-feature", in: versions{since: "3.13.0"}, field: "spec.tsdb.chunkEncoding.floats", value: xor2},
	{name: "web.external-url", value: nonEmpty(func(o *Owner) string { return o.common.ExternalURL })},
	// Always, so that a path in the external URL does not become the prefix.
	{name: "web.route-prefix", value: func(o *Owner) (string, bool) { return o.routePrefix(), true }},
	{name: "log.level", value: unlessDefault(func(o *Owner) string { return o.common.LogLevel }, "info")},
	{name: "log.format", in: versions{since: "2.6.0"}, field: "spec.logFormat",
		value: unlessDefault(func(o *Owner) string { return o.common.LogFormat }, "logfmt")},
	{name: "web.listen-address",
		value: func(o *Owner) (string, bool) { return "127.0.0.1:9090", o.common.ListenLocal }},
}

// ownArgs are all arguments but the user's.
func (o *Owner) ownArgs() ([]arg, []gate.Dropped) {
	args, dropped := fill(commonArgs, o.version, o)
	rows := agentArgs
	if o.server != nil {
		rows = serverArgs
	}
	more, moreDropped := fill(rows, o.version, o)
	return append(args, more...), append(dropped, moreDropped...)
}

// args is the command line of the prometheus container.
func (o *Owner) args() ([]string, error) {
	own, _ := o.ownArgs()
	all, err := appendUser("spec.additionalArgs", own, userArgs(o.common.AdditionalArgs))
	return render(all), err
}

func userArgs(in []v1.Argument) []arg {
	out := make([]arg, len(in))
	for i, a := range in {
		out[i] = arg{a.Name, a.Value}
	}
	return out
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

// acceptedMessages keeps the user's order: the first one is what the server
// answers with.
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

// otlpReceiver: an explicit answer wins, otherwise settings for the receiver ask
// for it.
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
