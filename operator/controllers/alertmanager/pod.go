package alertmanager

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const defaultGraceSeconds = 120

// Environment variables of the containers.
const (
	podIPVar   = "POD_IP"
	podNameVar = "POD_NAME"
)

// defaultMemory is the default memory request.
var defaultMemory = resource.MustParse("200Mi")

// matchLabels returns spec.selector.matchLabels. It includes the operator's labels, so
// changing them recreates the StatefulSet.
func (o *Owner) matchLabels() map[string]string {
	return workload.Overlay(o.SelectorLabels(), o.Config.Labels)
}

// podMeta returns the metadata of the pod template.
func (o *Owner) podMeta(match map[string]string) metav1.ObjectMeta {
	labels, annotations := map[string]string{wellknown.LabelAppVersion: o.version.String()}, map[string]string{}
	if pm := o.spec.PodMetadata; pm != nil {
		maps.Copy(labels, pm.Labels)
		maps.Copy(annotations, pm.Annotations)
	}
	annotations[wellknown.AnnotationDefaultContainer] = Container
	if hash := o.clusterTLSHash(); hash != "" {
		annotations[wellknown.AnnotationClusterTLS] = hash
	}
	return metav1.ObjectMeta{Labels: workload.Overlay(labels, match), Annotations: annotations}
}

// clusterTLSHash returns a hash of the file of spec.clusterTLS. The server reads the file
// only at startup, so a change must replace the pods. It is empty without the file, and
// in the single layout, which reproduces the pod of the reference exactly.
func (o *Owner) clusterTLSHash() string {
	if o.spec.ClusterTLS == nil || !withClusterTLS.Has(o.version) || o.single() {
		return ""
	}
	file, err := o.clusterTLS().File()
	if err != nil {
		return "" // Check reports the error
	}
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:10])
}

// pod returns the pod template.
func (o *Owner) pod(in Inputs, meta metav1.ObjectMeta) (corev1.PodTemplateSpec, error) {
	spec := workload.PodSpec(o.Fields, defaultGraceSeconds)
	spec.AutomountServiceAccountToken = o.spec.AutomountServiceAccountToken
	spec.TopologySpreadConstraints = o.spec.TopologySpreadConstraints
	spec.HostNetwork = o.spec.HostNetwork
	if spec.HostNetwork && spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	var err error
	if spec.Volumes, err = o.volumes(in); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	server, err := o.serverContainer()
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	reloader := o.configReloader()
	ours := []corev1.Container{server, reloader.Sidecar(o.Config)}
	if spec.Containers, err = workload.MergeContainers("spec.containers", ours, o.spec.Containers); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	init := []corev1.Container{reloader.Init(o.Config)}
	if spec.InitContainers, err = workload.MergeContainers("spec.initContainers", init, o.spec.InitContainers); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	return corev1.PodTemplateSpec{ObjectMeta: meta, Spec: spec}, nil
}

func (o *Owner) serverContainer() (corev1.Container, error) {
	image, err := o.image().Path()
	if err != nil {
		return corev1.Container{}, fmt.Errorf("image of %s: %w", Container, err)
	}
	c := workload.NewContainer(Container, image, o.spec.ImagePullPolicy)
	if c.Args, err = o.args(); err != nil {
		return corev1.Container{}, err
	}
	c.Env = []corev1.EnvVar{workload.FieldVar(podIPVar, "status.podIP")}
	if withPodName.Has(o.version) {
		c.Env = append(c.Env, workload.FieldVar(podNameVar, "metadata.name"))
	}
	c.VolumeMounts = o.mounts()
	c.Ports = append(o.WebPorts(),
		corev1.ContainerPort{Name: meshTCPName, ContainerPort: meshPort, Protocol: corev1.ProtocolTCP},
		corev1.ContainerPort{Name: meshUDPName, ContainerPort: meshPort, Protocol: corev1.ProtocolUDP})
	c.Resources = workload.WithMemory(o.spec.Resources, defaultMemory)
	o.addProbes(&c)
	return c, nil
}

// image returns the image of the server. A base image of the user takes precedence over
// that of the operator.
func (o *Owner) image() workload.Image {
	i := workload.Image{
		Explicit: o.spec.Image, Base: o.Config.AlertmanagerBaseImage, Version: o.versionText(), Tag: o.spec.Tag, SHA: o.spec.SHA,
	}
	if o.spec.BaseImage != "" {
		i.Base = o.spec.BaseImage
	}
	return i
}

// addProbes adds the probes to the server container. A server that listens only inside
// the pod has none, because its image may lack a program to send the request.
func (o *Owner) addProbes(c *corev1.Container) {
	if o.spec.ListenLocal {
		return
	}
	handler := func(path string) corev1.ProbeHandler {
		get := &corev1.HTTPGetAction{Path: workload.URLPath(o.Endpoint(path)), Port: intstr.FromString(o.PortName())}
		if o.Scheme() == "https" {
			get.Scheme = corev1.URISchemeHTTPS
		}
		return corev1.ProbeHandler{HTTPGet: get}
	}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: handler(livePath), TimeoutSeconds: 3, FailureThreshold: 10}
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler: handler(readyPath), InitialDelaySeconds: 3, TimeoutSeconds: 3, PeriodSeconds: 5, FailureThreshold: 10,
	}
}

// configReloader returns the reloader, which expands the configuration and watches all
// files that it can refer to. It has no shard.
func (o *Owner) configReloader() workload.ConfigReloader {
	web := o.webMounts()
	_, user := o.userMounts()
	return workload.ConfigReloader{
		Listener:    o.listener(),
		Reload:      workload.Reload{URL: o.LocalURL(o.Scheme(), reloadPath)},
		ConfigFile:  configFile,
		OutputFile:  configOutFile,
		WatchedDirs: o.watchedDirs(),
		Log:         o.Log(),
		Env:         []corev1.EnvVar{workload.FieldVar(podNameVar, "metadata.name"), {Name: "SHARD", Value: "-1"}},
		PullPolicy:  o.spec.ImagePullPolicy,
		Mounts: slices.Concat([]corev1.VolumeMount{
			{Name: kind.ConfigSecret.Volume, MountPath: configDir, ReadOnly: true},
			{Name: configOutVolume, MountPath: configOutDir},
		}, o.templateMounts(), user, web),
	}
}

// watchedDirs returns the directories whose files cause a reload of the server.
func (o *Owner) watchedDirs() []string {
	out := []string{configDir}
	_, user := o.userMounts()
	for _, m := range slices.Concat(o.templateMounts(), user) {
		out = append(out, m.MountPath)
	}
	return out
}

// listener returns the listener of the reloader, which is configured like that of the
// server.
func (o *Owner) listener() workload.Listener {
	web := o.webConfig()
	return web.Listener(o.spec.ListenLocal, web.Read)
}
