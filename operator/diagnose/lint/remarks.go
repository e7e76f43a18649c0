package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// Remarks are about valid settings whose effect is probably not the intended one. The operator
// itself does not report them.

// says records a remark about a field, for example "spec.endpoints[0]".
type says func(field, format string, args ...any)

// remarks reports remarks about an object that a workload selects.
func (l *linter) remarks(w dryrun.Workload, kind string, object catalog.Object) {
	about := Finding{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	saying := func(severity Severity, owner string) says {
		return func(field, format string, args ...any) {
			at := about
			at.Severity, at.Code, at.Field, at.Message = severity, CodeRemark, field, fmt.Sprintf(format, args...)
			l.add(at, owner)
		}
	}
	say := func(owner string) says { return saying(SeverityWarning, owner) }
	always := say("") // for any workload
	fields := v1alpha1.CommonFields(w.Object)
	known := fields
	if l.standsIn(w.String()) {
		known = nil
	}
	var steps stepRemarks = func(path string, before, after []v1.RelabelConfig, found *discovered) {
		relabelRemarks(always, path+".relabelings", before, targets)
		relabelRemarks(always, path+".metricRelabelings", after, samples)
		identityRemarks(saying(SeverityNote, ""), path, before, after, model.InstanceLabel, "pod")
		bareAddress(saying(SeverityNote, ""), path+".relabelings", before)
		bucketRemark(saying(SeverityNote, ""), path+".metricRelabelings", after)
		found.metaRemarks(say(w.String()), path+".relabelings", before)
	}
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		serviceMonitorRemarks(always, steps, m, known)
	case *v1.PodMonitor:
		podMonitorRemarks(always, steps, m, known)
	case *v1.Probe:
		probeRemarks(always, saying(SeverityNote, ""), m)
		identityOfProbe(saying(SeverityNote, ""), m)
	case *v1alpha1.ScrapeConfig:
		scrapeConfigRemarks(always, m, known)
		identityOfScrapeConfig(saying(SeverityNote, ""), m)
		bareAddress(saying(SeverityNote, ""), "spec.relabelings", m.Spec.RelabelConfigs)
		bucketRemark(saying(SeverityNote, ""), "spec.metricRelabelings", m.Spec.MetricRelabelConfigs)
		localTargets(saying(SeverityNote, w.String()), m, known)
	case *v1.PrometheusRule:
		l.ruleRemarks(saying, w, known, m)
	case *v1alpha1.AlertmanagerConfig:
		l.alertmanagerConfigRemarks(saying, w, m)
	}
	owner := w.String()
	if l.standsIn(owner) {
		owner = ""
	}
	intervalsOf(saying(SeverityNote, owner), w.Object).ofObject(object)
	certificateRemarks(unlessFaulty(saying(SeverityNote, ""), l.faultyFields[about.object()]), known, object)
	unverifiedRemarks(saying(SeverityNote, ""), object)
	l.moduleRemark(always, w, object)
	l.credentialRemarks(always, saying(SeverityNote, ""), object)
	if fields != nil {
		overridden(say(w.String()), fields, object)
		if !l.standsIn(w.String()) {
			fileRemarks(say(w.String()), fields, object)
			classCredentials(say(w.String()), w.Object.GetNamespace(), fields, object)
		}
	}
}

// ruleRemarks reports remarks about a PrometheusRule that a workload selects. known are the fields of the workload, nil
// if it is not among the manifests; saying returns a function for a severity and a workload, empty for any.
func (l *linter) ruleRemarks(saying func(Severity, string) says, w dryrun.Workload, known *v1.CommonPrometheusFields, m *v1.PrometheusRule) {
	always, note := saying(SeverityWarning, ""), saying(SeverityNote, "")
	_, server := w.Object.(*v1.Prometheus)
	queries := queriesOf(m)
	exprRemarks(always, note, queries, server && !ofVersion2(w.Object.GetWorkloadFields().Version))
	if len(l.faultyFields[about(catalog.RefOf(catalog.PrometheusRule.Kind, m)).object()]) == 0 { // otherwise they may be what is left out
		emptyRules(note, m)
	}
	alertRemarks(note, queries)
	valueRemarks(note, queries)
	templateRemarks(always, note, m)
	repeatedRules(always, note, m)
	collidingRules(note, queries)
	l.recordedRemarks(note, queries)
	l.alertNameRemarks(note, queries)
	l.renamedRemarks(note, queries)
	stateRemarks(note, queries)
	coresRemarks(note, queries)
	l.nameRemarks(saying(SeverityWarning, w.String()), saying(SeverityNote, w.String()), queries, known)
	if !l.standsIn(w.String()) {
		l.strategyRemarks(note, w.Object, m)
	}
	interval, from := l.interval(known)
	queryRemarks(always, note, saying(SeverityNote, w.String()), queries, interval, from)
	l.labellessRemarks(always, queries)
}

// stepRemarks reports remarks about the relabel steps of an endpoint, before and after the scrape.
type stepRemarks func(path string, before, after []v1.RelabelConfig, found *discovered)

// serviceMonitorRemarks reports remarks about a ServiceMonitor. known are the fields of the workload,
// nil if it is not among the manifests.
func serviceMonitorRemarks(always says, steps stepRemarks, m *v1.ServiceMonitor, known *v1.CommonPrometheusFields) {
	if m.Spec.Endpoints != nil && len(m.Spec.Endpoints) == 0 {
		always("spec.endpoints", "has no items, so nothing is scraped; name a port, such as [{port: metrics}]")
	}
	contradictions(always, "spec.selector", &m.Spec.Selector)
	found := discoveredBy(m.Spec.AttachMetadata, known, rolesOfServices(m, known)...)
	before, sure := stepsOfClass(known, m.Spec.ScrapeClass)
	copied := copiesInstance(known, m.Spec.TargetLabels, m.Spec.PodTargetLabels)
	for i := range m.Spec.Endpoints {
		e := &m.Spec.Endpoints[i]
		path := fmt.Sprintf("spec.endpoints[%d]", i)
		zeroRemark(always, path+".interval", e.Interval)
		if e.Port == "" && e.TargetPort == nil && !readdresses(e.RelabelConfigs) {
			always(path, "neither port nor targetPort is set, so every port of the Services is scraped%s", dashTooMany(i))
		}
		pathRemark(always, path+".path", e.Path)
		tlsRemark(always, path, hasFields(e.TLSConfig), e.Scheme, e.RelabelConfigs)
		steps(path, e.RelabelConfigs, e.MetricRelabelConfigs, found)
		if sure {
			instanceRemarks(always, path+".relabelings", e.RelabelConfigs, before, copied)
			exporterSteps(always, path+".relabelings", e.Path, e.RelabelConfigs, before)
		}
		phaseRemarks(always, path+".relabelings", e.FilterRunning, e.RelabelConfigs, false)
		portNameRemark(always, path+".relabelings", e.Port, e.RelabelConfigs, portNameLabel[found.roles[0]])
		endpointRemarks(always, path, e.Path, e.Params, e.HonorLabels, e.RelabelConfigs)
		if e.Port != "" && e.TargetPort != nil {
			always(path+".targetPort", "has no effect beside port, which is used: remove one of them")
		}
	}
	namesRemark(always, m.Spec.NamespaceSelector)
}

// podMonitorRemarks is like serviceMonitorRemarks for a PodMonitor.
func podMonitorRemarks(always says, steps stepRemarks, m *v1.PodMonitor, known *v1.CommonPrometheusFields) {
	if len(m.Spec.PodMetricsEndpoints) == 0 {
		always("spec.podMetricsEndpoints", "has no items, so nothing is scraped; name a port, such as [{port: metrics}]")
	}
	contradictions(always, "spec.selector", &m.Spec.Selector)
	found := discoveredBy(m.Spec.AttachMetadata, known, "pod")
	before, sure := stepsOfClass(known, m.Spec.ScrapeClass)
	copied := copiesInstance(known, m.Spec.PodTargetLabels)
	for i := range m.Spec.PodMetricsEndpoints {
		e := &m.Spec.PodMetricsEndpoints[i]
		path := fmt.Sprintf("spec.podMetricsEndpoints[%d]", i)
		zeroRemark(always, path+".interval", e.Interval)
		if i > 0 && e.Port == "" && e.PortNumber == nil && e.TargetPort == nil && !readdresses(e.RelabelConfigs) {
			always(path, "neither port nor portNumber is set, so every port of the pods is scraped%s", dashTooMany(i))
		}
		pathRemark(always, path+".path", e.Path)
		tlsRemark(always, path, hasFields(e.TLSConfig), e.Scheme, e.RelabelConfigs)
		steps(path, e.RelabelConfigs, e.MetricRelabelConfigs, found)
		if sure {
			instanceRemarks(always, path+".relabelings", e.RelabelConfigs, before, copied)
			exporterSteps(always, path+".relabelings", e.Path, e.RelabelConfigs, before)
		}
		phaseRemarks(always, path+".relabelings", e.FilterRunning, e.RelabelConfigs, true)
		portNameRemark(always, path+".relabelings", e.Port, e.RelabelConfigs, portNameLabel["pod"])
		endpointRemarks(always, path, e.Path, e.Params, e.HonorLabels, e.RelabelConfigs)
		if e.Port != "" && e.PortNumber != nil {
			always(path+".portNumber", "has no effect beside port, which is used: remove one of them")
		}
		if e.TargetPort != nil && (e.Port != "" || e.PortNumber != nil) {
			always(path+".targetPort", "has no effect beside port and portNumber, which are used: remove it")
		}
	}
	namesRemark(always, m.Spec.NamespaceSelector)
}

// probeRemarks reports remarks about a Probe.
func probeRemarks(say, note says, m *v1.Probe) {
	zeroRemark(say, "spec.interval", m.Spec.Interval)
	pathRemark(say, "spec.prober.path", m.Spec.ProberSpec.Path)
	if m.Spec.ProberSpec.Path == "/metrics" {
		say("spec.prober.path", "/metrics has the metrics of the prober itself, so nothing is probed; leave it out for /probe")
	}
	relabelRemarks(say, "spec.metricRelabelings", m.Spec.MetricRelabelConfigs, samples)
	if s := m.Spec.Targets.StaticConfig; s != nil {
		relabelRemarks(say, "spec.targets.staticConfig.relabelingConfigs", s.RelabelConfigs, targets)
		proberSteps(say, note, "spec.targets.staticConfig.relabelingConfigs", m.Spec.ProberSpec.URL, s.RelabelConfigs)
		for i, target := range s.Static {
			blankRemark(say, fmt.Sprintf("spec.targets.staticConfig.static[%d]", i), target)
		}
	}
	if s := m.Spec.Targets.Ingress; s != nil {
		contradictions(say, "spec.targets.ingress.selector", &s.Selector)
		relabelRemarks(say, "spec.targets.ingress.relabelingConfigs", s.RelabelConfigs, targets)
		proberSteps(say, note, "spec.targets.ingress.relabelingConfigs", m.Spec.ProberSpec.URL, s.RelabelConfigs)
		(&discovered{roles: []string{"ingress"}}).metaRemarks(say, "spec.targets.ingress.relabelingConfigs", s.RelabelConfigs)
	}
}

// blankRemark reports a target with blanks, which the prober gets as they are.
func blankRemark(say says, field, target string) {
	parts := strings.Fields(target)
	switch {
	case hostsOf(target) > 1:
		say(field, "is one target, whose host has a comma in its name; make each address an item of the list")
	case !strings.ContainsFunc(target, unicode.IsSpace):
	case len(parts) == 1:
		say(field, "has a blank before or after it, which is part of what is probed: remove it")
	case len(parts) == 0:
		say(field, "is blank: write what is to be probed")
	default:
		say(field, "is one target with a blank in it; make each address an item of the list")
	}
}

// hostsOf returns how many hosts with a comma between them a target has, before its path.
func hostsOf(target string) int {
	if _, rest, is := strings.Cut(target, "://"); is {
		target = rest
	}
	if end := strings.IndexAny(target, "/?#"); end >= 0 {
		target = target[:end]
	}
	return len(strings.FieldsFunc(target, func(r rune) bool { return r == ',' }))
}

// scrapeConfigRemarks reports remarks about a ScrapeConfig. known are the fields of the workload, nil if it is not among
// the manifests.
func scrapeConfigRemarks(say says, m *v1alpha1.ScrapeConfig, known *v1.CommonPrometheusFields) {
	if !discovers(m) {
		say("spec", "has no static targets and no discovery (staticConfigs, kubernetesSDConfigs and the like), so it scrapes nothing")
	}
	for i, sd := range m.Spec.EC2SDConfigs {
		halfKey(say, fmt.Sprintf("spec.ec2SDConfigs[%d]", i), sd.AccessKey != nil, sd.SecretKey != nil)
	}
	for i, sd := range m.Spec.LightSailSDConfigs {
		halfKey(say, fmt.Sprintf("spec.lightSailSDConfigs[%d]", i), sd.AccessKey != nil, sd.SecretKey != nil)
	}
	dnsRemarks(say, m)
	zeroRemark(say, "spec.scrapeInterval", m.Spec.ScrapeInterval)
	pathRemark(say, "spec.metricsPath", m.Spec.MetricsPath)
	scrapeConfigFederation(say, m)
	relabelRemarks(say, "spec.relabelings", m.Spec.RelabelConfigs, targets)
	if len(m.Spec.KubernetesSDConfigs) > 0 {
		rolesOf(m).metaRemarks(say, "spec.relabelings", m.Spec.RelabelConfigs)
	} else if len(m.Spec.HTTPSDConfigs)+len(m.Spec.FileSDConfigs) == 0 { // which may have any label, such as those of a target allocator
		strayMeta(say, "spec.relabelings", m.Spec.RelabelConfigs)
	}
	relabelRemarks(say, "spec.metricRelabelings", m.Spec.MetricRelabelConfigs, samples)
	before, sure := stepsOfClass(known, m.Spec.ScrapeClass)
	if sure {
		instanceRemarks(say, "spec.relabelings", m.Spec.RelabelConfigs, before, mayHaveInstance(m))
	}
	if sure && exporterRemarks(say, m, before) || nearmiss.LabelsSetBy(before, m.Spec.RelabelConfigs).Has(model.AddressLabel) {
		return
	}
	staticTargets(say, m)
}

// strayMeta reports labels of Kubernetes in the relabeling steps of a ScrapeConfig that discovers nothing there.
func strayMeta(say says, path string, steps []v1.RelabelConfig) {
	for i := range steps {
		for j, label := range steps[i].SourceLabels {
			if strings.HasPrefix(string(label), metaPrefix) {
				effect := ""
				if action := strings.ToLower(steps[i].Action); action == "keep" && len(steps[i].SourceLabels) == 1 {
					effect = ", and the step probably drops every target"
				}
				say(fmt.Sprintf("%s[%d].sourceLabels[%d]", path, i, j), "only targets of kubernetesSDConfigs have this label, and this ScrapeConfig has none, so it is always empty%s", effect)
			}
		}
		if strings.EqualFold(steps[i].Action, "labelmap") && strings.HasPrefix(steps[i].Regex, metaPrefix) {
			say(fmt.Sprintf("%s[%d].regex", path, i), "only targets of kubernetesSDConfigs have such labels, and this ScrapeConfig has none, so the step copies nothing")
		}
	}
}

// halfKey reports an access key of AWS without its secret, or the secret without the key.
func halfKey(say says, path string, key, secret bool) {
	switch {
	case key && !secret:
		say(path+".accessKey", "is no credential without secretKey: set both, or neither for the role of the pod or node")
	case secret && !key:
		say(path+".secretKey", "is no credential without accessKey: set both, or neither for the role of the pod or node")
	}
}

// discovers reports whether a ScrapeConfig has a list of targets or discoveries with an item.
func discovers(m *v1alpha1.ScrapeConfig) bool {
	spec := reflect.ValueOf(m.Spec)
	for i := range spec.NumField() {
		if name := spec.Type().Field(i).Name; strings.HasSuffix(name, "SDConfigs") || name == "StaticConfigs" {
			if spec.Field(i).Len() > 0 {
				return true
			}
		}
	}
	return false
}

func dashTooMany(i int) string {
	if i == 0 {
		return "; name the one that has metrics"
	}
	return " (is there a dash too many before this item?)"
}

// namesRemark reports matchNames that have no effect because any is set.
func namesRemark(say says, selector v1.NamespaceSelector) {
	if selector.Any && len(selector.MatchNames) > 0 {
		say("spec.namespaceSelector.matchNames", "has no effect beside any: true, which selects all namespaces: remove one of them")
		return
	}
	for i, name := range selector.MatchNames {
		if strings.ContainsAny(name, "*.|") {
			say(fmt.Sprintf("spec.namespaceSelector.matchNames[%d]", i), "%q is no name of a namespace, and names are compared as they are; for all namespaces write any: true", name)
		}
	}
}

// pathRemark reports a path with a query.
func pathRemark(say says, field, value string) {
	if _, rest, is := strings.Cut(value, "://"); is {
		_, path, _ := strings.Cut(rest, "/")
		say(field, "is a path, and the address is that of the target: write /%s", path)
		return
	}
	if before, _, is := strings.Cut(value, "?"); is {
		say(field, "the ? becomes part of the path (%%3F) and starts no query; write %s here, and what follows the ? as params", before)
	}
}

// hasFields reports whether a part of an object is set and not empty, as charts leave it.
func hasFields[T any](part *T) bool { return part != nil && !reflect.ValueOf(*part).IsZero() }

// tlsRemark reports TLS settings of a job that does not use TLS.
func tlsRemark(say says, path string, set bool, scheme v1.Scheme, steps []v1.RelabelConfig) {
	chosen := slices.ContainsFunc(steps, func(s v1.RelabelConfig) bool {
		return s.TargetLabel == "__scheme__" || strings.EqualFold(s.Action, "labelmap")
	})
	if set && !chosen && !strings.EqualFold(string(scheme), "https") {
		say(path+".tlsConfig", "has no effect, because targets are scraped with http; set scheme: https")
	}
}

// readdresses reports whether relabeling steps may select the port of a target.
func readdresses(steps []v1.RelabelConfig) bool {
	for _, s := range steps {
		if action := strings.ToLower(s.Action); s.TargetLabel == "__address__" || action == "keep" || action == "drop" {
			return true
		}
	}
	return false
}
