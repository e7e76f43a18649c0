package lint

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// dataRemarks reports data that is lost with a pod although it is to be kept for long, and volumes into which a server
// may not be able to write.
func (l *linter) dataRemarks(self Finding, w dryrun.Workload) {
	note := l.note(self)
	f := w.Object.GetWorkloadFields()
	p, is := w.Object.(*v1.Prometheus)
	const day = 24 * time.Hour
	if is && f.Storage == nil && durationOr(p.Spec.Retention, day) > day && !mountedAt(f.VolumeMounts, f.Containers, "/prometheus/data") {
		note("spec.retention", "spec.storage is not set, so the data is in the pod and lost when it is recreated, such as by an update or on another node; set storage.volumeClaimTemplate to keep it")
	}
	if s := f.Storage; s == nil || s.EmptyDir != nil || f.SecurityContext == nil {
		return
	}
	of := f.SecurityContext
	if of.FSGroup == nil && of.RunAsUser != nil && *of.RunAsUser != 0 {
		note("spec.securityContext.fsGroup", "is not set, and a new volume mostly belongs to root, so user %d may not write into it (permission denied), and the server does not start; set fsGroup: %d, unless the volumes are writable for this user", *of.RunAsUser, *of.RunAsUser)
	}
}

// exemplarRemark reports a store of exemplars that is not enabled.
func exemplarRemark(say says, f *v1.CommonPrometheusFields, w v1.Workload) {
	const feature = "exemplar-storage"
	p, is := w.(*v1.Prometheus)
	if !is || p.Spec.Exemplars == nil || slices.Contains(f.EnableFeatures, feature) {
		return
	}
	say("spec.exemplars", "has no effect without the feature %[1]s; set enableFeatures: [%[1]s]", feature)
}

// histogramRemark reports native histograms that are to be sent and not scraped. Later versions have a field for scraping them.
func histogramRemark(say says, f *v1.CommonPrometheusFields) {
	const feature = "native-histograms"
	if !ofVersion2(f.Version) || slices.Contains(f.EnableFeatures, feature) {
		return
	}
	for i, to := range f.RemoteWrite {
		if to.SendNativeHistograms != nil && *to.SendNativeHistograms {
			say(fmt.Sprintf("spec.remoteWrite[%d].sendNativeHistograms", i), "Prometheus 2 scrapes native histograms only with the feature %[1]s, so that there are none to send; set enableFeatures: [%[1]s]", feature)
		}
	}
}

// takenLabels reports external labels that all series have already. Those of the series stay.
func takenLabels(note says, f *v1.CommonPrometheusFields) {
	for _, name := range []string{"instance", "job"} {
		if _, has := f.ExternalLabels[name]; has {
			note("spec.externalLabels."+name, "every series that is scraped has its own label %s, which stays, so that this one has no effect on it: use another name", name)
		}
	}
}

// shortRetention reports a Prometheus that may delete its data before the sidecar of Thanos has uploaded it.
func shortRetention(say says, p *v1.Prometheus) {
	const block = 2 * time.Hour
	of := p.Spec.Thanos
	if of == nil || of.ObjectStorageConfig == nil && of.ObjectStorageConfigFile == "" {
		return
	}
	if kept, length := durationOr(p.Spec.Retention, 24*time.Hour), durationOr(of.BlockSize, block); kept < length {
		say("spec.retention", "the sidecar of Thanos uploads blocks of %s once they are complete, and Prometheus deletes data after %s: write at least three times the length of a block", model.Duration(length), model.Duration(kept))
	}
}

// ofVersion2 reports whether spec.version of a Prometheus names a release of version 2.
func ofVersion2(version string) bool {
	return strings.HasPrefix(strings.TrimPrefix(version, "v"), "2.")
}
