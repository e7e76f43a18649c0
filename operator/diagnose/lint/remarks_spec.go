package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// specRemarks reports fields of a workload with a probably unintended effect.
func (l *linter) specRemarks(self Finding, w dryrun.Workload) {
	say := l.say(self)
	f := w.Object.GetWorkloadFields()
	selectorRemarks(say, w)
	intervalsOf(l.note(self), w.Object).ofWorkload(w.Object)
	dashRemarks(say, "spec.additionalArgs", f.AdditionalArgs)
	l.fieldRemarks(self, w, f.AdditionalArgs)
	unknownFlags(say, w.Kind.Kind, "spec.additionalArgs", f.AdditionalArgs)
	if common := v1alpha1.CommonFields(w.Object); common != nil {
		writeRemarks(say, common.RemoteWrite)
		for i, c := range common.ScrapeClasses {
			relabelRemarks(say, fmt.Sprintf("spec.scrapeClasses[%d].relabelings", i), c.RelabelConfigs, targets)
			relabelRemarks(say, fmt.Sprintf("spec.scrapeClasses[%d].metricRelabelings", i), c.MetricRelabelConfigs, samples)
		}
	}
	expandedLabels(l.note(self), w.Object)
	ignoredRemarks(say, w.Object)
	unverifiedRemarks(l.note(self), w.Object)
	clientRemarks(say, w.Object)
	switch p := w.Object.(type) {
	case *v1alpha1.PrometheusAgent:
		if len(p.Spec.RemoteWrite) == 0 {
			say("spec.remoteWrite", "is not set, so what this agent scrapes is sent nowhere, and it stores nothing")
		}
	case *v1.Prometheus:
		serverRemarks(say, l.note(self), p)
	case *v1.Alertmanager:
		peerRemarks(say, p)
	case *v1.ThanosRuler:
		rulerRemarks(say, p)
	}
}

// serverRemarks reports fields that only a Prometheus has.
func serverRemarks(say, note says, p *v1.Prometheus) {
	monthRemark(say, "spec.retention", string(p.Spec.Retention))
	if p.Spec.Thanos != nil {
		unlabelled(say, p)
		dashRemarks(say, "spec.thanos.additionalArgs", p.Spec.Thanos.AdditionalArgs)
		unknownFlags(say, sidecarKind, "spec.thanos.additionalArgs", p.Spec.Thanos.AdditionalArgs)
		replacedFields(say, "spec.thanos", replacedOfSidecar(p.Spec.Thanos))
		unreachableStore(note, p)
		shortRetention(say, p)
	}
	if p.Spec.Alerting == nil {
		return
	}
	for i, am := range p.Spec.Alerting.Alertmanagers {
		relabelRemarks(say, fmt.Sprintf("spec.alerting.alertmanagers[%d].alertRelabelings", i), am.AlertRelabelConfigs, raisedAlerts)
	}
}

// peerRemarks reports addresses by which Alertmanagers do not find each other.
func peerRemarks(say says, a *v1.Alertmanager) {
	if own := a.Spec.ClusterAdvertiseAddress; own != "" && ptr.Deref(a.Spec.Replicas, 0) > 1 && !strings.Contains(own, "$(") {
		say("spec.clusterAdvertiseAddress", "is the same for the %d replicas, so that they do not find each other, and each notifies; leave it out, or write $(POD_IP):9094 if they need one", *a.Spec.Replicas)
	}
	for i, peer := range a.Spec.AdditionalPeers {
		if host, is := strings.CutSuffix(peer, ":9093"); is {
			say(fmt.Sprintf("spec.additionalPeers[%d]", i), "9093 is the port for alerts and pages, and Alertmanagers find each other on that of the cluster: write %s:9094", host)
		}
	}
}

// rulerRemarks reports fields that only a ThanosRuler has.
func rulerRemarks(say says, r *v1.ThanosRuler) {
	monthRemark(say, "spec.retention", string(r.Spec.Retention))
	writeRemarks(say, r.Spec.RemoteWrite)
	for i, endpoint := range r.Spec.QueryEndpoints {
		if strings.HasSuffix(endpoint, ":10901") || strings.Contains(endpoint, "+_grpc.") {
			say(fmt.Sprintf("spec.queryEndpoints[%d]", i), "is the gRPC port of Thanos, and the ruler queries by HTTP, so that no rule is evaluated; write the HTTP port (10902, or _http._tcp)")
		}
	}
	replacedFields(say, "spec", replacedOfRuler(&r.Spec))
}

// replaced is a field that has no effect beside another one.
type replaced struct {
	field  string
	set    bool
	by     string
	chosen bool // the other one is set
}

// replacedFields reports fields below a path that have no effect beside others.
func replacedFields(say says, path string, all []replaced) {
	for _, r := range all {
		if r.set && r.chosen {
			say(path+"."+r.field, "has no effect beside %s, which is used: remove one of them", r.by)
		}
	}
}

// replacedOfSidecar returns the fields of a sidecar of Thanos beside which a path is used.
func replacedOfSidecar(t *v1.ThanosSpec) []replaced {
	return []replaced{
		{"objectStorageConfig", t.ObjectStorageConfig != nil, "objectStorageConfigFile", t.ObjectStorageConfigFile != ""},
		{"tracingConfig", t.TracingConfig != nil, "tracingConfigFile", t.TracingConfigFile != ""},
	}
}

// replacedOfRuler returns the fields of a ThanosRuler beside which a Secret or a path is used.
func replacedOfRuler(r *v1.ThanosRulerSpec) []replaced {
	return []replaced{
		{"queryEndpoints", len(r.QueryEndpoints) > 0, "queryConfig", r.QueryConfig != nil},
		{"alertmanagersUrl", len(r.AlertmanagersURL) > 0, "alertmanagersConfig", r.AlertmanagersConfig != nil},
		{"alertRelabelConfigs", r.AlertRelabelConfigs != nil, "alertRelabelConfigFile", r.AlertRelabelConfigFile != ""},
		{"objectStorageConfig", r.ObjectStorageConfig != nil, "objectStorageConfigFile", r.ObjectStorageConfigFile != ""},
		{"tracingConfig", r.TracingConfig != nil, "tracingConfigFile", r.TracingConfigFile != ""},
	}
}

// unlabelled reports a Prometheus without external labels, with which the sidecar of Thanos does not start.
func unlabelled(say says, p *v1.Prometheus) {
	empty := func(name *string) bool { return name != nil && *name == "" }
	if len(p.Spec.ExternalLabels) == 0 && empty(p.Spec.PrometheusExternalLabelName) && empty(p.Spec.ReplicaExternalLabelName) {
		say("spec.thanos", "the sidecar of Thanos does not start without external labels, and spec.prometheusExternalLabelName and spec.replicaExternalLabelName are empty: leave one of them out, or write spec.externalLabels")
	}
}

// unreachableStore reports a sidecar of Thanos whose store listens inside of the pod only.
func unreachableStore(note says, p *v1.Prometheus) {
	field := "spec.thanos.grpcListenLocal"
	if !p.Spec.Thanos.GRPCListenLocal {
		field = "spec.thanos.listenLocal"
	}
	if (p.Spec.Thanos.ListenLocal || p.Spec.Thanos.GRPCListenLocal) && len(p.Spec.Containers) == 0 { // one may be a proxy
		note(field, "is true, so the gRPC port of the sidecar (10901) can be reached from inside of the pod only, and Thanos Query cannot read from this Prometheus: remove it")
	}
}

// unsentAlerts reports alerts that a Prometheus sends nowhere, although there is an Alertmanager.
func (l *linter) unsentAlerts(self Finding, w dryrun.Workload, selected []fragments.Result) {
	if r, is := w.Object.(*v1.ThanosRuler); is && len(r.Spec.AlertmanagersURL) == 0 && r.Spec.AlertmanagersConfig == nil &&
		slices.ContainsFunc(selected, func(v fragments.Result) bool { return v.Err == nil && hasAlerts(v.Object) }) {
		l.note(self)("spec.alertmanagersUrl", "neither this nor alertmanagersConfig is set, so the alerts of the selected rules are sent nowhere; write the addresses of the Alertmanagers, such as [http://alertmanager-operated.%s.svc:9093]", l.managerNamespace(r.Namespace))
	}
	p, is := w.Object.(*v1.Prometheus)
	managers := l.objects.All(catalog.Alertmanager)
	if !is || len(managers) == 0 || p.Spec.Alerting != nil && len(p.Spec.Alerting.Alertmanagers) > 0 || p.Spec.AdditionalAlertManagerConfigs != nil {
		return
	}
	if !slices.ContainsFunc(selected, func(v fragments.Result) bool { return v.Err == nil && hasAlerts(v.Object) }) {
		return
	}
	to := managers[0].(*v1.Alertmanager)
	port := cmp.Or(to.Spec.PortName, "web")
	self.Severity, self.Code, self.Field = SeverityNote, CodeRemark, "spec.alerting"
	self.Message = fmt.Sprintf("is not set, so the alerts of the selected rules are sent nowhere; for Alertmanager %s/%s write alertmanagers: [{namespace: %s, name: %s, port: %s}]",
		to.Namespace, to.Name, to.Namespace, cmp.Or(to.Spec.ServiceName, "alertmanager-operated"), port)
	l.add(self, "")
}

// managerNamespace returns the namespace of an Alertmanager among the manifests, or the given one without any.
func (l *linter) managerNamespace(otherwise string) string {
	for _, am := range l.objects.All(catalog.Alertmanager) {
		return am.GetNamespace()
	}
	return otherwise
}

// hasAlerts reports whether an object is a PrometheusRule with alerts.
func hasAlerts(object catalog.Object) bool {
	rule, is := object.(*v1.PrometheusRule)
	return is && slices.ContainsFunc(rule.Spec.Groups, func(g v1.RuleGroup) bool {
		return slices.ContainsFunc(g.Rules, func(r v1.Rule) bool { return r.Alert != "" })
	})
}

// paused reports that changes have no effect while the workload is paused.
func (l *linter) paused(self Finding, w dryrun.Workload) {
	if w.Object.GetWorkloadFields().Paused {
		self.Severity, self.Code, self.Field = SeverityNote, CodeRemark, "spec.paused"
		self.Message = "while this is true, the operator changes nothing of this " + w.Kind.Kind + ": neither its own fields nor objects that it selects take effect"
		l.add(self, "")
	}
}

// stopped reports a workload without pods.
func (l *linter) stopped(self Finding, w dryrun.Workload) {
	if n := w.Object.GetWorkloadFields().Replicas; n != nil && *n == 0 {
		l.note(self)("spec.replicas", "is 0, so no pod runs, and nothing is scraped, evaluated or sent")
	}
}

// dashRemarks reports arguments whose names have leading dashes or include the value.
func dashRemarks(say says, field string, args []v1.Argument) {
	for i, arg := range args {
		switch name, value, joined := strings.Cut(strings.TrimLeft(arg.Name, "-"), "="); {
		case joined:
			say(fmt.Sprintf("%s[%d].name", field, i), "the value is a field of its own: write name: %s and value: %q", name, value)
		case name != arg.Name:
			say(fmt.Sprintf("%s[%d].name", field, i), "the dashes are added to it, so the program gets --%s and does not start; write %s", arg.Name, name)
		}
	}
}

// fieldOfArgument are fields for arguments that the operator sets only if the field is set.
var fieldOfArgument = map[string]map[string]string{
	catalog.Prometheus.Kind: {
		"log.level": "logLevel", "log.format": "logFormat", "web.external-url": "externalUrl", "enable-feature": "enableFeatures",
		"web.enable-admin-api": "enableAdminAPI", "web.enable-remote-write-receiver": "enableRemoteWriteReceiver", "web.enable-otlp-receiver": "enableOTLPReceiver",
		"storage.tsdb.retention.time": "retention", "storage.tsdb.retention.size": "retentionSize", "storage.tsdb.wal-compression": "walCompression",
		"storage.tsdb.allow-overlapping-blocks": "allowOverlappingBlocks", "query.timeout": "query.timeout", "query.max-concurrency": "query.maxConcurrency",
		"query.max-samples": "query.maxSamples", "query.lookback-delta": "query.lookbackDelta", "rules.alert.for-outage-tolerance": "rules.alert.forOutageTolerance",
		"rules.alert.for-grace-period": "rules.alert.forGracePeriod", "rules.alert.resend-delay": "rules.alert.resendDelay",
		"web.page-title": "web.pageTitle", "web.max-connections": "web.maxConnections",
	},
	catalog.PrometheusAgent.Kind: {
		"log.level": "logLevel", "log.format": "logFormat", "web.external-url": "externalUrl", "enable-feature": "enableFeatures",
		"web.enable-remote-write-receiver": "enableRemoteWriteReceiver", "web.enable-otlp-receiver": "enableOTLPReceiver", "storage.agent.wal-compression": "walCompression",
	},
	catalog.Alertmanager.Kind: {
		"log.level": "logLevel", "log.format": "logFormat", "web.external-url": "externalUrl", "enable-feature": "enableFeatures",
		"cluster.advertise-address": "clusterAdvertiseAddress", "cluster.gossip-interval": "clusterGossipInterval", "cluster.pushpull-interval": "clusterPushpullInterval",
		"cluster.peer-timeout": "clusterPeerTimeout", "web.get-concurrency": "web.getConcurrency", "web.timeout": "web.timeout",
	},
}

// fieldsFor returns what to set instead of arguments that the operator sets, as the end of a message.
func fieldsFor(kind string, arguments []string) string {
	var fields []string
	for _, name := range arguments {
		if field := fieldOfArgument[kind][strings.TrimPrefix(name, "no-")]; field != "" {
			fields = append(fields, "spec."+field)
		}
	}
	remedy := ": remove it"
	if len(arguments) > 1 {
		remedy = ": remove them"
	}
	if len(fields) == 0 {
		return remedy
	}
	return remedy + ", and set " + strings.Join(fields, ", ")
}

// fieldRemarks reports additional arguments for which there is a field.
func (l *linter) fieldRemarks(self Finding, w dryrun.Workload, args []v1.Argument) {
	for i, arg := range args {
		name, _ := arg.Flag()
		field := fieldOfArgument[w.Kind.Kind][name]
		if field == "" {
			continue
		}
		self.Severity, self.Code, self.Field = SeverityNote, CodeRemark, fmt.Sprintf("spec.additionalArgs[%d].name", i)
		self.Message = fmt.Sprintf("the field for --%s is spec.%s: write it there, because the operator takes no account of an argument", name, field)
		if name == "enable-feature" {
			self.Message += "; it rejects rules that need a feature of which it does not know"
		}
		l.add(self, "")
	}
}

// months matches durations in which m was probably meant as months.
var months = lazyregexp.New(`^(\d+y)?(\d+w)?(\d+d)?0*([1-9]\d*)m$`)

// monthRemark reports a retention in minutes that was probably meant in months.
func monthRemark(say says, field, value string) {
	part := months.FindStringSubmatch(value)
	if part == nil {
		return
	}
	short := part[1] == "" && part[2] == "" && part[3] == ""
	if short && len(part[4]) > 2 { // three digits are probably minutes
		return
	}
	say(field, "m are minutes, and there is no unit for months: for %s months write days, such as 30d for each", part[4])
}

// writeRemarks reports remarks about the relabeling steps of remote write, and tokens in plain text.
func writeRemarks(say says, all []v1.RemoteWriteSpec) {
	for i, to := range all {
		relabelRemarks(say, fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs", i), to.WriteRelabelConfigs, sentSamples)
		storeRemark(say, fmt.Sprintf("spec.remoteWrite[%d].url", i), to.URL)
		unsignedRemark(say, fmt.Sprintf("spec.remoteWrite[%d]", i), &to)
		queueRemarks(say, fmt.Sprintf("spec.remoteWrite[%d].queueConfig", i), to.QueueConfig)
		if to.BearerToken != "" {
			say(fmt.Sprintf("spec.remoteWrite[%d].bearerToken", i), "everyone who may read this object reads the token; put it into a Secret, and write authorization: {credentials: {name: …, key: …}}")
		}
	}
}

// queueRemarks reports pairs of limits of a queue of which one is beyond the other.
func queueRemarks(say says, path string, q *v1.QueueConfig) {
	if q == nil {
		return
	}
	const defaultCapacity, defaultSend = 10000, 500 // those of the versions of Prometheus that are farthest apart
	if q.MaxShards > 0 && q.MinShards > q.MaxShards {
		say(path+".minShards", "%d is more than maxShards, %d, which limits it: raise maxShards, or lower minShards", q.MinShards, q.MaxShards)
	}
	if capacity, send := cmp.Or(q.Capacity, defaultCapacity), cmp.Or(q.MaxSamplesPerSend, defaultSend); capacity < send {
		say(path+".capacity", "a shard holds %d samples, less than the %d of one request (maxSamplesPerSend), so it collects none while it sends, and falls behind: write 3 to 10 times maxSamplesPerSend", capacity, send)
	}
	if longest := durationOr(q.MaxBackoff, 0); longest > 0 && durationOr(q.MinBackoff, 0) > longest {
		say(path+".minBackoff", "%s is more than maxBackoff, %s, which limits it: raise maxBackoff, or lower minBackoff", q.MinBackoff, q.MaxBackoff)
	}
}
