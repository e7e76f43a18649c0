package thanosruler

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const defaultGraceSeconds = 120

// defaultMemory is the default memory request.
var defaultMemory = resource.MustParse("200Mi")

// matchLabels returns spec.selector.matchLabels. It includes pod labels from the user and
// from the operator's flags, so changing them recreates the StatefulSet.
func (o *Owner) matchLabels() map[string]string {
	var users map[string]string
	if pm := o.spec.PodMetadata; pm != nil {
		users = pm.Labels
	}
	return workload.Overlay(users, o.Config.Labels, o.SelectorLabels())
}

// podMeta returns the metadata of the pod template.
func (o *Owner) podMeta(match map[string]string, in Inputs) metav1.ObjectMeta {
	annotations := map[string]string{}
	if pm := o.spec.PodMetadata; pm != nil {
		maps.Copy(annotations, pm.Annotations)
	}
	annotations[wellknown.AnnotationDefaultContainer] = Container
	if hash := o.remoteWriteHash(in); hash != "" {
		annotations[wellknown.AnnotationRemoteWrite] = hash
	}
	version := map[string]string{wellknown.LabelAppVersion: o.version.String()}
	return metav1.ObjectMeta{Labels: workload.Overlay(version, match), Annotations: annotations}
}

// remoteWriteHash returns a hash of the remote-write file. The server reads the file only
// at startup, so a change must replace the pods. It is empty without remote write, and in
// the single layout, which reproduces the pod of the reference exactly.
func (o *Owner) remoteWriteHash(in Inputs) string {
	if len(o.spec.RemoteWrite) == 0 || o.single() {
		return ""
	}
	sum := sha256.Sum256(in.RemoteWrite)
	return hex.EncodeToString(sum[:10])
}

// pod returns the pod template.
func (o *Owner) pod(in Inputs, meta metav1.ObjectMeta) (corev1.PodTemplateSpec, error) {
	spec := workload.PodSpec(o.Fields, defaultGraceSeconds)
	spec.TopologySpreadConstraints = o.spec.TopologySpreadConstraints
	var err error
	if spec.Volumes, err = o.volumes(in); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	ours, err := o.containers(in)
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	if spec.Containers, err = workload.MergeContainers("spec.containers", ours, o.spec.Containers); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	spec.InitContainers = o.spec.InitContainers
	return corev1.PodTemplateSpec{ObjectMeta: meta, Spec: spec}, nil
}

// containers returns the operator's containers, in order. The split layout has no
// config-reloader, since there is no configuration to expand. The single layout uses it
// for the rules.
func (o *Owner) containers(in Inputs) ([]corev1.Container, error) {
	server, err := o.serverContainer(in)
	if err != nil {
		return nil, err
	}
	names := o.ruleConfigMaps(in)
	switch {
	case len(names) == 0:
		return []corev1.Container{server}, nil
	case o.single():
		return []corev1.Container{server, o.configReloader(names).Sidecar(o.Config)}, nil
	}
	return []corev1.Container{server, o.rulesReloader(names).Sidecar(o.Config)}, nil
}

func (o *Owner) serverContainer(in Inputs) (corev1.Container, error) {
	image, err := workload.Image{Explicit: o.spec.Image, Base: o.Config.ThanosBaseImage, Version: o.versionText()}.Path()
	if err != nil {
		return corev1.Container{}, fmt.Errorf("image of %s: %w", Container, err)
	}
	c := workload.NewContainer(Container, image, o.spec.ImagePullPolicy)
	if c.Args, err = o.args(); err != nil {
		return corev1.Container{}, err
	}
	c.Env = []corev1.EnvVar{workload.FieldVar("POD_NAME", "metadata.name")}
	c.VolumeMounts = o.mounts(in)
	c.Ports = append([]corev1.ContainerPort{{Name: grpcPortName, ContainerPort: grpcPort, Protocol: corev1.ProtocolTCP}}, o.WebPorts()...)
	c.Resources = workload.WithMemory(o.spec.Resources, defaultMemory)
	return c, nil
}

// configReloader returns the reloader that watches the rules in the single layout. It has
// no shard.
func (o *Owner) configReloader(names []string) workload.ConfigReloader {
	return workload.ConfigReloader{
		Listener:    o.listener(),
		Reload:      o.reload(),
		WatchedDirs: o.RuleDirs(names),
		Log:         o.Log(),
		Env:         []corev1.EnvVar{workload.FieldVar("POD_NAME", "metadata.name"), {Name: "SHARD", Value: "-1"}},
		Mounts:      o.reloaderMounts(names),
		PullPolicy:  o.spec.ImagePullPolicy,
	}
}

func (o *Owner) rulesReloader(names []string) workload.RulesReloader {
	return workload.RulesReloader{
		Listener:   o.listener(),
		Reload:     o.reload(),
		VolumeDirs: o.RuleDirs(names),
		Log:        o.Log(),
		Mounts:     o.reloaderMounts(names),
		PullPolicy: o.spec.ImagePullPolicy,
	}
}

func (o *Owner) reloaderMounts(names []string) []corev1.VolumeMount {
	_, web := o.webVolumes()
	return slices.Concat(o.RuleMounts(names), web)
}

func (o *Owner) reload() workload.Reload {
	return workload.Reload{URL: o.LocalURL(o.Scheme(), reloadPath)}
}

// listener returns the listener of the reloaders, which is configured like that of the
// server.
func (o *Owner) listener() workload.Listener {
	web := o.webConfig()
	return web.Listener(o.spec.ListenLocal, web.Read)
}
