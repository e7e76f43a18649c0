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
	configFile    = configDir + "/" + configKey
	configOutDir  = rootDir + "/config_out"
	configOutFile = configOutDir + "/alertmanager.env.yaml"
	templatesDir  = rootDir + "/templates"
	clusterTLSDir = rootDir + "/cluster_tls_config"
)

const (
	configOutVolume = "config-out"
	templatesVolume = "notification-templates"
)

// volumes returns the volumes of the pod, in order.
func (b *builder) volumes(in workload.PodInputs) []corev1.Volume {
	user, _ := b.userMounts()
	web, _ := b.WebVolumes()
	cluster, _ := b.clusterTLSVolumes()
	return slices.Concat([]corev1.Volume{
		b.ConfigVolume(in.ConfigInParts), b.TLSAssets(in.TLSSecrets), workload.MemoryVolume(configOutVolume),
	}, b.templateVolumes(), user, web, cluster, b.DataVolumes())
}

// mounts returns the mounts of the server, in order.
func (b *builder) mounts() []corev1.VolumeMount {
	_, user := b.userMounts()
	_, web := b.WebVolumes()
	_, cluster := b.clusterTLSVolumes()
	return slices.Concat([]corev1.VolumeMount{
		{Name: kind.ConfigSecret.Volume, MountPath: configDir},
		{Name: configOutVolume, MountPath: configOutDir, ReadOnly: true},
		b.TLSAssetsMount(),
		b.DataMount(),
	}, b.templateMounts(), user, b.spec.VolumeMounts, web, cluster)
}

// userMounts returns the volumes and mounts of the user's Secrets and ConfigMaps.
func (b *builder) userMounts() ([]corev1.Volume, []corev1.VolumeMount) {
	return workload.MountUsers(workload.UserMounts(rootDir, b.spec.Secrets, b.spec.ConfigMaps))
}

// folders returns the directories with the user's files. The reloader watches all of
// them.
func (b *builder) folders() []engine.Folder {
	out := engine.UserFolders(workload.UserMounts(rootDir, b.spec.Secrets, b.spec.ConfigMaps))
	if len(b.templates()) == 0 {
		return out
	}
	shown := engine.Folder{Path: templatesDir}
	for _, t := range b.templateFiles() {
		source := engine.Source{Field: "spec.alertmanagerConfiguration.templates", Kind: assets.ConfigMap, Name: t.name, Key: t.key}
		if t.secret {
			source.Kind = assets.Secret
		}
		shown.Sources = append(shown.Sources, source)
	}
	return append(out, shown)
}

// templateVolumes returns a volume with the selected keys as files, or none without
// templates. If two keys have the same name, the first one wins.
func (b *builder) templateVolumes() []corev1.Volume {
	if len(b.templates()) == 0 {
		return nil
	}
	projected := &corev1.ProjectedVolumeSource{}
	for _, t := range b.templateFiles() {
		item := []corev1.KeyToPath{{Key: t.key, Path: t.key}}
		source := corev1.VolumeProjection{}
		if t.secret {
			source.Secret = &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: t.name}, Items: item}
		} else {
			source.ConfigMap = &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: t.name}, Items: item}
		}
		projected.Sources = append(projected.Sources, source)
	}
	return []corev1.Volume{{Name: templatesVolume, VolumeSource: corev1.VolumeSource{Projected: projected}}}
}

func (b *builder) templateMounts() []corev1.VolumeMount {
	if len(b.templates()) == 0 {
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
func (b *builder) templateFiles() []template {
	var out []template
	add := func(t template) {
		if !slices.ContainsFunc(out, func(have template) bool { return have.key == t.key }) {
			out = append(out, t)
		}
	}
	for _, ref := range b.templates() {
		if m := ref.ConfigMap; m != nil {
			add(template{false, m.Name, m.Key})
		}
		if s := ref.Secret; s != nil {
			add(template{true, s.Name, s.Key})
		}
	}
	return out
}

func (b *builder) clusterTLS() workload.ClusterTLS {
	return workload.ClusterTLS{Dir: clusterTLSDir, SecretName: b.PrefixedName() + "-cluster-tls-config", Fields: b.spec.ClusterTLS}
}

// clusterTLSVolumes returns the volumes and mounts of the file of spec.clusterTLS, or none
// if the version does not support it.
func (b *builder) clusterTLSVolumes() ([]corev1.Volume, []corev1.VolumeMount) {
	if !withClusterTLS.Has(b.Version) {
		return nil, nil
	}
	return b.clusterTLS().Mounts()
}
