package promworkload

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// What a pod with central discovery needs to receive its targets: a token that only the discovery
// service accepts, and the CA of that service. The CA is in a Secret of the workload, because pods
// mount nothing of other namespaces.
const (
	discoveryVolume = "discovery"
	discoveryDir    = "/etc/prometheus/discovery"
	discoveryToken  = "token"
	discoveryCA     = "ca.crt"
	targetsFile     = configOutDir + "/targets.json.gz"

	discoveryTokenSeconds = 3600
)

// CentralDiscovery reports whether the discovery service provides targets of the workload.
func (b *Builder) CentralDiscovery() bool {
	d, _, err := b.discovery()
	return err == nil && d.Central()
}

// BySeries reports whether the discovery service places the targets of the workload by their series. It assumes that the
// operator has the address of that service, which commands do not know.
func (b *Builder) BySeries() bool {
	if b.Err != nil {
		return false
	}
	d, _, err := promconfig.TargetDiscovery(b.Meta.Annotations, promconfig.Discoverable{Version: b.Version, DaemonSet: b.daemonSet, Enabled: true})
	_, division, wrong := wellknown.ParseSharding(b.Meta.Annotations)
	return err == nil && wrong == nil && d.Central() && division.Weighted
}

// discovery returns which program discovers the targets, like [promconfig.TargetDiscovery].
func (b *Builder) discovery() (d wellknown.TargetDiscovery, ignored string, err error) {
	if b.Err != nil {
		return wellknown.OwnDiscovery, "", b.Err
	}
	return promconfig.TargetDiscovery(b.Meta.Annotations, promconfig.Discoverable{
		Version: b.Version, DaemonSet: b.daemonSet, Enabled: b.Config.Discovery.Address != "", Fault: b.Config.TargetsFault(b.Fields.Containers),
	})
}

// IgnoredAnnotation returns an annotation about discovery that has no effect, and why; both are empty if there is none.
func (b *Builder) IgnoredAnnotation() (annotation, why string) {
	d, ignored, err := b.discovery()
	switch {
	case err != nil:
		return "", ""
	case ignored != "":
		return wellknown.AnnotationTargetDiscovery, ignored
	}
	if annotation, why = promconfig.IgnoredAnnotation(b.Meta.Annotations, d); why != "" {
		return annotation, why
	}
	switch _, scales := scaling.LimitsOf(b.Meta.Annotations, b.common.Shards); {
	case !scales:
		return "", ""
	case !b.Config.Discovery.Shards:
		why = "only keeps the number of shards from falling: to follow the series, it needs the operator's flag --central-discovery-shards-file"
	default:
		return "", ""
	}
	return wellknown.AnnotationMaxShards, why
}

// DiscoveryCASecretName returns the name of the Secret with the CA of the discovery service.
func (b *Builder) DiscoveryCASecretName() string { return b.PrefixedName() + "-discovery-ca" }

// DiscoveryCASecret returns the Secret with the CA of the discovery service.
func (b *Builder) DiscoveryCASecret(pem []byte) *corev1.Secret {
	return b.Secret(b.DiscoveryCASecretName(), map[string][]byte{discoveryCA: pem})
}

// receiveTargets makes config-reloader receive the targets of the pod.
func (b *Builder) receiveTargets(r *workload.ConfigReloader) {
	r.Targets = workload.Targets{
		Server: "https://" + b.Config.Discovery.Address, Listen: wellknown.TargetsAddress,
		TokenFile: discoveryDir + "/" + discoveryToken, File: targetsFile,
	}
	if b.Config.Discovery.OwnCA {
		r.Targets.CAFile = discoveryDir + "/" + discoveryCA
	}
	r.Mounts = append(r.Mounts, corev1.VolumeMount{Name: discoveryVolume, MountPath: discoveryDir, ReadOnly: true})
}

// discoveryVolumeOf returns the volume with token and CA. A missing CA does not keep the pod from
// starting: it discovers nothing new until the CA exists.
func (b *Builder) discoveryVolumeOf() corev1.Volume {
	sources := []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
		Audience: wellknown.DiscoveryAudience, ExpirationSeconds: new(int64(discoveryTokenSeconds)), Path: discoveryToken,
	}}}
	if b.Config.Discovery.OwnCA {
		ca := workload.SecretProjection(b.DiscoveryCASecretName(), new(true))
		ca.Secret.Items = []corev1.KeyToPath{{Key: discoveryCA, Path: discoveryCA}}
		sources = append(sources, ca)
	}
	return corev1.Volume{Name: discoveryVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: sources}}}
}
