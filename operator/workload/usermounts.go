package workload

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
)

// UserMount is a Secret or ConfigMap that the user mounts in the pod.
type UserMount struct {
	Field  string // for example "spec.secrets[0]"
	Secret bool   // false: a ConfigMap
	Name   string
	Dir    string
}

// UserMounts returns the mounts of spec.secrets and spec.configMaps, each in a directory
// with the object's name below secrets and configmaps in dir.
func UserMounts(dir string, secrets, configMaps []string) []UserMount {
	var out []UserMount
	for i, name := range secrets {
		out = append(out, UserMount{fmt.Sprintf("spec.secrets[%d]", i), true, name, path.Join(dir, "secrets", name)})
	}
	for i, name := range configMaps {
		out = append(out, UserMount{fmt.Sprintf("spec.configMaps[%d]", i), false, name, path.Join(dir, "configmaps", name)})
	}
	return out
}

// MountUsers returns the volumes and read-only mounts for a pod.
func MountUsers(all []UserMount) (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	for _, m := range all {
		v := corev1.Volume{Name: VolumeName("configmap-", m.Name)}
		if m.Secret {
			v.Name = VolumeName("secret-", m.Name)
			v.Secret = &corev1.SecretVolumeSource{SecretName: m.Name}
		} else {
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: m.Name}}
		}
		volumes = append(volumes, v)
		mounts = append(mounts, corev1.VolumeMount{Name: v.Name, MountPath: m.Dir, ReadOnly: true})
	}
	return volumes, mounts
}
