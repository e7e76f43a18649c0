package workload

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// storageSubPath is the folder of the volume that holds the database.
const storageSubPath = "prometheus-db"

// claimsStorage reports whether the data volume comes from a claim template.
// emptyDir and ephemeral win over one.
func (o *Owner) claimsStorage() bool {
	s := o.common.Storage
	return s != nil && s.EmptyDir == nil && s.Ephemeral == nil
}

// ownData reports whether the pod has a data volume. In a DaemonSet it needs one
// because the root filesystem is read-only, unless the user brings it; the pod that
// the single layout repeats leaves it to the image.
func (o *Owner) ownData() bool {
	return !o.daemonSet || o.cfg.Layout != LayoutSingle && !slices.ContainsFunc(o.common.VolumeMounts, func(m corev1.VolumeMount) bool {
		return path.Clean(m.MountPath) == storageDir
	})
}

// dataVolumeName is the same in all shards.
func (o *Owner) dataVolumeName() string {
	if o.claimsStorage() && o.common.Storage.VolumeClaimTemplate.Metadata.Name != "" {
		return o.common.Storage.VolumeClaimTemplate.Metadata.Name
	}
	return o.PrefixedName() + "-db"
}

// dataMount is where the database is, in the containers that use it.
func (o *Owner) dataMount() corev1.VolumeMount {
	m := corev1.VolumeMount{Name: o.dataVolumeName(), MountPath: storageDir}
	if s := o.common.Storage; s != nil && !s.DisableMountSubPath {
		m.SubPath = storageSubPath
	}
	return m
}

// dataVolumes is the data volume, or nothing when a claim template makes it.
func (o *Owner) dataVolumes() []corev1.Volume {
	v := corev1.Volume{Name: o.dataVolumeName()}
	switch s := o.common.Storage; {
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

// claimTemplates is the claim template of a StatefulSet. It has no apiVersion
// and kind: the API server refuses updates of a StatefulSet whose templates
// differ in them.
func (o *Owner) claimTemplates() []corev1.PersistentVolumeClaim {
	if !o.claimsStorage() {
		return nil
	}
	template := o.common.Storage.VolumeClaimTemplate
	claim := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:        o.dataVolumeName(),
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
