package workload

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// SecretFile is a file of the server that the user stores in a Secret, or at a path in the
// container, which takes precedence.
type SecretFile struct {
	Volume string
	Field  string // of the object, for the Secret
	Secret *corev1.SecretKeySelector
	Path   string // empty if the object has no such field
}

// mounted returns the Secret to mount, or nil if there is none or a path is used.
func (f SecretFile) mounted() *corev1.SecretKeySelector {
	if f.Path != "" {
		return nil
	}
	return f.Secret
}

// SecretFiles are the files of a server, each in a folder of Dir with the name of its volume.
type SecretFiles struct {
	Dir   string
	Files []SecretFile
}

// PathOf returns the path of a file in the container, if it is configured.
func (s SecretFiles) PathOf(volume string) (string, bool) {
	for _, f := range s.Files {
		switch {
		case f.Volume != volume:
		case f.mounted() != nil:
			return path.Join(s.Dir, f.Volume, f.Secret.Key), true
		default:
			return f.Path, f.Path != ""
		}
	}
	return "", false
}

// Check rejects references without a name or a key, which volumes require.
func (s SecretFiles) Check() error {
	for _, f := range s.Files {
		if err := KeyToMount(f.mounted()); err != nil {
			return faults.At(f.Field, err)
		}
	}
	return nil
}

// Volumes returns the volumes of the Secrets and their mounts. Folders are mounted, so that
// new values reach running pods.
func (s SecretFiles) Volumes() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	for _, f := range s.Files {
		ref := f.mounted()
		if ref == nil {
			continue
		}
		volumes = append(volumes, corev1.Volume{Name: f.Volume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: ref.Name, Items: []corev1.KeyToPath{{Key: ref.Key, Path: ref.Key}},
		}}})
		mounts = append(mounts, corev1.VolumeMount{Name: f.Volume, MountPath: path.Join(s.Dir, f.Volume), ReadOnly: true})
	}
	return volumes, mounts
}
