package lint

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// overridden reports values of a monitor that the workload overrides.
func overridden(say says, f *v1.CommonPrometheusFields, object catalog.Object) {
	var limits v1.ScrapeLimits
	var selector v1.NamespaceSelector
	honors := func(list string, i int, honorLabels bool, honorTimestamps *bool) {
		if honorLabels && f.OverrideHonorLabels {
			say(fmt.Sprintf("spec.%s[%d].honorLabels", list, i), "ignored, because the workload sets spec.overrideHonorLabels")
		}
		if ptr.Deref(honorTimestamps, false) && f.OverrideHonorTimestamps {
			say(fmt.Sprintf("spec.%s[%d].honorTimestamps", list, i), "ignored, because the workload sets spec.overrideHonorTimestamps")
		}
	}
	relabels := func(resource, path string, steps []v1.RelabelConfig) {
		for i, s := range steps {
			if s.TargetLabel != "" && s.TargetLabel == f.EnforcedNamespaceLabel && !v1.Names(f.ExcludedFromEnforcement, resource, object.GetNamespace(), object.GetName()) {
				say(fmt.Sprintf("%s[%d].targetLabel", path, i), "%s becomes %q afterwards, because the workload sets spec.enforcedNamespaceLabel; except the object with spec.excludedFromEnforcement, or write another label", s.TargetLabel, object.GetNamespace())
			}
		}
	}
	switch m := object.(type) {
	case *v1.ServiceMonitor:
		limits, selector = m.Spec.ScrapeLimits, m.Spec.NamespaceSelector
		for i, e := range m.Spec.Endpoints {
			honors("endpoints", i, e.HonorLabels, e.HonorTimestamps)
			relabels("servicemonitors", fmt.Sprintf("spec.endpoints[%d].relabelings", i), e.RelabelConfigs)
			relabels("servicemonitors", fmt.Sprintf("spec.endpoints[%d].metricRelabelings", i), e.MetricRelabelConfigs)
		}
	case *v1.PodMonitor:
		limits, selector = m.Spec.ScrapeLimits, m.Spec.NamespaceSelector
		for i, e := range m.Spec.PodMetricsEndpoints {
			honors("podMetricsEndpoints", i, e.HonorLabels, e.HonorTimestamps)
			relabels("podmonitors", fmt.Sprintf("spec.podMetricsEndpoints[%d].relabelings", i), e.RelabelConfigs)
			relabels("podmonitors", fmt.Sprintf("spec.podMetricsEndpoints[%d].metricRelabelings", i), e.MetricRelabelConfigs)
		}
	case *v1.Probe:
		limits = m.Spec.ScrapeLimits
		relabels("probes", "spec.metricRelabelings", m.Spec.MetricRelabelConfigs)
	case *v1alpha1.ScrapeConfig:
		limits = m.Spec.ScrapeLimits
	}
	if f.IgnoreNamespaceSelectors && (selector.Any || len(selector.MatchNames) > 0) {
		say("spec.namespaceSelector", "ignored, because the workload sets spec.ignoreNamespaceSelectors: only namespace %s counts", object.GetNamespace())
	}
	for _, limit := range []struct {
		field           string
		own, everywhere *uint64
	}{
		{"SampleLimit", limits.SampleLimit, f.EnforcedSampleLimit},
		{"TargetLimit", limits.TargetLimit, f.EnforcedTargetLimit},
		{"LabelLimit", limits.LabelLimit, f.EnforcedLabelLimit},
		{"LabelNameLengthLimit", limits.LabelNameLengthLimit, f.EnforcedLabelNameLengthLimit},
		{"LabelValueLengthLimit", limits.LabelValueLengthLimit, f.EnforcedLabelValueLengthLimit},
		{"KeepDroppedTargets", limits.KeepDroppedTargets, f.EnforcedKeepDroppedTargets},
	} {
		if limit.own != nil && ptr.Deref(limit.everywhere, 0) > 0 && *limit.own > *limit.everywhere {
			say("spec."+strings.ToLower(limit.field[:1])+limit.field[1:], "%d counts as %d, because the workload sets spec.enforced%s", *limit.own, *limit.everywhere, limit.field)
		}
	}
}

// defaultVersions are the versions that apply if spec.version is not set, by kind.
var defaultVersions = map[string]string{
	catalog.Prometheus.Kind: wellknown.DefaultPrometheusVersion, catalog.PrometheusAgent.Kind: wellknown.DefaultPrometheusVersion,
	catalog.ThanosRuler.Kind: wellknown.DefaultThanosVersion, catalog.Alertmanager.Kind: wellknown.DefaultAlertmanagerVersion,
}

// versionTag matches an image tag with a version, and its suffix and digest.
var versionTag = lazyregexp.New(`:v?(\d+\.\d+\.\d+)[^/:@]*(@.*)?$`)

// versionNumber matches a version with a suffix, such as a variant or release candidate.
var versionNumber = lazyregexp.New(`^v?(\d+\.\d+\.\d+)-`)

// versionRemarks reports images whose version differs from the version for which the configuration
// or the arguments are generated.
func (l *linter) versionRemarks(self Finding, w dryrun.Workload) {
	f := w.Object.GetWorkloadFields()
	image, field := f.Image, "image"
	switch object := w.Object.(type) {
	case *v1.Prometheus:
		image, field = imageOf(image, object.Spec.Tag, object.Spec.SHA)
		if t := object.Spec.Thanos; t != nil {
			versionRemark(l.say(self), l.note(self), "spec.thanos", "image", t.Image, t.Version, wellknown.DefaultThanosVersion)
		}
	case *v1.Alertmanager:
		image, field = imageOf(image, object.Spec.Tag, object.Spec.SHA)
	}
	versionRemark(l.say(self), l.note(self), "spec", field, image, f.Version, defaultVersions[w.Kind.Kind])
	if f.Image == "" && image == "" && partOfVersion.MatchString(f.Version) {
		l.say(self)("spec.version", "%[1]s is also the tag of the image, and there is probably none of this name, so no pod starts; write all parts of the version, such as %[1]s.0", f.Version)
	}
}

// partOfVersion matches a version without its last part.
var partOfVersion = lazyregexp.New(`^v?\d+\.\d+$`)

// saysNothing reports whether an image is given by its digest alone, by no tag or by the tag latest, so that it
// may be of any version. Other tags may follow the versions of a user.
func saysNothing(image string) bool {
	if image == "" {
		return false
	}
	name, _, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], "@")
	return !strings.Contains(name, ":") || strings.HasSuffix(name, ":latest")
}

// withoutTag reports whether an image has neither a tag nor a digest.
func withoutTag(image string) bool {
	return image != "" && !strings.ContainsAny(image[strings.LastIndexByte(image, '/')+1:], ":@")
}

// imageOf returns the image of a workload, or the deprecated part of it that decides, and its field.
func imageOf(image, tag, sha string) (text, field string) {
	switch {
	case image != "":
		return image, "image"
	case sha != "":
		return "@sha256:" + sha, "sha"
	case tag != "":
		return ":" + tag, "tag"
	}
	return "", "image"
}

// versionRemark reports an image below a path whose version differs from the version there.
func versionRemark(say, note says, path, field, image, version, otherwise string) {
	tag := versionTag.FindStringSubmatch(image)
	if tag == nil {
		if counts := strings.TrimPrefix(otherwise, "v"); saysNothing(image) && version == "" && counts != "" {
			say(path+"."+field, "does not say which version it is, and %s.version is not set and counts as %s: set version to that of the image, or fields are left out or written for the wrong version", path, counts)
		}
		if version != "" && withoutTag(image) {
			note(path+"."+field, "has no tag, so nodes pull the tag latest, and %s.version is only what the configuration is written for: write %s:v%s", path, image, strings.TrimPrefix(version, "v"))
		}
		return
	}
	own := version
	if variant := versionNumber.FindStringSubmatch(own); variant != nil {
		own = variant[1] // of v3.14.0-distroless
	}
	switch counts := strings.TrimPrefix(otherwise, "v"); {
	case own == "" && counts != "" && counts != tag[1]:
		say(path+"."+field, "the image is of version %s, and %s.version is not set and counts as %s: fields are left out or written for the wrong version; set version: v%s", tag[1], path, counts, tag[1])
	case own != "" && strings.TrimPrefix(own, "v") != tag[1] && !strings.HasPrefix(tag[1], strings.TrimPrefix(own, "v")+"."):
		say(path+"."+field, "the image is of version %s, and %s.version is %s, for which the configuration is written; set version: v%s", tag[1], path, version, tag[1])
	}
}

// unusedBeside describes a deprecated part of an image that has no effect, because the whole image is set.
func unusedBeside(w dryrun.Workload, f engine.Deprecated) string {
	image := w.Object.GetWorkloadFields().Image
	if p, is := w.Object.(*v1.Prometheus); is && f.Use == "spec.thanos.image" {
		image = p.Spec.Thanos.Image
	}
	if image == "" || !strings.HasSuffix(f.Use, ".image") {
		return ""
	}
	return ", beside which it has no effect: remove it"
}

// workloadRemarks reports remarks about a workload: its fields, numbers of pods that are not used as
// written, and an API version of Alertmanager that its version does not support.
func (l *linter) workloadRemarks(self Finding, w dryrun.Workload) {
	l.versionRemarks(self, w)
	l.storageRemarks(self, w)
	l.dataRemarks(self, w)
	l.resourceRemarks(self, w)
	l.objstoreRemarks(self, w)
	l.urlRemark(self, w)
	l.featureRemarks(self, w)
	l.specRemarks(self, w)
	f := w.Object.GetWorkloadFields()
	if n := f.Replicas; n != nil && *n < 0 {
		l.say(self)("spec.replicas", "%d is below zero and counts as 1", *n)
	}
	common := v1alpha1.CommonFields(w.Object)
	say := l.say(self)
	l.credentialRemarks(say, l.note(self), w.Object)
	l.pullSecrets(l.note(self), w.Object)
	l.exceptionRemarks(say, w.Object)
	l.mountedRemarks(say, w.Object)
	if am, is := w.Object.(*v1.Alertmanager); is {
		l.configSecretRemark(say, am)
		l.fileOfAlertmanager(self, am)
	}
	if common != nil {
		fileRemarks(say, common, w.Object)
		jobs := l.ownJobs(self, w, common)
		jobs.fileRemarks(common)
		l.optionalRemarks(say, w.Object, common)
		jobs.stepRemarks()
		replicaRemark(say, common, w.Object)
		droppedReplica(say, common, w.Object)
		exemplarRemark(say, common, w.Object)
		histogramRemark(say, common)
		takenLabels(l.note(self), common)
	}
	if common != nil && common.Shards != nil && *common.Shards < 1 {
		l.say(self)("spec.shards", "%d is below one and counts as 1; for no pods set replicas: 0", *common.Shards)
	}
	p, is := w.Object.(*v1.Prometheus)
	if !is || p.Spec.Alerting == nil || ofVersion2(f.Version) {
		return
	}
	for i, am := range p.Spec.Alerting.Alertmanagers {
		if version := string(am.APIVersion); strings.EqualFold(version, "v1") {
			l.say(self)(fmt.Sprintf("spec.alerting.alertmanagers[%d].apiVersion", i), "Prometheus >= 3.0 has v2 only, so v1 is left out")
		}
	}
}

// pullSecrets reports imagePullSecrets that are in another namespace than the pods, where the kubelet does not look for them.
func (l *linter) pullSecrets(say says, w v1.Workload) {
	for i, secret := range w.GetWorkloadFields().ImagePullSecrets {
		own := assets.Ref{Kind: assets.Secret, Namespace: w.GetNamespace(), Name: secret.Name}
		if _, err := l.objects.References.Object(own); !assets.IsNotFound(err) {
			continue
		}
		if others := l.objects.References.Namespaces(assets.Secret, secret.Name); len(others) > 0 {
			say(fmt.Sprintf("spec.imagePullSecrets[%d].name", i), "%s is not among the manifests, and pods read Secrets of their own namespace only; there is one in namespace %s: create it in namespace %s too", own, others[0], own.Namespace)
		}
	}
}

// droppedReplica reports replicas that send the same series to one store, because a step removes the external label that
// distinguishes them.
func droppedReplica(say says, f *v1.CommonPrometheusFields, object v1.Workload) {
	n := object.GetWorkloadFields().Replicas
	label := "prometheus_replica"
	if f.ReplicaExternalLabelName != nil {
		label = *f.ReplicaExternalLabelName
	}
	if n == nil || *n < 2 || label == "" {
		return
	}
	for i, to := range f.RemoteWrite {
		for j := range to.WriteRelabelConfigs {
			s := &to.WriteRelabelConfigs[j]
			if action := strings.ToLower(s.Action); (action == "labeldrop" || action == "labelkeep") && removes(s)(label) {
				say(fmt.Sprintf("spec.remoteWrite[%d].writeRelabelConfigs[%d]", i, j), "removes %s, by which the %d replicas differ, so that they send the same series, and the receiver refuses every second sample as duplicate or out of order; leave it, and have the receiver deduplicate by it, or send from one replica", label, *n)
			}
		}
	}
}

// replicaRemark reports replicas that send the same series to one store, because no external label
// distinguishes them.
func replicaRemark(say says, f *v1.CommonPrometheusFields, object v1.Workload) {
	n := object.GetWorkloadFields().Replicas
	if f.ReplicaExternalLabelName == nil || *f.ReplicaExternalLabelName != "" || n == nil || *n < 2 {
		return
	}
	p, is := object.(*v1.Prometheus)
	switch {
	case is && p.Spec.Thanos != nil && p.Spec.Thanos.ObjectStorageConfig != nil:
		say("spec.replicaExternalLabelName", "is empty, so the %d replicas have the same external labels: the compactor of Thanos halts when two of them have uploaded blocks of the same time; leave it out, and name its label in --query.replica-label of Thanos", *n)
	case len(f.RemoteWrite) > 0:
		say("spec.replicaExternalLabelName", "is empty, so the %d replicas send the same series to spec.remoteWrite, which refuses every second sample as duplicate or out of order; leave it out, and have the receiver deduplicate by its label", *n)
	}
}
