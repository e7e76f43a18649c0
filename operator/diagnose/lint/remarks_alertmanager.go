package lint

import (
	"cmp"
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// secretRemarks reports what Alertmanager will refuse in the configuration of its Secret, if the
// operator passes that on without reading it.
func (l *linter) secretRemarks(say says, am *v1.Alertmanager) {
	if am.Spec.AlertmanagerConfigSelector != nil || am.Spec.AlertmanagerConfiguration != nil {
		return
	}
	if !slices.Contains(l.objects.References.Namespaces(assets.Secret, amconfig.SecretName(am)), am.Namespace) {
		return // its content is not known
	}
	version, err := workload.ParseVersion("spec.version", cmp.Or(am.Spec.Version, wellknown.DefaultAlertmanagerVersion))
	if err != nil {
		return // the workload is rejected
	}
	frame, err := amconfig.CompileBase(am, version, amconfig.Base{}, &l.objects.References)
	if err != nil {
		say("spec.configSecret", "%v; without alertmanagerConfigSelector the operator passes it on unread, and Alertmanager refuses it", err)
		return
	}
	for _, d := range frame.Dropped {
		say("spec.configSecret", "%s in the configuration needs Alertmanager %s; without alertmanagerConfigSelector the operator passes it on unread, and Alertmanager refuses the whole file", d.Path, d.Need)
	}
}
