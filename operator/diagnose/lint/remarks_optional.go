package lint

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// optionalRemarks reports optional keys of Secrets with additional configuration that the Secret does not have: without an
// error, nothing is added.
func (l *linter) optionalRemarks(say says, w v1.Workload, common *v1.CommonPrometheusFields) {
	type reference struct {
		field, what string
		of          *corev1.SecretKeySelector
	}
	all := []reference{{"spec.additionalScrapeConfigs", "scrape configurations", common.AdditionalScrapeConfigs}}
	if p, is := w.(*v1.Prometheus); is {
		all = append(all,
			reference{"spec.additionalAlertRelabelConfigs", "relabel steps of alerts", p.Spec.AdditionalAlertRelabelConfigs},
			reference{"spec.additionalAlertManagerConfigs", "Alertmanagers", p.Spec.AdditionalAlertManagerConfigs})
	}
	for _, r := range all {
		if r.of == nil || r.of.Optional == nil || !*r.of.Optional {
			continue
		}
		ref := assets.Ref{Kind: assets.Secret, Namespace: w.GetNamespace(), Name: r.of.Name}
		keys := l.objects.References.Keys(ref)
		if len(keys) > 0 && !slices.Contains(keys, r.of.Key) {
			say(r.field+".key", "%s", fmt.Sprintf("%s has no key %q%s; as it is optional, that is no error, and no %s are added", ref, r.of.Key, manifest.Beside(r.of.Key, keys), r.what))
		}
	}
}
