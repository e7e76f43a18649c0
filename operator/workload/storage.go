package workload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// claimsStorage reports whether the data volume comes from a claim template. emptyDir and
// ephemeral take precedence.
func (b *Base) claimsStorage() bool {
	s := b.Fields.Storage
	return s != nil && s.EmptyDir == nil && s.Ephemeral == nil
}

// dataVolumeName returns the name of the data volume, which is the same in all shards.
func (b *Base) dataVolumeName() string {
	if b.claimsStorage() && b.Fields.Storage.VolumeClaimTemplate.Metadata.Name != "" {
		return b.Fields.Storage.VolumeClaimTemplate.Metadata.Name
	}
	return b.PrefixedName() + b.Kind.Data.Suffix
}

// DataMount returns the mount of the data volume.
func (b *Base) DataMount() corev1.VolumeMount {
	m := corev1.VolumeMount{Name: b.dataVolumeName(), MountPath: b.Kind.Data.Dir}
	if s := b.Fields.Storage; s != nil && !s.DisableMountSubPath {
		m.SubPath = b.Kind.Data.SubPath
	}
	return m
}

// DataVolumes returns the data volume, nil if a claim template defines it.
func (b *Base) DataVolumes() []corev1.Volume {
	v := corev1.Volume{Name: b.dataVolumeName()}
	switch s := b.Fields.Storage; {
	case s == nil:
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case s.EmptyDir != nil:
		v.EmptyDir = s.EmptyDir
	case s.Ephemeral != nil:
		v.Ephemeral = s.Ephemeral
	default:
		return nil
	}
	return []corev1.Volume{v}
}

// checkClaimName rejects a claim template with the name of one of our volumes, which the
// StatefulSet controller would replace by the claim. A volume of the user may be replaced.
func (b *Base) checkClaimName(ours []corev1.Volume) error {
	name := b.dataVolumeName()
	if !b.claimsStorage() || !slices.ContainsFunc(ours, func(v corev1.Volume) bool { return v.Name == name }) {
		return nil
	}
	return faults.At("spec.storage.volumeClaimTemplate.metadata.name", fmt.Errorf("%q %s", name, ownVolume))
}

// claimTemplates returns the claim template of a StatefulSet. It has no apiVersion and
// kind, because the API server rejects updates of a StatefulSet that change them.
func (b *Base) claimTemplates() []corev1.PersistentVolumeClaim {
	if !b.claimsStorage() {
		return nil
	}
	template := b.Fields.Storage.VolumeClaimTemplate
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:        b.dataVolumeName(),
			Labels:      template.Metadata.Labels,
			Annotations: template.Metadata.Annotations,
		},
		Spec:   template.Spec,
		Status: template.Status,
	}
	if claim.Spec.AccessModes == nil {
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	return []corev1.PersistentVolumeClaim{claim}
}
