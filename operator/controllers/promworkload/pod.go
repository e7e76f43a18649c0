package promworkload

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const graceSeconds = 600

// pod returns the pod of one shard, without the user's volumes and containers. match is the
// selector that it must match.
func (b *Builder) pod(in workload.PodInputs, match map[string]string) (corev1.PodSpec, error) {
	spec := b.PodSpec()
	spec.ShareProcessNamespace = new(b.signalReload())
	spec.AutomountServiceAccountToken = new(b.common.AutomountServiceAccountToken == nil || *b.common.AutomountServiceAccountToken)
	spec.HostNetwork = b.common.HostNetwork
	spec.NodeSelector = b.nodeSelector(in.Shard)
	spec.TopologySpreadConstraints = spreadConstraints(b.common.TopologySpreadConstraints, match)
	spec.Volumes = b.volumes(in)
	spec.InitContainers = []corev1.Container{b.configReloader(in).Init(b.Config)}
	var err error
	spec.Containers, err = b.containers(in)
	return spec, err
}

// containers returns the operator's containers, in order.
func (b *Builder) containers(in workload.PodInputs) ([]corev1.Container, error) {
	prometheus, err := b.prometheusContainer(in)
	if err != nil {
		return nil, err
	}
	reloader := b.configReloader(in)
	if b.CentralDiscovery() {
		b.receiveTargets(&reloader)
	}
	out := []corev1.Container{prometheus, reloader.Sidecar(b.Config)}
	if b.Config.Layout != workload.LayoutSingle && len(b.ruleConfigMaps(in)) > 0 {
		out = append(out, b.rulesReloader(in).Sidecar(b.Config))
	}
	if b.thanos() != nil {
		thanos, err := b.thanosContainer()
		if err != nil {
			return nil, err
		}
		out = append(out, thanos)
	}
	return out, nil
}

func (b *Builder) prometheusContainer(in workload.PodInputs) (corev1.Container, error) {
	c, err := b.ServerContainer(b.image(), b.args)
	if err != nil {
		return c, err
	}
	c.VolumeMounts = b.mounts(in)
	c.Ports = b.WebPorts()
	if r := b.common.Runtime; b.server != nil && r != nil && r.GoGC != nil && withGoGCVariable.Has(b.Version) {
		c.Env = []corev1.EnvVar{{Name: "GOGC", Value: strconv.Itoa(int(*r.GoGC))}}
	}
	b.addProbes(&c)
	return c, nil
}

func (b *Builder) image() workload.Image {
	i := workload.Image{Field: "spec", Explicit: b.common.Image, Default: b.Config.PrometheusBaseImage, Version: "v" + b.Version.String()}
	if s := b.server; s != nil {
		i.Base, i.Tag, i.SHA = s.BaseImage, s.Tag, s.SHA
	}
	return i
}

// configReloader returns the reloader that writes the configuration. In the single layout
// it also watches the rules. In the split layout it must not, since each change would be
// loaded twice.
func (b *Builder) configReloader(in workload.PodInputs) workload.ConfigReloader {
	mounts := []corev1.VolumeMount{
		{Name: configVolume, MountPath: configDir},
		{Name: configOutVolume, MountPath: configOutDir},
	}
	r := workload.ConfigReloader{
		Reloader:   b.reloader(append(mounts, b.reloaderWebMounts()...)),
		ConfigFile: configFile,
		OutputFile: configOutFile,
		Env:        b.reloaderEnv(in.Shard),
	}
	if b.Config.Layout == workload.LayoutSingle {
		r.Mounts = append(r.Mounts, b.RuleMounts(b.ruleConfigMaps(in))...)
		r.WatchedDirs = b.RuleDirs(b.ruleConfigMaps(in))
	}
	return r
}

func (b *Builder) rulesReloader(in workload.PodInputs) workload.RulesReloader {
	return workload.RulesReloader{
		Reloader:   b.reloader(append(b.reloaderWebMounts(), b.RuleMounts(b.ruleConfigMaps(in))...)),
		VolumeDirs: b.RuleDirs(b.ruleConfigMaps(in)),
	}
}

func (b *Builder) reloaderWebMounts() []corev1.VolumeMount {
	if !b.reloadersServeWeb() {
		return nil
	}
	_, mounts := b.WebConfig().Mounts()
	return mounts
}

func (b *Builder) signalReload() bool {
	return b.common.ReloadStrategy == v1.ProcessSignalReloadStrategyType
}

// reloader returns the settings that both reloaders share. With reloads by signal,
// listenLocal does not apply to them.
func (b *Builder) reloader(mounts []corev1.VolumeMount) workload.Reloader {
	r := b.Reloader(mounts...)
	r.Listener = b.WebConfig().Listener(b.common.ListenLocal && !b.signalReload(), b.reloadersServeWeb())
	r.Reload.Signal, r.Reload.RuntimeInfoURL = b.signalReload(), b.localURL(runtimeInfoPath)
	return r
}
