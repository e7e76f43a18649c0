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

// defaultMemory is requested unless the user says how much.
var defaultMemory = resource.MustParse("200Mi")

// matchLabels is spec.selector.matchLabels. Labels that the user or the operator's
// flags put on pods are part of it: changing them recreates the StatefulSet.
func (o *Owner) matchLabels() map[string]string {
	var users map[string]string
	if pm := o.spec.PodMetadata; pm != nil {
		users = pm.Labels
	}
	return workload.Overlay(users, o.Config.Labels, o.SelectorLabels())
}

// podMeta is the metadata of the pod template.
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

// remoteWriteHash stands for the file of remote write, which the server reads only when
// it starts: with another one the pods are replaced. Empty where there is none, and in
// the single layout, which repeats a well-known pod exactly.
func (o *Owner) remoteWriteHash(in Inputs) string {
	if len(o.spec.RemoteWrite) == 0 || o.single() {
		return ""
	}
	sum := sha256.Sum256(in.RemoteWrite)
	return hex.EncodeToString(sum[:10])
}

// pod is the pod template.
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

// containers are our containers, in order. There is no configuration to expand, so
// the split layout has no config-reloader; the single layout has it for the rules.
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

// configReloader follows the rules in the single layout. It knows no shard.
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

// listener of the reloaders, which serve like the server.
func (o *Owner) listener() workload.Listener {
	web := o.webConfig()
	return web.Listener(o.spec.ListenLocal, web.Read)
}
