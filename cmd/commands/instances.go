package commands

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// instances select the workloads to manage. The key is catalog.Row.Flags.
type instances map[string]*instance

// instance holds the flags of one or more kinds of workloads.
type instance struct {
	Namespaces []string
	Selector   string
}

// managed are the kinds of workloads that the operator manages.
var managed = []*catalog.Row{catalog.Prometheus, catalog.PrometheusAgent, catalog.ThanosRuler, catalog.Alertmanager}

// bind declares the flags of all managed kinds.
func (i *instances) bind(flags flagSet) {
	*i = instances{}
	for _, row := range managed {
		if (*i)[row.Flags] != nil {
			continue
		}
		of := &instance{}
		(*i)[row.Flags] = of
		kinds := kindsOf(row.Flags)
		flags.Flag(row.Flags+"-instance-namespaces", "Namespaces to watch for "+kinds+" objects and what is generated for them. Default: those of --namespaces.").
			SetValue(csv{&of.Namespaces})
		flags.Flag(row.Flags+"-instance-selector", "Label selector for the "+kinds+" objects to manage.").StringVar(&of.Selector)
	}
}

// kindsOf returns the kinds to which flags apply: "Prometheus and PrometheusAgent".
func kindsOf(flags string) string {
	var kinds []string
	for _, row := range managed {
		if row.Flags == flags {
			kinds = append(kinds, row.Kind)
		}
	}
	return strings.Join(kinds, " and ")
}

// validate checks each flag. Errors start with the flag.
func (i instances) validate() error {
	var seen []string
	for _, row := range managed {
		of := i.of(row)
		if slices.Contains(seen, row.Flags) {
			continue
		}
		seen = append(seen, row.Flags)
		if _, err := informer.NewNamespaces(of.Namespaces, nil); err != nil {
			return fmt.Errorf("--%s-instance-namespaces: %w", row.Flags, err)
		}
		if _, err := labels.Parse(of.Selector); err != nil {
			return fmt.Errorf("--%s-instance-selector=%s: %w", row.Flags, of.Selector, err)
		}
	}
	return nil
}

// of returns the flags for a kind.
func (i instances) of(row *catalog.Row) instance {
	if of := i[row.Flags]; of != nil {
		return *of
	}
	return instance{}
}

// namespaces returns the namespaces of the workloads of a kind, which default to all.
func (i instances) namespaces(row *catalog.Row, all informer.Namespaces) (informer.Namespaces, error) {
	if own := i.of(row).Namespaces; len(own) > 0 {
		return informer.NewNamespaces(own, nil)
	}
	return all, nil
}
