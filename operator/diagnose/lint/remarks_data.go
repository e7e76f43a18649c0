package lint

import (
	"slices"
	"time"

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
