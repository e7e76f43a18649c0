package workload

import (
	"cmp"
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// UserMount is a Secret or ConfigMap that the user mounts in the pod.
type UserMount struct {
	Field  string // for example "spec.secrets[0]"
	Secret bool   // false: a ConfigMap
	Name   string
	Dir    string
}

// CheckUserMounts rejects too long lists in spec.secrets and spec.configMaps.
func CheckUserMounts(kind string, secrets, configMaps []string) error {
	return cmp.Or(budget.Elements(kind, "spec.secrets", len(secrets), budget.Mounts), budget.Elements(kind, "spec.configMaps", len(configMaps), budget.Mounts))
}

// UserMounts returns the mounts of spec.secrets and spec.configMaps, each in a directory
// with the object's name below secrets and configmaps in dir. It leaves out those that
// [CheckUserMounts] rejects.
func UserMounts(dir string, secrets, configMaps []string) []UserMount {
	var out []UserMount
	secrets, configMaps = secrets[:min(len(secrets), budget.Mounts)], configMaps[:min(len(configMaps), budget.Mounts)]
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
		v := corev1.Volume{Name: volumeName("configmap-", m.Name)}
		if m.Secret {
			v.Name = volumeName("secret-", m.Name)
			v.Secret = &corev1.SecretVolumeSource{SecretName: m.Name}
		} else {
			v.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: m.Name}}
		}
		volumes = append(volumes, v)
		mounts = append(mounts, corev1.VolumeMount{Name: v.Name, MountPath: m.Dir, ReadOnly: true})
	}
	return volumes, mounts
}
