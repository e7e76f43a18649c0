package commands

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// scopeOptions are the flags that select the objects of an operator.
type scopeOptions struct {
	Namespaces, DenyNamespaces       []string
	AlertmanagerConfigNamespaces     []string
	Instances                        instances
	SecretFields, SecretLabels       string
	ConfigMapFields, ConfigMapLabels string
	WatchReferences                  bool
	ControllerID                     string
	ManageCRDs                       bool
}

func (o *scopeOptions) bindScope(flags flagSet) {
	flags.Flag("namespaces", "Namespaces to watch, comma-separated, repeatable. Default: all.").
		SetValue(csv{&o.Namespaces})
	flags.Flag("deny-namespaces", "Namespaces not to watch, comma-separated, repeatable. Cannot be combined with --namespaces.").
		SetValue(csv{&o.DenyNamespaces})
	o.Instances.bind(flags)
	flags.Flag("alertmanager-config-namespaces", "Namespaces to watch for AlertmanagerConfig objects. Default: those of --namespaces.").
		SetValue(csv{&o.AlertmanagerConfigNamespaces})
	flags.Flag("secret-field-selector", "Field selector that restricts the watch on Secrets.").StringVar(&o.SecretFields)
	flags.Flag("secret-label-selector", "Label selector that restricts the watch on Secrets.").StringVar(&o.SecretLabels)
	flags.Flag("configmap-field-selector", "Field selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapFields)
	flags.Flag("configmap-label-selector", "Label selector that restricts the watch on ConfigMaps.").StringVar(&o.ConfigMapLabels)
	flags.Flag("watch-referenced-objects-in-all-namespaces", "Also watch Secrets and ConfigMaps in the namespaces of monitors and AlertmanagerConfigs, not only in those of Prometheus, PrometheusAgent, ThanosRuler and Alertmanager objects.").
		BoolVar(&o.WatchReferences)
	flags.Flag("controller-id", "Manage only objects whose annotation operator.prometheus.io/controller-id has this value.").
		StringVar(&o.ControllerID)
	flags.Flag("manage-crds", "Install the CustomResourceDefinitions at startup. Requires get, create and patch on customresourcedefinitions.").
		BoolVar(&o.ManageCRDs)
}

// validateScope checks each flag. Errors start with the flag.
func (o *scopeOptions) validateScope() error {
	if _, err := informer.NewNamespaces(o.Namespaces, o.DenyNamespaces); err != nil {
		return fmt.Errorf("--namespaces, --deny-namespaces: %w", err)
	}
	if err := o.Instances.validate(); err != nil {
		return err
	}
	if _, err := informer.NewNamespaces(o.AlertmanagerConfigNamespaces, nil); err != nil {
		return fmt.Errorf("--alertmanager-config-namespaces: %w", err)
	}
	for flag, text := range map[string]string{
		"secret-label-selector":    o.SecretLabels,
		"configmap-label-selector": o.ConfigMapLabels,
	} {
		if _, err := labels.Parse(text); err != nil {
			return fmt.Errorf("--%s=%s: %w", flag, text, err)
		}
	}
	for flag, text := range map[string]string{
		"secret-field-selector": o.SecretFields, "configmap-field-selector": o.ConfigMapFields,
	} {
		if _, err := fields.ParseSelector(text); err != nil {
			return fmt.Errorf("--%s=%s: %w", flag, text, err)
		}
	}
	return nil
}

// configNamespaces returns the namespaces of selected kinds that have a separate list.
func (o *scopeOptions) configNamespaces() (map[*catalog.Row]informer.Namespaces, error) {
	if len(o.AlertmanagerConfigNamespaces) == 0 {
		return nil, nil
	}
	own, err := informer.NewNamespaces(o.AlertmanagerConfigNamespaces, nil)
	return map[*catalog.Row]informer.Namespaces{catalog.AlertmanagerConfig: own.Of("--alertmanager-config-namespaces")}, err
}
