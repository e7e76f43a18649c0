package workload

import (
	"path"

	corev1 "k8s.io/api/core/v1"
)

// RuleVolumes returns volumes of rule ConfigMaps, existing or not, with the ConfigMaps' names.
func RuleVolumes(configMaps []string) []corev1.Volume {
	var out []corev1.Volume
	for _, cm := range configMaps {
		out = append(out, corev1.Volume{Name: cm, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: cm},
			Optional:             new(true),
		}}})
	}
	return out
}

// RuleMounts returns the mounts of [RuleVolumes], each in a separate directory.
func (b *Base) RuleMounts(configMaps []string) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, cm := range configMaps {
		out = append(out, corev1.VolumeMount{Name: cm, MountPath: path.Join(b.Kind.RulesDir, cm)})
	}
	return out
}

// ReadRuleMounts returns the mounts of [RuleVolumes] for the server, which only reads them.
func (b *Base) ReadRuleMounts(configMaps []string) []corev1.VolumeMount {
	out := b.RuleMounts(configMaps)
	for i := range out {
		out[i].ReadOnly = true
	}
	return out
}

// RuleDirs returns the directories of [Base.RuleMounts].
func (b *Base) RuleDirs(configMaps []string) []string {
	var out []string
	for _, m := range b.RuleMounts(configMaps) {
		out = append(out, m.MountPath)
	}
	return out
}
