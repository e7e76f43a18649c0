package thanosruler

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// padded returns the inputs with the rule ConfigMaps that the pods mount, sorted. In the
// split layout there are at least ten, even if they do not exist, so that more rules do not
// require new pods.
func (b *builder) padded(in workload.PodInputs) workload.PodInputs {
	if !b.Single() {
		in.RuleConfigMaps = b.PadRuleConfigMaps(in.RuleConfigMaps)
	}
	in.RuleConfigMaps = slices.Sorted(slices.Values(in.RuleConfigMaps))
	return in
}

// InputHash implements [engine.Pods].
func (b *builder) InputHash(live *appsv1.StatefulSet, in workload.PodInputs) (string, error) {
	return b.Base.InputHash(live, b.padded(in))
}

// StatefulSet implements [engine.Pods]. The split layout has no config-reloader, since there
// is no configuration to expand. The single layout uses it for the rules.
func (b *builder) StatefulSet(in workload.PodInputs) (*appsv1.StatefulSet, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	in = b.padded(in)
	server, err := b.server(in.RuleConfigMaps)
	if err != nil {
		return nil, err
	}
	config, _ := b.files().Volumes()
	web, _ := b.WebVolumes()
	spec := b.PodSpec()
	spec.TopologySpreadConstraints = b.spec.TopologySpreadConstraints
	spec.Volumes = slices.Concat(config, []corev1.Volume{b.TLSAssets(in.TLSSecrets)}, web, workload.RuleVolumes(in.RuleConfigMaps), b.DataVolumes())
	spec.Containers = []corev1.Container{server}
	if len(in.RuleConfigMaps) > 0 {
		spec.Containers = append(spec.Containers, b.reloader(in.RuleConfigMaps))
	}
	match := b.matchLabels()
	return b.StatefulSetOf(b.PrefixedName(), match, in, b.PodMeta(match, in), spec)
}

// matchLabels returns spec.selector.matchLabels. It includes pod labels from the user and
// from the operator's flags, so changing them recreates the StatefulSet.
func (b *builder) matchLabels() map[string]string {
	var users map[string]string
	if pm := b.spec.PodMetadata; pm != nil {
		users = pm.Labels
	}
	return workload.Overlay(users, b.Config.Labels, b.SelectorLabels())
}

func (b *builder) server(rules []string) (corev1.Container, error) {
	c, err := b.ServerContainer(workload.Image{Field: "spec", Explicit: b.spec.Image, Default: b.Config.ThanosBaseImage, Version: b.VersionText()}, b.args)
	if err != nil {
		return c, err
	}
	c.Env = []corev1.EnvVar{workload.FieldVar(variables.PodName, "metadata.name")}
	c.Ports = append([]corev1.ContainerPort{{Name: grpcPortName, ContainerPort: grpcPort, Protocol: corev1.ProtocolTCP}}, b.WebPorts()...)
	_, config := b.files().Volumes()
	_, web := b.WebVolumes()
	c.VolumeMounts = slices.Concat(config, []corev1.VolumeMount{b.TLSAssetsMount()}, web,
		[]corev1.VolumeMount{b.DataMount()}, b.ReadRuleMounts(rules), b.spec.VolumeMounts)
	return c, nil
}

// reloader returns the reloader that watches the rules.
func (b *builder) reloader(rules []string) corev1.Container {
	_, web := b.WebVolumes()
	common := b.Reloader(append(b.RuleMounts(rules), web...)...)
	if b.Single() {
		return workload.ConfigReloader{Reloader: common, WatchedDirs: b.RuleDirs(rules), Env: workload.ReloaderEnv()}.Sidecar(b.Config)
	}
	return workload.RulesReloader{Reloader: common, VolumeDirs: b.RuleDirs(rules)}.Sidecar(b.Config)
}

// remoteWriteHash returns a hash of the remote-write file, empty without remote write.
func (b *builder) remoteWriteHash(file []byte) string {
	if len(b.spec.RemoteWrite) == 0 {
		return ""
	}
	return b.FileHash(file)
}
