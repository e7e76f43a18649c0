package alertmanager

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Environment variables of the containers.
const (
	podIPVar   = "POD_IP"
	podNameVar = "POD_NAME"
)

// StatefulSet implements [engine.Pods].
func (b *builder) StatefulSet(in workload.PodInputs) (*appsv1.StatefulSet, error) {
	if err := b.Check(); err != nil {
		return nil, err
	}
	server, err := b.server()
	if err != nil {
		return nil, err
	}
	reloader := b.reloader()
	spec := b.PodSpec()
	spec.AutomountServiceAccountToken = b.spec.AutomountServiceAccountToken
	spec.TopologySpreadConstraints = b.spec.TopologySpreadConstraints
	spec.HostNetwork = b.spec.HostNetwork
	spec.Volumes = b.volumes(in)
	spec.Containers = []corev1.Container{server, reloader.Sidecar(b.Config)}
	spec.InitContainers = []corev1.Container{reloader.Init(b.Config)}
	match := workload.Overlay(b.SelectorLabels(), b.Config.Labels) // a changed label of the operator recreates the StatefulSet
	in.Files = b.clusterTLSHash()                                  // only of the pods: the input hash covers the spec
	sts, err := b.StatefulSetOf(b.PrefixedName(), match, in, b.PodMeta(match, in), spec)
	if err != nil {
		return nil, err
	}
	sts.Spec.PersistentVolumeClaimRetentionPolicy = b.spec.PersistentVolumeClaimRetentionPolicy.DeepCopy()
	return sts, nil
}

// clusterTLSHash returns a hash of the file of spec.clusterTLS, empty without the file.
func (b *builder) clusterTLSHash() string {
	if b.spec.ClusterTLS == nil || !withClusterTLS.Has(b.Version) {
		return ""
	}
	file, err := b.clusterTLS().File()
	if err != nil {
		return "" // Check reports the error
	}
	return b.FileHash(file)
}

// server returns the container of the server. A base image of the user takes precedence
// over that of the operator.
func (b *builder) server() (corev1.Container, error) {
	c, err := b.ServerContainer(workload.Image{
		Field: "spec", Explicit: b.spec.Image, Base: b.spec.BaseImage, Default: b.Config.AlertmanagerBaseImage, Version: b.VersionText(),
		Tag: b.spec.Tag, SHA: b.spec.SHA,
	}, b.args)
	if err != nil {
		return c, err
	}
	c.Env = []corev1.EnvVar{workload.FieldVar(podIPVar, "status.podIP")}
	if withPodName.Has(b.Version) {
		c.Env = append(c.Env, workload.FieldVar(podNameVar, "metadata.name"))
	}
	c.VolumeMounts = b.mounts()
	c.Ports = append(b.WebPorts(),
		corev1.ContainerPort{Name: meshTCPName, ContainerPort: meshPort, Protocol: corev1.ProtocolTCP},
		corev1.ContainerPort{Name: meshUDPName, ContainerPort: meshPort, Protocol: corev1.ProtocolUDP})
	b.addProbes(&c)
	return c, nil
}

// addProbes adds the probes to the server container. A server that listens only inside
// the pod has none, because its image may lack a program to send the request.
func (b *builder) addProbes(c *corev1.Container) {
	if b.spec.ListenLocal {
		return
	}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: b.HTTPProbe(livePath), TimeoutSeconds: 3, FailureThreshold: 10}
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler: b.HTTPProbe(readyPath), InitialDelaySeconds: 3, TimeoutSeconds: 3, PeriodSeconds: 5, FailureThreshold: 10,
	}
}

// reloader returns the reloader, which expands the configuration and watches all files
// that it can refer to.
func (b *builder) reloader() workload.ConfigReloader {
	_, web := b.WebVolumes()
	_, user := b.userMounts()
	files := append(b.templateMounts(), user...)
	watched := []string{configDir}
	for _, m := range files {
		watched = append(watched, m.MountPath)
	}
	return workload.ConfigReloader{
		Reloader: b.Reloader(slices.Concat([]corev1.VolumeMount{
			{Name: kind.ConfigSecret.Volume, MountPath: configDir, ReadOnly: true},
			{Name: configOutVolume, MountPath: configOutDir},
		}, files, web)...),
		ConfigFile: configFile, OutputFile: configOutFile, WatchedDirs: watched, Env: workload.ReloaderEnv(),
	}
}
