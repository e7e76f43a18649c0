package promworkload

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Files and folders inside the containers.
const (
	storageDir    = "/prometheus"
	configDir     = "/etc/prometheus/config"
	configFile    = configDir + "/" + ConfigKey
	configOutDir  = "/etc/prometheus/config_out"
	configOutFile = configOutDir + "/prometheus.env.yaml"
	tlsAssetsDir  = "/etc/prometheus/certs"
	logDir        = "/var/log/prometheus"
)

const (
	configVolume       = "config"
	configOutVolume    = "config-out"
	logVolume          = "log-file"
	thanosClientVolume = "thanos-prometheus-http-client-file"
)

// UserMounts returns the mounts of spec.secrets and spec.configMaps.
func (b *Builder) UserMounts() []workload.UserMount {
	return workload.UserMounts("/etc/prometheus", b.common.Secrets, b.common.ConfigMaps)
}

// userMounts returns the volumes and mounts of the user's Secrets and ConfigMaps.
func (b *Builder) userMounts() ([]corev1.Volume, []corev1.VolumeMount) {
	return workload.MountUsers(b.UserMounts())
}

// volumes returns the volumes of the pod, in order.
func (b *Builder) volumes(in workload.PodInputs) []corev1.Volume {
	out := []corev1.Volume{b.ConfigVolume(in.ConfigInParts), b.TLSAssets(in.TLSSecrets), workload.MemoryVolume(configOutVolume)}
	user, _ := b.userMounts()
	out = append(out, user...)
	if b.scrapeFailureLogMounted() || b.queryLogMounted() {
		out = append(out, corev1.Volume{Name: logVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	out = append(out, workload.RuleVolumes(b.ruleConfigMaps(in))...)
	web, _ := b.WebVolumes()
	out = append(out, web...)
	if b.thanosClientFile() {
		out = append(out, corev1.Volume{Name: thanosClientVolume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: b.thanosHTTPClientSecretName()}}})
	}
	if b.ownData() {
		out = append(out, b.DataVolumes()...)
	}
	if b.CentralDiscovery() {
		out = append(out, b.discoveryVolumeOf())
	}
	return out
}

// ownData reports whether the pod has a data volume. A DaemonSet needs one, because the
// root filesystem is read-only, unless the user mounts one. In the single layout, the pod
// matches the reference and relies on the volume of the image.
func (b *Builder) ownData() bool {
	return !b.daemonSet || b.Config.Layout != workload.LayoutSingle && !slices.ContainsFunc(b.common.VolumeMounts, func(m corev1.VolumeMount) bool {
		return path.Clean(m.MountPath) == storageDir
	})
}

// mounts returns the mounts of the prometheus container, in order.
func (b *Builder) mounts(in workload.PodInputs) []corev1.VolumeMount {
	out := []corev1.VolumeMount{
		{Name: configOutVolume, MountPath: configOutDir, ReadOnly: true},
		b.TLSAssetsMount(),
	}
	if b.ownData() {
		out = append(out, b.DataMount())
	}
	out = append(out, b.common.VolumeMounts...)
	_, user := b.userMounts()
	out = append(out, user...)
	logs := corev1.VolumeMount{Name: logVolume, MountPath: logDir}
	if b.scrapeFailureLogMounted() {
		out = append(out, logs)
	}
	out = append(out, b.ReadRuleMounts(b.ruleConfigMaps(in))...)
	if b.queryLogMounted() {
		out = append(out, logs)
	}
	_, web := b.WebVolumes()
	return append(out, web...)
}

// ruleConfigMaps returns the rule ConfigMaps. An agent has none.
func (b *Builder) ruleConfigMaps(in workload.PodInputs) []string {
	if b.server == nil {
		return nil
	}
	return in.RuleConfigMaps
}

// scrapeFailureLogMounted reports whether the scrape failure log needs a log volume,
// which is the case for a file name without a directory. Both log files share one volume.

func (b *Builder) scrapeFailureLogMounted() bool { return bareFileName(b.common.ScrapeFailureLogFile) }

func (b *Builder) queryLogMounted() bool {
	return b.server != nil && bareFileName(b.server.QueryLogFile) && !b.scrapeFailureLogMounted()
}

func bareFileName(file string) bool { return file != "" && path.Dir(file) == "." }
