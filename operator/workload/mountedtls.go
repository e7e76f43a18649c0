package workload

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// mountedTLS holds the key, certificate and CA that one side of a TLS connection reads
// from mounted Secrets and ConfigMaps; nil means that there is no reference.
type mountedTLS struct{ key, cert, ca *mountedFile }

// mountedFile is a file from a Secret or ConfigMap. The complete object is mounted, so
// that running pods get a renewed certificate.
type mountedFile struct {
	dir, name string
	volume    corev1.Volume
}

// path returns the path in the containers, empty for nil.
func (f *mountedFile) path() string {
	if f == nil {
		return ""
	}
	return path.Join(f.dir, f.name)
}

// mountTLS mounts the references in subdirectories of dir. volume is the prefix of the volume names.
func mountTLS(volume, dir string, key, cert, ca v1.SecretOrConfigMap) mountedTLS {
	return mountedTLS{
		key:  mountFile(key, volume, "key", dir, "key"),
		cert: mountFile(cert, volume, "cert", dir, "cert"),
		ca:   mountFile(ca, volume, "client-ca", dir, "ca"),
	}
}

func mountFile(ref v1.SecretOrConfigMap, volume, part, dir, suffix string) *mountedFile {
	if !refers(ref) {
		return nil
	}
	f := &mountedFile{}
	var kind, name string
	if s := ref.Secret; s != nil {
		kind, name, f.name = "secret", s.Name, s.Key
		f.volume.Secret = &corev1.SecretVolumeSource{SecretName: name}
	} else {
		c := ref.ConfigMap
		kind, name, f.name = "configmap", c.Name, c.Key
		f.volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
	}
	f.volume.Name = uniqueVolumeName(volume+kind+"-"+part+"-", name)
	f.dir = path.Join(dir, kind, name+"-"+suffix)
	return f
}

// mounts returns the volumes of the pod and the mounts of each container that reads the
// files: key, certificate and CA.
func (m mountedTLS) mounts() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	for _, f := range []*mountedFile{m.key, m.cert, m.ca} {
		if f == nil {
			continue
		}
		volumes = append(volumes, f.volume)
		mounts = append(mounts, corev1.VolumeMount{Name: f.volume.Name, MountPath: f.dir, ReadOnly: true})
	}
	return volumes, mounts
}

func refers(ref v1.SecretOrConfigMap) bool { return ref.Secret != nil || ref.ConfigMap != nil }

// secretRef converts a key, which can only be in a Secret, to the type of the other
// references. Without a name, the result is empty.
func secretRef(s *corev1.SecretKeySelector) v1.SecretOrConfigMap {
	if s == nil || s.Name == "" {
		return v1.SecretOrConfigMap{}
	}
	return v1.SecretOrConfigMap{Secret: s}
}
