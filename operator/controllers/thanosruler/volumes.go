package thanosruler

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Files and folders inside the containers.
const (
	configDir    = "/etc/thanos/config"
	tlsAssetsDir = "/etc/thanos/certs"
	webConfigDir = "/etc/thanos/web_config"

	remoteWriteVolume = "remote-write-config"
	remoteWriteFile   = configDir + "/" + remoteWriteVolume + "/" + RemoteWriteKey
)

// TLSAssetsDir is the directory of the files from [workload.Base.TLSAssetSecrets], for
// configurations that refer to them.
const TLSAssetsDir = tlsAssetsDir

// configFile is a file that the user stores in a Secret, or at a path, which takes
// precedence.
type configFile struct {
	volume string
	field  string // field of the Secret
	secret func(*Owner) *corev1.SecretKeySelector
	file   func(*Owner) string // nil if there is no such field
}

var (
	queryConfig = configFile{volume: "query-config", field: "spec.queryConfig",
		secret: func(o *Owner) *corev1.SecretKeySelector { return o.spec.QueryConfig }}
	alertmanagersConfig = configFile{volume: "alertmanager-config", field: "spec.alertmanagersConfig",
		secret: func(o *Owner) *corev1.SecretKeySelector { return o.spec.AlertmanagersConfig }}
	objectStorageConfig = configFile{volume: "objstorage-config", field: "spec.objectStorageConfig",
		secret: func(o *Owner) *corev1.SecretKeySelector { return o.spec.ObjectStorageConfig },
		file:   func(o *Owner) string { return o.spec.ObjectStorageConfigFile }}
	tracingConfig = configFile{volume: "tracing-config", field: "spec.tracingConfig",
		secret: func(o *Owner) *corev1.SecretKeySelector { return o.spec.TracingConfig },
		file:   func(o *Owner) string { return o.spec.TracingConfigFile }}
	alertRelabelConfig = configFile{volume: "alertrelabel-config", field: "spec.alertRelabelConfigs",
		secret: func(o *Owner) *corev1.SecretKeySelector { return o.spec.AlertRelabelConfigs },
		file:   func(o *Owner) string { return o.spec.AlertRelabelConfigFile }}
)

// configFiles are all configuration files, in the order of their volumes.
var configFiles = []configFile{queryConfig, alertmanagersConfig, objectStorageConfig, tracingConfig, alertRelabelConfig}

// path returns the path of the file inside the container, if it is configured.
func (f configFile) path(o *Owner) (string, bool) {
	if f.file != nil && f.file(o) != "" {
		return f.file(o), true
	}
	if s := f.secret(o); s != nil {
		return path.Join(configDir, f.volume, s.Key), true
	}
	return "", false
}

// mounted returns the Secret to mount, or nil if there is none or a path is used.
func (f configFile) mounted(o *Owner) *corev1.SecretKeySelector {
	if f.file != nil && f.file(o) != "" {
		return nil
	}
	return f.secret(o)
}

// configVolume returns a volume with one key of a Secret, and its mount. It mounts a
// directory, so that a new value reaches a running pod.
func configVolume(volume, secret, key string) (corev1.Volume, corev1.VolumeMount) {
	source := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: secret, Items: []corev1.KeyToPath{{Key: key, Path: key}},
	}}
	return corev1.Volume{Name: volume, VolumeSource: source},
		corev1.VolumeMount{Name: volume, MountPath: path.Join(configDir, volume), ReadOnly: true}
}

// configVolumes returns the volumes of all configuration files and their mounts.
func (o *Owner) configVolumes() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	add := func(volume, secret, key string) {
		v, m := configVolume(volume, secret, key)
		volumes, mounts = append(volumes, v), append(mounts, m)
	}
	add(remoteWriteVolume, o.ConfigSecretName(), RemoteWriteKey)
	for _, f := range configFiles {
		if s := f.mounted(o); s != nil {
			add(f.volume, s.Name, s.Key)
		}
	}
	return volumes, mounts
}

// volumes returns the volumes of the pod, in order.
func (o *Owner) volumes(in Inputs) ([]corev1.Volume, error) {
	out, _ := o.configVolumes()
	out = append(out, o.TLSAssets(in.TLSSecrets))
	web, _ := o.webVolumes()
	out = append(out, web...)
	out = append(out, workload.RuleVolumes(o.ruleConfigMaps(in))...)
	out = append(out, o.DataVolumes()...)
	out = append(out, o.spec.Volumes...)
	return out, workload.CheckVolumeNames(out)
}

// mounts returns the mounts of the server, in order.
func (o *Owner) mounts(in Inputs) []corev1.VolumeMount {
	_, out := o.configVolumes()
	out = append(out, corev1.VolumeMount{Name: workload.TLSAssetsVolume, MountPath: tlsAssetsDir, ReadOnly: true})
	_, web := o.webVolumes()
	out = append(out, web...)
	out = append(out, o.DataMount())
	for _, m := range o.RuleMounts(o.ruleConfigMaps(in)) {
		m.ReadOnly = true
		out = append(out, m)
	}
	return append(out, o.spec.VolumeMounts...)
}

func (o *Owner) webConfig() workload.WebConfig {
	w := workload.WebConfig{Dir: webConfigDir, SecretName: o.WebConfigSecretName(), Read: o.err == nil && withWebConfig.Has(o.version)}
	if o.spec.Web != nil {
		w.Fields = o.spec.Web.WebConfigFileFields
	}
	return w
}

// webVolumes returns the volumes and mounts of the web configuration, or none if the
// version does not support it.
func (o *Owner) webVolumes() ([]corev1.Volume, []corev1.VolumeMount) {
	if !withWebConfig.Has(o.version) {
		return nil, nil
	}
	return o.webConfig().Mounts()
}
