package thanosruler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Volumes of the files of the server.
const (
	remoteWriteVolume   = "remote-write-config"
	queryVolume         = "query-config"
	alertmanagersVolume = "alertmanager-config"
	objectStorageVolume = "objstorage-config"
	tracingVolume       = "tracing-config"
	alertRelabelVolume  = "alertrelabel-config"
)

// files returns the files of the server, in the order of their volumes. Every pod has that
// with the remote-write configuration.
func (b *builder) files() workload.SecretFiles {
	remoteWrite := &corev1.SecretKeySelector{Key: remoteWriteKey}
	remoteWrite.Name = b.ConfigSecretName()
	return workload.SecretFiles{Dir: "/etc/thanos/config", Files: []workload.SecretFile{
		{Volume: remoteWriteVolume, Secret: remoteWrite},
		{Volume: queryVolume, Field: "spec.queryConfig", Secret: b.spec.QueryConfig},
		{Volume: alertmanagersVolume, Field: "spec.alertmanagersConfig", Secret: b.spec.AlertmanagersConfig},
		{Volume: objectStorageVolume, Field: "spec.objectStorageConfig", Secret: b.spec.ObjectStorageConfig, Path: b.spec.ObjectStorageConfigFile},
		{Volume: tracingVolume, Field: "spec.tracingConfig", Secret: b.spec.TracingConfig, Path: b.spec.TracingConfigFile},
		{Volume: alertRelabelVolume, Field: "spec.alertRelabelConfigs", Secret: b.spec.AlertRelabelConfigs, Path: b.spec.AlertRelabelConfigFile},
	}}
}
