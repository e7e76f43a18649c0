package promworkload

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	containerPrometheus = "prometheus"
	containerThanos     = "thanos-sidecar"

	defaultGraceSeconds = 600
)

// pod returns the pod template of one shard. match is the selector that it must match.
func (o *Owner) pod(in Inputs, match map[string]string) (corev1.PodTemplateSpec, error) {
	spec := workload.PodSpec(&o.common.WorkloadFields, defaultGraceSeconds)
	spec.ShareProcessNamespace = new(o.signalReload())
	spec.AutomountServiceAccountToken = new(o.common.AutomountServiceAccountToken == nil || *o.common.AutomountServiceAccountToken)
	spec.HostNetwork = o.common.HostNetwork
	if spec.HostNetwork && spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	spec.NodeSelector = o.nodeSelector(in.Shard)
	spec.TopologySpreadConstraints = spreadConstraints(o.common.TopologySpreadConstraints, match)

	var err error
	if spec.Volumes, err = o.volumes(in); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	containers, err := o.containers(in)
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	if spec.Containers, err = workload.MergeContainers("spec.containers", containers, o.common.Containers); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	init := []corev1.Container{o.configReloader(in).Init(o.Config)}
	if spec.InitContainers, err = workload.MergeContainers("spec.initContainers", init, o.common.InitContainers); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	return corev1.PodTemplateSpec{ObjectMeta: o.podMeta(match), Spec: spec}, nil
}

// containers returns the operator's containers, in order.
func (o *Owner) containers(in Inputs) ([]corev1.Container, error) {
	prometheus, err := o.prometheusContainer(in)
	if err != nil {
		return nil, err
	}
	out := []corev1.Container{prometheus, o.configReloader(in).Sidecar(o.Config)}
	if o.Config.Layout != workload.LayoutSingle && len(o.ruleConfigMaps(in)) > 0 {
		out = append(out, o.rulesReloader(in).Sidecar(o.Config))
	}
	if o.thanos() != nil {
		thanos, err := o.thanosContainer()
		if err != nil {
			return nil, err
		}
		out = append(out, thanos)
	}
	return out, nil
}

func (o *Owner) prometheusContainer(in Inputs) (corev1.Container, error) {
	image, err := o.image()
	if err != nil {
		return corev1.Container{}, fmt.Errorf("image of %s: %w", containerPrometheus, err)
	}
	c := workload.NewContainer(containerPrometheus, image, o.common.ImagePullPolicy)
	if c.Args, err = o.args(); err != nil {
		return corev1.Container{}, err
	}
	c.VolumeMounts = o.mounts(in)
	c.Ports = o.WebPorts()
	c.Resources = o.common.Resources
	if r := o.common.Runtime; o.server != nil && r != nil && r.GoGC != nil && withGoGCVariable.Has(o.version) {
		c.Env = []corev1.EnvVar{{Name: "GOGC", Value: strconv.Itoa(int(*r.GoGC))}}
	}
	o.addProbes(&c)
	return c, nil
}

func (o *Owner) image() (string, error) {
	i := workload.Image{Explicit: o.common.Image, Base: o.Config.PrometheusBaseImage, Version: "v" + o.version.String()}
	if s := o.server; s != nil {
		if s.BaseImage != "" {
			i.Base = s.BaseImage
		}
		i.Tag, i.SHA = s.Tag, s.SHA
	}
	return i.Path()
}

// configReloader returns the reloader that writes the configuration. In the single layout
// it also watches the rules. In the split layout it must not, since each change would be
// loaded twice.
func (o *Owner) configReloader(in Inputs) workload.ConfigReloader {
	r := workload.ConfigReloader{
		Listener:   o.listener(),
		Reload:     o.reload(),
		ConfigFile: configFile,
		OutputFile: configOutFile,
		Log:        o.Log(),
		Env:        o.reloaderEnv(in.Shard),
		PullPolicy: o.common.ImagePullPolicy,
		Mounts: []corev1.VolumeMount{
			{Name: configVolume, MountPath: configDir},
			{Name: configOutVolume, MountPath: configOutDir},
		},
	}
	r.Mounts = append(r.Mounts, o.reloaderWebMounts()...)
	if o.Config.Layout == workload.LayoutSingle {
		r.Mounts = append(r.Mounts, o.RuleMounts(o.ruleConfigMaps(in))...)
		r.WatchedDirs = o.RuleDirs(o.ruleConfigMaps(in))
	}
	return r
}

func (o *Owner) rulesReloader(in Inputs) workload.RulesReloader {
	return workload.RulesReloader{
		Listener:   o.listener(),
		Reload:     o.reload(),
		VolumeDirs: o.RuleDirs(o.ruleConfigMaps(in)),
		Log:        o.Log(),
		Mounts:     append(o.reloaderWebMounts(), o.RuleMounts(o.ruleConfigMaps(in))...),
		PullPolicy: o.common.ImagePullPolicy,
	}
}

func (o *Owner) reloaderWebMounts() []corev1.VolumeMount {
	if !o.reloadersServeWeb() {
		return nil
	}
	_, mounts := o.webConfig().Mounts()
	return mounts
}

func (o *Owner) signalReload() bool {
	return o.common.ReloadStrategy == v1.ProcessSignalReloadStrategyType
}

func (o *Owner) reload() workload.Reload {
	return workload.Reload{
		URL:            o.localURL(reloadPath),
		Signal:         o.signalReload(),
		RuntimeInfoURL: o.localURL(runtimeInfoPath),
	}
}

// listener returns the listener of the reloaders. With reloads by signal, listenLocal
// does not apply to them.
func (o *Owner) listener() workload.Listener {
	return o.webConfig().Listener(o.common.ListenLocal && !o.signalReload(), o.reloadersServeWeb())
}
