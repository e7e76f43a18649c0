package workload

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// Files and folders inside the containers.
const (
	storageDir    = "/prometheus"
	configDir     = "/etc/prometheus/config"
	configFile    = configDir + "/" + ConfigKey
	configOutDir  = "/etc/prometheus/config_out"
	configOutFile = configOutDir + "/prometheus.env.yaml"
	tlsAssetsDir  = "/etc/prometheus/certs"
	secretsDir    = "/etc/prometheus/secrets"
	configMapsDir = "/etc/prometheus/configmaps"
	rulesDir      = "/etc/prometheus/rules"
	logDir        = "/var/log/prometheus"
)

const (
	configVolume       = "config"
	configOutVolume    = "config-out"
	tlsAssetsVolume    = "tls-assets"
	logVolume          = "log-file"
	thanosClientVolume = "thanos-prometheus-http-client-file"
)

// userMount is a Secret or ConfigMap that the user wants in the pod.
type userMount struct {
	volume corev1.Volume
	mount  corev1.VolumeMount
}

func (o *Owner) userMounts() []userMount {
	var out []userMount
	for _, name := range o.common.Secrets {
		source := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}
		out = append(out, readOnlyMount(volumeName("secret-", name), path.Join(secretsDir, name), source))
	}
	for _, name := range o.common.ConfigMaps {
		source := corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: name},
		}}
		out = append(out, readOnlyMount(volumeName("configmap-", name), path.Join(configMapsDir, name), source))
	}
	return out
}

func readOnlyMount(name, dir string, source corev1.VolumeSource) userMount {
	return userMount{
		volume: corev1.Volume{Name: name, VolumeSource: source},
		mount:  corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true},
	}
}

// volumes are the volumes of the pod, in order.
func (o *Owner) volumes(in Inputs) ([]corev1.Volume, error) {
	out := []corev1.Volume{
		{Name: configVolume, VolumeSource: o.configSource(in)},
		o.tlsAssets(in.TLSSecrets),
		// In memory, because the expanded configuration holds credentials.
		{Name: configOutVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	for _, u := range o.userMounts() {
		out = append(out, u.volume)
	}
	if o.scrapeFailureLogMounted() || o.queryLogMounted() {
		out = append(out, corev1.Volume{Name: logVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	for _, cm := range o.ruleConfigMaps(in) {
		out = append(out, corev1.Volume{Name: cm, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: cm},
			Optional:             new(true),
		}}})
	}
	if withWebConfig.has(o.version) {
		web, _ := o.webConfig().Mounts()
		out = append(out, web...)
	}
	if o.thanosClientFile() {
		out = append(out, corev1.Volume{Name: thanosClientVolume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: o.ThanosHTTPClientSecretName()}}})
	}
	if o.ownData() {
		out = append(out, o.dataVolumes()...)
	}
	out = append(out, o.common.Volumes...)
	return out, checkVolumeNames(out)
}

// configSource shows the configuration Secret, and in a projected volume also
// those of its parts, which are optional: a configuration can grow into them without
// a new pod. Pods whose reloaders may not read parts, and those of the single layout,
// which repeats a well-known pod exactly, have them only once they were needed.
func (o *Owner) configSource(in Inputs) corev1.VolumeSource {
	if !in.ConfigInParts && !o.partsAhead() {
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: o.ConfigSecretName()}}
	}
	projected := &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{secretProjection(o.ConfigSecretName(), nil)}}
	for i := range ConfigParts {
		part := secretProjection(o.ConfigPartName(i+1), new(true))
		// Somebody else's Secret of this name must not bring a configuration.
		for _, key := range []string{parts.ConfigName(i + 1), parts.RulesName(i + 1)} {
			part.Secret.Items = append(part.Secret.Items, corev1.KeyToPath{Key: key, Path: key})
		}
		projected.Sources = append(projected.Sources, part)
	}
	return corev1.VolumeSource{Projected: projected}
}

// partsAhead reports whether pods mount the parts before there are any.
func (o *Owner) partsAhead() bool { return o.cfg.Layout != LayoutSingle && o.PartsFault() == "" }

func secretProjection(name string, optional *bool) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: optional,
	}}
}

// tlsAssets shows all Secrets of TLS assets as one folder.
func (o *Owner) tlsAssets(secrets int) corev1.Volume {
	projected := &corev1.ProjectedVolumeSource{}
	for i := range max(secrets, 1) {
		projected.Sources = append(projected.Sources, secretProjection(o.TLSAssetSecretName(i), nil))
	}
	return corev1.Volume{Name: tlsAssetsVolume, VolumeSource: corev1.VolumeSource{Projected: projected}}
}

// mounts are the mounts of the prometheus container, in order.
func (o *Owner) mounts(in Inputs) []corev1.VolumeMount {
	out := []corev1.VolumeMount{
		{Name: configOutVolume, MountPath: configOutDir, ReadOnly: true},
		{Name: tlsAssetsVolume, MountPath: tlsAssetsDir, ReadOnly: true},
	}
	if o.ownData() {
		out = append(out, o.dataMount())
	}
	out = append(out, o.common.VolumeMounts...)
	for _, u := range o.userMounts() {
		out = append(out, u.mount)
	}
	logs := corev1.VolumeMount{Name: logVolume, MountPath: logDir}
	if o.scrapeFailureLogMounted() {
		out = append(out, logs)
	}
	for _, m := range o.ruleMounts(in) {
		m.ReadOnly = true
		out = append(out, m)
	}
	if o.queryLogMounted() {
		out = append(out, logs)
	}
	if withWebConfig.has(o.version) {
		_, web := o.webConfig().Mounts()
		out = append(out, web...)
	}
	return out
}

// ruleConfigMaps are the ConfigMaps of rules; an agent has none.
func (o *Owner) ruleConfigMaps(in Inputs) []string {
	if o.server == nil {
		return nil
	}
	return in.RuleConfigMaps
}

func (o *Owner) ruleMounts(in Inputs) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, cm := range o.ruleConfigMaps(in) {
		out = append(out, corev1.VolumeMount{Name: cm, MountPath: path.Join(rulesDir, cm)})
	}
	return out
}

// A log file named without a folder goes to a volume of its own. There is one
// such volume, whichever of the two files needs it.

func (o *Owner) scrapeFailureLogMounted() bool { return bareFileName(o.common.ScrapeFailureLogFile) }

func (o *Owner) queryLogMounted() bool {
	return o.server != nil && bareFileName(o.server.QueryLogFile) && !o.scrapeFailureLogMounted()
}

func bareFileName(file string) bool { return file != "" && path.Dir(file) == "." }
