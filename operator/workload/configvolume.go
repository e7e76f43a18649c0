package workload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// ConfigVolume returns the volume of the configuration Secret. A projected volume also
// has the Secrets of its parts, which are optional, so that a configuration can be split
// without new pods. Pods whose reloaders may not support parts, and those of the single
// layout, which reproduces a well-known pod exactly, have them only after they were
// needed (inParts).
func (b *Base) ConfigVolume(inParts bool) corev1.Volume {
	return corev1.Volume{Name: b.Kind.ConfigSecret.Volume, VolumeSource: b.configSource(inParts)}
}

func (b *Base) configSource(inParts bool) corev1.VolumeSource {
	if !inParts && !b.partsAhead() {
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: b.ConfigSecretName()}}
	}
	projected := &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{SecretProjection(b.ConfigSecretName(), nil)}}
	for i := range ConfigParts {
		part := SecretProjection(b.ConfigPartName(i+1), new(true))
		// A foreign Secret of this name must not add other configuration files.
		for _, key := range []string{parts.ConfigName(i + 1), parts.RulesName(i + 1)} {
			part.Secret.Items = append(part.Secret.Items, corev1.KeyToPath{Key: key, Path: key})
		}
		projected.Sources = append(projected.Sources, part)
	}
	return corev1.VolumeSource{Projected: projected}
}

// partsAhead reports whether pods mount the parts before any exist.
func (b *Base) partsAhead() bool { return b.Config.Layout != LayoutSingle && b.PartsFault() == "" }

// MemoryVolume returns an empty volume in memory, for files with credentials.
func MemoryVolume(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory},
	}}
}
