package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// PodInputs are the inputs of a pod besides its workload.
type PodInputs struct {
	// Shard is the number of the shard, from 0, for a kind with shards. A DaemonSet has only
	// shard 0.
	Shard int32
	// RuleConfigMaps are the names of the rule ConfigMaps that the pod mounts.
	RuleConfigMaps []string
	// TLSSecrets is the number of TLS asset Secrets, at least one.
	TLSSecrets int
	// ConfigInParts is true if the pod must mount the configuration in parts. In the split
	// layout it always does if its reloaders support parts.
	ConfigInParts bool
	// Files is the [Base.FileHash] of files that the server only reads at startup.
	Files string
	// Hash is the result of [Base.InputHash]. If empty, the annotation is omitted.
	Hash string
}

// ServerContainer returns the container of the server with the settings that all kinds share.
//
// Errors: those of image and args.
func (b *Base) ServerContainer(image Image, args func() ([]string, error)) (corev1.Container, error) {
	path, err := image.Path()
	if err != nil {
		return corev1.Container{}, err
	}
	c := NewContainer(b.Kind.Container, path, b.Fields.ImagePullPolicy)
	if c.Args, err = args(); err != nil {
		return corev1.Container{}, err
	}
	c.Resources = b.Fields.Resources
	if !b.Kind.Memory.IsZero() {
		c.Resources = withMemory(b.Fields.Resources, b.Kind.Memory)
	}
	return c, nil
}

// PodMeta returns the metadata of the pod template. match are the labels of its selector.
func (b *Base) PodMeta(match map[string]string, in PodInputs) metav1.ObjectMeta {
	out := metav1.ObjectMeta{
		Labels:      map[string]string{wellknown.LabelAppVersion: b.Version.String()},
		Annotations: map[string]string{},
	}
	if pm := b.Fields.PodMetadata; pm != nil {
		out.Labels, out.Annotations = Overlay(out.Labels, pm.Labels), Overlay(pm.Annotations)
	}
	out.Labels = Overlay(out.Labels, match)
	out.Annotations[wellknown.AnnotationDefaultContainer] = b.Kind.Container
	if in.Files != "" {
		out.Annotations[b.Kind.FilesAnnotation] = in.Files
	}
	return out
}

// PodTemplate completes a pod with the volumes and containers of the user.
//
// Errors: two volumes have the same name; a container patch does not merge.
func (b *Base) PodTemplate(meta metav1.ObjectMeta, spec corev1.PodSpec) (corev1.PodTemplateSpec, error) {
	if spec.HostNetwork && spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	}
	if err := checkVolumeNames(spec.Volumes, b.Fields.Volumes); err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	spec.Volumes = append(spec.Volumes, b.Fields.Volumes...)
	for _, list := range []struct {
		field string
		ours  *[]corev1.Container
		user  []corev1.Container
	}{
		{"spec.containers", &spec.Containers, b.Fields.Containers},
		{"spec.initContainers", &spec.InitContainers, b.Fields.InitContainers},
	} {
		merged, err := mergeContainers(list.field, *list.ours, list.user)
		if err != nil {
			return corev1.PodTemplateSpec{}, err
		}
		*list.ours = merged
	}
	return corev1.PodTemplateSpec{ObjectMeta: meta, Spec: spec}, nil
}

// StatefulSetOf returns the StatefulSet name for a pod that in describes, after
// [Base.CheckNames]. It shares no memory with the workload or other StatefulSets.
//
// Errors: those of [Base.CheckNames] and [Base.PodTemplate]; the claim template has the name
// of a volume of ours.
func (b *Base) StatefulSetOf(name string, match map[string]string, in PodInputs, meta metav1.ObjectMeta, spec corev1.PodSpec) (*appsv1.StatefulSet, error) {
	if err := b.CheckNames(meta.Labels[wellknown.LabelAppVersion], name, in.RuleConfigMaps); err != nil {
		return nil, err
	}
	if err := b.checkClaimName(spec.Volumes); err != nil {
		return nil, err
	}
	pod, err := b.PodTemplate(meta, spec)
	if err != nil {
		return nil, err
	}
	return b.newStatefulSet(name, match, in.Hash, pod).DeepCopy(), nil
}
