package promconfig

import (
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// checkDiscoveries limits the costs of the service discoveries of a ScrapeConfig for a Prometheus that tenants share.
func checkDiscoveries(spec *scrapeSpec) error {
	all := -len(spec.StaticConfigs)
	for _, m := range mechanisms {
		all += m.entries(spec)
	}
	if all > budget.Discoveries {
		return fmt.Errorf("the service discoveries have more than %d entries, the limit of one %s", budget.Discoveries, v1alpha1.ScrapeConfigKind)
	}
	names := 0
	for i := range spec.DNSSDConfigs {
		names += len(spec.DNSSDConfigs[i].Names)
	}
	return errors.Join(checkKubernetesDiscoveries(spec.KubernetesSDConfigs),
		budget.Elements(v1alpha1.ScrapeConfigKind, "dnsSDConfigs[].names", names, budget.DNSNames), checkStaticConfigs(spec.StaticConfigs))
}

// checkStaticConfigs limits the labels of static targets. The object has the labels of a list once, Prometheus has them for each
// target of the list, and compares the labels of a target with each other before the targets of any other job change.
func checkStaticConfigs(all []v1alpha1.StaticConfig) error {
	bytes, targets := 0, 0
	for i := range all {
		if targets += len(all[i].Targets); targets > budget.StaticTargets {
			return budget.Elements(v1alpha1.ScrapeConfigKind, "staticConfigs[].targets", targets, budget.StaticTargets)
		}
		here, err := staticBytes(len(all[i].Targets), all[i].Labels)
		if err != nil {
			return faults.At(faults.Index("staticConfigs", i)+".labels", err)
		}
		if bytes += here; bytes > budget.StaticBytes {
			return faults.At("staticConfigs", errStaticBytes)
		}
	}
	return nil
}

var errStaticBytes = fmt.Errorf("the labels of all targets together have more than %d bytes: use fewer labels, or several objects", budget.StaticBytes)

// labelHeader is the memory of a label without its name and value.
const labelHeader = 16

// staticBytes returns the memory of the labels of static targets.
//
// Errors: too many labels, or too large.
func staticBytes(targets int, labels map[string]string) (bytes int, err error) {
	if len(labels) > budget.StaticLabels {
		return 0, fmt.Errorf("has more than %d elements, the limit of static targets", budget.StaticLabels)
	}
	for name, value := range labels {
		bytes += len(name) + len(value) + labelHeader
	}
	if bytes *= targets; bytes > budget.StaticBytes {
		return 0, errStaticBytes
	}
	return bytes, nil
}
