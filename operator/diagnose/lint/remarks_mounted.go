package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// mountedRemarks reports configuration in the ConfigMaps and Secrets that a workload mounts by its fields configMaps and
// secrets: the server reads no file of them, unless another one names it.
func (l *linter) mountedRemarks(say says, w v1.Workload) {
	var configMaps, secrets []string
	var other string // what to do instead
	var names []string
	program := ""
	switch am, is := w.(*v1.Alertmanager); {
	case is:
		configMaps, secrets, program = am.Spec.ConfigMaps, am.Spec.Secrets, "alertmanager"
		names = []string{"alertmanager.yml", "alertmanager.yaml"}
		other = fmt.Sprintf("it reads key %s of Secret %s; write it there", v1.AlertmanagerConfigKey, am.ConfigSecretName())
	default:
		common := v1alpha1.CommonFields(w)
		if common == nil {
			return
		}
		configMaps, secrets, program = common.ConfigMaps, common.Secrets, "prometheus"
		names = []string{"prometheus.yml", "prometheus.yaml"}
		other = "its configuration is written by the operator; write scrape_configs as ScrapeConfigs, or into the Secret of spec.additionalScrapeConfigs"
	}
	for _, list := range []struct {
		field, dir string
		kind       assets.Kind
		names      []string
	}{{"spec.configMaps", "configmaps", assets.ConfigMap, configMaps}, {"spec.secrets", "secrets", assets.Secret, secrets}} {
		for i, name := range list.names {
			ref := assets.Ref{Kind: list.kind, Namespace: w.GetNamespace(), Name: name}
			object, err := l.objects.References.Object(ref)
			if err != nil {
				continue
			}
			dir := fmt.Sprintf("/etc/%s/%s/%s", program, list.dir, name)
			field := fmt.Sprintf("%s[%d]", list.field, i)
			for _, key := range l.objects.References.Keys(ref) {
				isConfig := slices.Contains(names, key)
				isRules := program == "prometheus" && bytes.HasPrefix(bytes.TrimLeft(object.Values[key], " \n"), []byte("groups:"))
				switch {
				case !isConfig && !isRules, mentions(w.GetWorkloadFields().Containers, dir):
				case isConfig:
					say(field, "%s/%s is mounted, and the server does not read it: %s", dir, key, other)
				default:
					say(field, "%s/%s has rules, and the server does not read it: write its groups as spec.groups of a PrometheusRule", dir, key)
				}
			}
		}
	}
}

// mentions reports whether an argument of a container contains a path.
func mentions(containers []corev1.Container, path string) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(slices.Concat(c.Command, c.Args), func(arg string) bool { return strings.Contains(arg, path) })
	})
}
