package alertmanager

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Files and folders inside the containers.
const (
	rootDir       = "/etc/alertmanager"
	configDir     = rootDir + "/config"
	configFile    = configDir + "/" + ConfigKey
	configOutDir  = rootDir + "/config_out"
	configOutFile = configOutDir + "/alertmanager.env.yaml"
	tlsAssetsDir  = rootDir + "/certs"
	templatesDir  = rootDir + "/templates"
	webConfigDir  = rootDir + "/web_config"
	clusterTLSDir = rootDir + "/cluster_tls_config"
)

const (
	configOutVolume = "config-out"
	templatesVolume = "notification-templates"
)

// TLSAssetsDir is the directory of the files from [workload.Base.TLSAssetSecrets], for
// configurations that refer to them.
const TLSAssetsDir = tlsAssetsDir

// volumes returns the volumes of the pod, in order.
func (o *Owner) volumes(in Inputs) ([]corev1.Volume, error) {
	out := []corev1.Volume{
		o.ConfigVolume(in.ConfigInParts),
		o.TLSAssets(in.TLSSecrets),
		// In memory, because the expanded configuration contains credentials.
		{Name: configOutVolume, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	if len(o.templates()) > 0 {
		out = append(out, o.templateVolume())
	}
	user, _ := o.userMounts()
	out = append(out, user...)
	if withWebConfig.Has(o.version) {
		web, _ := o.webConfig().Mounts()
		out = append(out, web...)
	}
	if withClusterTLS.Has(o.version) {
		cluster, _ := o.clusterTLS().Mounts()
		out = append(out, cluster...)
	}
	out = append(out, o.DataVolumes()...)
	out = append(out, o.spec.Volumes...)
	return out, workload.CheckVolumeNames(out)
}

// mounts returns the mounts of the server, in order.
func (o *Owner) mounts() []corev1.VolumeMount {
	_, user := o.userMounts()
	out := slices.Concat([]corev1.VolumeMount{
		{Name: kind.ConfigSecret.Volume, MountPath: configDir},
		{Name: configOutVolume, MountPath: configOutDir, ReadOnly: true},
		{Name: workload.TLSAssetsVolume, MountPath: tlsAssetsDir, ReadOnly: true},
		o.DataMount(),
	}, o.templateMounts(), user, o.spec.VolumeMounts, o.webMounts())
	if withClusterTLS.Has(o.version) {
		_, cluster := o.clusterTLS().Mounts()
		out = append(out, cluster...)
	}
	return out
}

// userMounts returns the volumes and mounts of the user's Secrets and ConfigMaps.
func (o *Owner) userMounts() ([]corev1.Volume, []corev1.VolumeMount) {
	return workload.MountUsers(workload.UserMounts(rootDir, o.spec.Secrets, o.spec.ConfigMaps))
}

// folders returns the directories with the user's files. The reloader watches all of
// them.
func (o *Owner) folders() []engine.Folder {
	out := engine.UserFolders(workload.UserMounts(rootDir, o.spec.Secrets, o.spec.ConfigMaps))
	if len(o.templates()) == 0 {
		return out
	}
	shown := engine.Folder{Path: templatesDir}
	for _, t := range o.templateFiles() {
		source := engine.Source{Field: "spec.alertmanagerConfiguration.templates", Kind: assets.ConfigMap, Name: t.name, Key: t.key}
		if t.secret {
			source.Kind = assets.Secret
		}
		shown.Sources = append(shown.Sources, source)
	}
	return append(out, shown)
}

// templateVolume returns a volume with the selected keys as files. If two keys have the
// same name, the first one wins.
func (o *Owner) templateVolume() corev1.Volume {
	projected := &corev1.ProjectedVolumeSource{}
	for _, t := range o.templateFiles() {
		item := []corev1.KeyToPath{{Key: t.key, Path: t.key}}
		source := corev1.VolumeProjection{}
		if t.secret {
			source.Secret = &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: t.name}, Items: item}
		} else {
			source.ConfigMap = &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: t.name}, Items: item}
		}
		projected.Sources = append(projected.Sources, source)
	}
	return corev1.Volume{Name: templatesVolume, VolumeSource: corev1.VolumeSource{Projected: projected}}
}

func (o *Owner) templateMounts() []corev1.VolumeMount {
	if len(o.templates()) == 0 {
		return nil
	}
	return []corev1.VolumeMount{{Name: templatesVolume, MountPath: templatesDir, ReadOnly: true}}
}

// template is a file with notification templates.
type template struct {
	secret    bool // in a Secret, otherwise in a ConfigMap
	name, key string
}

// templateFiles returns the files of spec.alertmanagerConfiguration.templates without
// duplicate names.
func (o *Owner) templateFiles() []template {
	var out []template
	add := func(t template) {
		if !slices.ContainsFunc(out, func(have template) bool { return have.key == t.key }) {
			out = append(out, t)
		}
	}
	for _, ref := range o.templates() {
		if m := ref.ConfigMap; m != nil {
			add(template{false, m.Name, m.Key})
		}
		if s := ref.Secret; s != nil {
			add(template{true, s.Name, s.Key})
		}
	}
	return out
}

func (o *Owner) webConfig() workload.WebConfig {
	w := workload.WebConfig{Dir: webConfigDir, SecretName: o.WebConfigSecretName(), Read: o.err == nil && withWebConfig.Has(o.version)}
	if o.spec.Web != nil {
		w.Fields = o.spec.Web.WebConfigFileFields
	}
	return w
}

// webMounts returns the mounts of the web configuration, or none if the version does not
// support it.
func (o *Owner) webMounts() []corev1.VolumeMount {
	if !withWebConfig.Has(o.version) {
		return nil
	}
	_, mounts := o.webConfig().Mounts()
	return mounts
}

func (o *Owner) clusterTLS() workload.ClusterTLS {
	return workload.ClusterTLS{Dir: clusterTLSDir, SecretName: o.ClusterTLSSecretName(), Fields: o.spec.ClusterTLS}
}
