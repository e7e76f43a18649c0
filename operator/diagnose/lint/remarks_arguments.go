package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// sidecarKind is the key of the Thanos sidecar in flagsOf, which is no kind of object.
const sidecarKind = "ThanosSidecar"

// flagsOf are the flags of the programs, also of older versions, without those that the operator sets itself.
var flagsOf = map[string]struct {
	program string
	flags   []string
}{
	catalog.Prometheus.Kind:      {"Prometheus", strings.Fields(prometheusFlags)},
	catalog.PrometheusAgent.Kind: {"Prometheus", strings.Fields(prometheusFlags)},
	catalog.Alertmanager.Kind:    {"Alertmanager", strings.Fields(alertmanagerFlags)},
	catalog.ThanosRuler.Kind:     {"Thanos", strings.Fields(thanosFlags + rulerFlags)},
	sidecarKind:                  {"Thanos", strings.Fields(thanosFlags + sidecarFlags)},
}

const (
	prometheusFlags = `config.file config.auto-reload config.auto-reload-interval web.listen-address auto-gomaxprocs auto-gomemlimit auto-gomemlimit.ratio
		web.config.file web.read-timeout web.max-connections web.max-notifications-subscribers web.external-url web.route-prefix web.user-assets web.enable-lifecycle
		web.enable-admin-api web.enable-remote-write-receiver web.remote-write-receiver.accepted-protobuf-messages web.enable-otlp-receiver web.console.templates
		web.console.libraries web.page-title web.cors.origin web.search.max-limit storage.tsdb.path storage.tsdb.retention storage.tsdb.retention.time
		storage.tsdb.retention.size storage.tsdb.no-lockfile storage.tsdb.allow-overlapping-blocks storage.tsdb.wal-compression storage.tsdb.wal-compression-type
		storage.tsdb.min-block-duration storage.tsdb.max-block-duration storage.tsdb.max-block-chunk-segment-size storage.tsdb.wal-segment-size
		storage.tsdb.samples-per-chunk storage.tsdb.head-chunks-write-queue-size storage.tsdb.block-reload-interval storage.tsdb.delay-compact-file.path
		storage.agent.path storage.agent.wal-segment-size storage.agent.wal-compression storage.agent.wal-compression-type storage.agent.wal-truncate-frequency
		storage.agent.retention.min-time storage.agent.retention.max-time storage.agent.checkpoint-from-in-memory-series storage.agent.checkpoint-batch-size
		storage.agent.no-lockfile storage.remote.flush-deadline storage.remote.read-sample-limit storage.remote.read-concurrent-limit
		storage.remote.read-max-bytes-in-frame rules.alert.for-outage-tolerance rules.alert.for-grace-period rules.alert.resend-delay rules.max-concurrent-evals
		scrape.adjust-timestamps scrape.timestamp-tolerance scrape.name-escaping-scheme scrape.discovery-reload-interval alertmanager.notification-queue-capacity
		alertmanager.notification-batch-size alertmanager.drain-notification-queue-on-shutdown alertmanager.timeout query.lookback-delta query.timeout
		query.max-concurrency query.max-samples enable-feature agent log.level log.format`
	alertmanagerFlags = `config.file storage.path data.retention data.maintenance-interval silences.max-silences silences.max-silence-size-bytes
		silences.max-per-silence-bytes log.silences alerts.gc-interval alerts.per-alertname-limit dispatch.maintenance-interval dispatch.start-delay
		web.systemd-socket web.listen-address web.config.file web.external-url web.route-prefix web.get-concurrency web.timeout auto-gomemlimit.ratio
		cluster.listen-address cluster.advertise-address cluster.peer-name cluster.peer cluster.peer-timeout cluster.peers-resolve-timeout
		cluster.gossip-interval cluster.pushpull-interval cluster.tcp-timeout cluster.probe-timeout cluster.probe-interval cluster.settle-timeout
		cluster.reconnect-interval cluster.reconnect-timeout cluster.tls-config cluster.allow-insecure-public-advertise-address-discovery cluster.label
		enable-feature log.level log.format`
	thanosFlags = `auto-gomemlimit.ratio enable-auto-gomemlimit grpc-address grpc-grace-period grpc-server-max-connection-age grpc-server-tls-cert
		grpc-server-tls-ciphers grpc-server-tls-client-ca grpc-server-tls-curves grpc-server-tls-key grpc-server-tls-min-version hash-func http-address
		http-grace-period http.config log.format log.level objstore.config objstore.config-file request.logging-config request.logging-config-file
		shipper.meta-file-name shipper.upload-compacted shipper.upload-concurrency store.limits.request-samples store.limits.request-series
		tracing.config tracing.config-file `
	sidecarFlags = `min-time prometheus.get_config_interval prometheus.get_config_timeout prometheus.http-client prometheus.http-client-file
		prometheus.ready_timeout prometheus.url reloader.config-envsubst-file reloader.config-file reloader.method reloader.process-name
		reloader.retry-interval reloader.rule-dir reloader.watch-interval tsdb.path`
	rulerFlags = `alert.label-drop alert.query-template alert.query-url alert.relabel-config alert.relabel-config-file alertmanagers.config
		alertmanagers.config-file alertmanagers.sd-dns-interval alertmanagers.send-timeout alertmanagers.url data-dir enable-feature eval-interval
		for-grace-period for-outage-tolerance grpc-query-endpoint label query query.config query.config-file query.default-step
		query.enable-x-functions query.http-method query.sd-dns-interval query.sd-files query.sd-interval remote-write.config remote-write.config-file
		resend-delay restore-ignored-label rule-concurrent-evaluation rule-file rule-query-offset tsdb.block-duration tsdb.enable-native-histograms
		tsdb.no-lockfile tsdb.retention tsdb.wal-compression web.disable-cors web.external-prefix web.prefix-header web.route-prefix`
)

// mostArguments is the maximum number of arguments of a container that are compared with flags.
const mostArguments = 200

// unknownFlags reports arguments whose names are almost those of flags. Newer versions may have other flags.
func unknownFlags(say says, kind, path string, args []v1.Argument) {
	of := flagsOf[kind]
	for i, arg := range args[:min(len(args), mostArguments)] {
		name, _ := arg.Flag()
		known := strings.TrimPrefix(name, "no-")
		if strings.HasPrefix(name, "-") || slices.Contains(of.flags, known) {
			continue // see dashRemarks
		}
		field := fmt.Sprintf("%s[%d].name", path, i)
		if name == "alertmanager.url" && of.program == "Prometheus" {
			say(field, "Prometheus has no flag --%s, and does not start with it: write alerting: {alertmanagers: [{namespace: …, name: …, port: …}]}", name)
			continue
		}
		near := slices.IndexFunc(of.flags, func(flag string) bool {
			return wordsOf(flag) == wordsOf(known) || manifest.Distance(flag, known) <= min(2, len(flag)/5)
		})
		if near >= 0 {
			say(field, "%s has no flag --%s, and does not start with it, did you mean %s?", of.program, name, of.flags[near])
		}
	}
}

// wordsOf returns the name of a flag without what separates its words.
func wordsOf(flag string) string { return strings.ReplaceAll(squeezed(flag), ".", "") }
