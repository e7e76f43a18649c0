package thanosruler

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	configDir         = "/etc/thanos/config" // with a folder per volume
	remoteWriteVolume = "remote-write-config"
)

// configFile is a file that the user stores in a Secret, or at a path, which takes
// precedence.
type configFile struct {
	volume string
	field  string // field of the Secret
	secret *corev1.SecretKeySelector
	file   string // empty if there is no such field
}

// configFiles returns all configuration files, in the order of their volumes.
func (b *builder) configFiles() []configFile {
	return []configFile{
		{"query-config", "spec.queryConfig", b.spec.QueryConfig, ""},
		{"alertmanager-config", "spec.alertmanagersConfig", b.spec.AlertmanagersConfig, ""},
		{"objstorage-config", "spec.objectStorageConfig", b.spec.ObjectStorageConfig, b.spec.ObjectStorageConfigFile},
		{"tracing-config", "spec.tracingConfig", b.spec.TracingConfig, b.spec.TracingConfigFile},
		{"alertrelabel-config", "spec.alertRelabelConfigs", b.spec.AlertRelabelConfigs, b.spec.AlertRelabelConfigFile},
	}
}

// mounted returns the Secret to mount, or nil if there is none or a path is used.
func (f configFile) mounted() *corev1.SecretKeySelector {
	if f.file != "" {
		return nil
	}
	return f.secret
}

// configPath returns the path of the file of a field inside the container, if it is
// configured.
func configPath(field string) func(*builder) (string, bool) {
	return func(b *builder) (string, bool) {
		for _, f := range b.configFiles() {
			switch {
			case f.field != field:
			case f.mounted() != nil:
				return path.Join(configDir, f.volume, f.secret.Key), true
			default:
				return f.file, f.file != ""
			}
		}
		return "", false
	}
}

// configVolumes returns the volumes of all configuration files and their mounts.
func (b *builder) configVolumes() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	add := func(volume, secret, key string) {
		volumes = append(volumes, workload.KeyVolume(volume, secret, key))
		mounts = append(mounts, corev1.VolumeMount{Name: volume, MountPath: path.Join(configDir, volume), ReadOnly: true})
	}
	add(remoteWriteVolume, b.ConfigSecretName(), remoteWriteKey)
	for _, f := range b.configFiles() {
		if s := f.mounted(); s != nil {
			add(f.volume, s.Name, s.Key)
		}
	}
	return volumes, mounts
}
