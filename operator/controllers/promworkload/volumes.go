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
func (o *Owner) UserMounts() []workload.UserMount {
	return workload.UserMounts("/etc/prometheus", o.common.Secrets, o.common.ConfigMaps)
}

// userMounts returns the volumes and mounts of the user's Secrets and ConfigMaps.
func (o *Owner) userMounts() ([]corev1.Volume, []corev1.VolumeMount) {
	return workload.MountUsers(o.UserMounts())
}

// volumes returns the volumes of the pod, in order.
func (o *Owner) volumes(in Inputs) ([]corev1.Volume, error) {
	out := []corev1.Volume{
		o.ConfigVolume(in.ConfigInParts),
		o.TLSAssets(in.TLSSecrets),
		// In memory, because the expanded configuration contains credentials.
		{Name: configOutVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	user, _ := o.userMounts()
	out = append(out, user...)
	if o.scrapeFailureLogMounted() || o.queryLogMounted() {
		out = append(out, corev1.Volume{Name: logVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	out = append(out, workload.RuleVolumes(o.ruleConfigMaps(in))...)
	if withWebConfig.Has(o.version) {
		web, _ := o.webConfig().Mounts()
		out = append(out, web...)
	}
	if o.thanosClientFile() {
		out = append(out, corev1.Volume{Name: thanosClientVolume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: o.ThanosHTTPClientSecretName()}}})
	}
	if o.ownData() {
		out = append(out, o.DataVolumes()...)
	}
	out = append(out, o.common.Volumes...)
	return out, workload.CheckVolumeNames(out)
}

// ownData reports whether the pod has a data volume. A DaemonSet needs one, because the
// root filesystem is read-only, unless the user mounts one. In the single layout, the pod
// matches the reference and relies on the volume of the image.
func (o *Owner) ownData() bool {
	return !o.daemonSet || o.Config.Layout != workload.LayoutSingle && !slices.ContainsFunc(o.common.VolumeMounts, func(m corev1.VolumeMount) bool {
		return path.Clean(m.MountPath) == storageDir
	})
}

// mounts returns the mounts of the prometheus container, in order.
func (o *Owner) mounts(in Inputs) []corev1.VolumeMount {
	out := []corev1.VolumeMount{
		{Name: configOutVolume, MountPath: configOutDir, ReadOnly: true},
		{Name: workload.TLSAssetsVolume, MountPath: tlsAssetsDir, ReadOnly: true},
	}
	if o.ownData() {
		out = append(out, o.DataMount())
	}
	out = append(out, o.common.VolumeMounts...)
	_, user := o.userMounts()
	out = append(out, user...)
	logs := corev1.VolumeMount{Name: logVolume, MountPath: logDir}
	if o.scrapeFailureLogMounted() {
		out = append(out, logs)
	}
	for _, m := range o.RuleMounts(o.ruleConfigMaps(in)) {
		m.ReadOnly = true
		out = append(out, m)
	}
	if o.queryLogMounted() {
		out = append(out, logs)
	}
	if withWebConfig.Has(o.version) {
		_, web := o.webConfig().Mounts()
		out = append(out, web...)
	}
	return out
}

// ruleConfigMaps returns the rule ConfigMaps. An agent has none.
func (o *Owner) ruleConfigMaps(in Inputs) []string {
	if o.server == nil {
		return nil
	}
	return in.RuleConfigMaps
}

// scrapeFailureLogMounted reports whether the scrape failure log needs a log volume,
// which is the case for a file name without a directory. Both log files share one volume.

func (o *Owner) scrapeFailureLogMounted() bool { return bareFileName(o.common.ScrapeFailureLogFile) }

func (o *Owner) queryLogMounted() bool {
	return o.server != nil && bareFileName(o.server.QueryLogFile) && !o.scrapeFailureLogMounted()
}

func bareFileName(file string) bool { return file != "" && path.Dir(file) == "." }
