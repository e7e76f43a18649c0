package promworkload

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	thanosHTTPPort      = 10902
	thanosGRPCPort      = 10901
	thanosGRPCPortName  = "grpc"
	thanosClientDir     = "/etc/thanos/config"
	thanosClientFile    = "prometheus.http-client-file.yaml"
	objectStorageVar    = "OBJSTORE_CONFIG"
	thanosTracingVar    = "TRACING_CONFIG"
	thanosClientContent = "tls_config:\n  insecure_skip_verify: true\n"
)

// thanosArgs are the arguments of the sidecar after "sidecar". The versions are Thanos
// versions.
var thanosArgs = slices.Concat([]workload.Row[*Owner]{
	{Name: "prometheus.url", Value: func(o *Owner) (string, bool) { return o.localURL(""), true }},
	{Name: "grpc-address", Value: func(o *Owner) (string, bool) {
		return thanosAddress(thanosGRPCPort, o.thanos().ListenLocal || o.thanos().GRPCListenLocal), true
	}},
	{Name: "http-address", Value: func(o *Owner) (string, bool) {
		return thanosAddress(thanosHTTPPort, o.thanos().ListenLocal || o.thanos().HTTPListenLocal), true
	}},
}, workload.GRPCServerArgs("spec.thanos.grpcServerTlsConfig", func(o *Owner) *v1.GRPCServerTLSConfig {
	return o.thanos().GRPCServerTLSConfig
}), []workload.Row[*Owner]{
	{Name: "objstore.config-file", Value: workload.NonEmpty(func(o *Owner) string { return o.thanos().ObjectStorageConfigFile })},
	{Name: "objstore.config", Value: variable(objectStorageVar, (*Owner).objectStorageSecret)},
	{Name: "tsdb.path", Value: func(o *Owner) (string, bool) { return storageDir, o.objectStorage() }},
	{Name: "shipper.meta-file-name",
		Value: func(o *Owner) (string, bool) { return shipperFile, o.compactionIs(compactionDelayed) }},
	{Name: "shipper.ignore-unequal-block-size",
		Value: workload.FlagIf(func(o *Owner) bool { return o.compactionIs(compactionDelayed) })},
	{Name: "tracing.config-file", Value: workload.NonEmpty(func(o *Owner) string { return o.thanos().TracingConfigFile })},
	{Name: "tracing.config", Value: variable(thanosTracingVar, (*Owner).tracingSecret)},
	// Unlike those of the server, these are written even if they are the default.
	{Name: "log.level", Value: workload.NonEmpty(func(o *Owner) string { return first(o.thanos().LogLevel, o.common.LogLevel) })},
	{Name: "log.format", Value: workload.NonEmpty(func(o *Owner) string { return first(o.thanos().LogFormat, o.common.LogFormat) })},
	{Name: "min-time", Value: workload.NonEmpty(func(o *Owner) string { return o.thanos().MinTime })},
	{Name: "prometheus.ready_timeout", Value: workload.NonEmpty(func(o *Owner) v1.Duration { return o.thanos().ReadyTimeout })},
	{Name: "prometheus.get_config_timeout", In: workload.Versions{Since: "0.29.0"}, Field: "spec.thanos.getConfigTimeout",
		Value: workload.NonEmpty(func(o *Owner) v1.Duration { return o.thanos().GetConfigTimeout })},
	{Name: "prometheus.get_config_interval", In: workload.Versions{Since: "0.29.0"}, Field: "spec.thanos.getConfigInterval",
		Value: workload.NonEmpty(func(o *Owner) v1.Duration { return o.thanos().GetConfigInterval })},
	{Name: "prometheus.http-client-file", In: thanosWithClientFile,
		Value: workload.Always[*Owner](thanosClientDir + "/" + thanosClientFile)},
})

func (o *Owner) thanosContainer() (corev1.Container, error) {
	t := o.thanos()
	image, err := o.thanosImage()
	if err != nil {
		return corev1.Container{}, fmt.Errorf("image of %s: %w", containerThanos, err)
	}
	own, _ := workload.Fill(thanosArgs, o.thanosVersion, o)
	args, err := workload.AppendUser("spec.thanos.additionalArgs", own, t.AdditionalArgs)
	if err != nil {
		return corev1.Container{}, err
	}
	c := workload.NewContainer(containerThanos, image, o.common.ImagePullPolicy)
	c.Args = append([]string{"sidecar"}, workload.Render(args)...)
	c.Ports = []corev1.ContainerPort{
		{Name: "http", ContainerPort: thanosHTTPPort},
		{Name: thanosGRPCPortName, ContainerPort: thanosGRPCPort},
	}
	c.Resources = t.Resources
	for _, row := range []struct {
		name   string
		secret *corev1.SecretKeySelector
	}{
		{objectStorageVar, o.objectStorageSecret()},
		{thanosTracingVar, o.tracingSecret()},
	} {
		if row.secret != nil {
			c.Env = append(c.Env, corev1.EnvVar{Name: row.name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: row.secret}})
		}
	}
	for _, m := range t.VolumeMounts {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m.Name, MountPath: m.MountPath})
	}
	if o.objectStorage() {
		c.VolumeMounts = append(c.VolumeMounts, o.DataMount())
	}
	if o.thanosClientFile() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: thanosClientVolume, MountPath: thanosClientDir})
	}
	return c, nil
}

// thanosImage uses the version as written: the image tag for "0.40.0" has no "v".
func (o *Owner) thanosImage() (string, error) {
	t := o.thanos()
	return workload.Image{
		Explicit: t.Image,
		Base:     first(t.BaseImage, o.Config.ThanosBaseImage),
		Version:  first(t.Version, wellknown.DefaultThanosVersion),
		Tag:      t.Tag,
		SHA:      t.SHA,
	}.Path()
}

// objectStorageSecret and tracingSecret return nil if a file is used instead.

func (o *Owner) objectStorageSecret() *corev1.SecretKeySelector {
	if o.thanos().ObjectStorageConfigFile != "" {
		return nil
	}
	return o.thanos().ObjectStorageConfig
}

func (o *Owner) tracingSecret() *corev1.SecretKeySelector {
	if o.thanos().TracingConfigFile != "" {
		return nil
	}
	return o.thanos().TracingConfig
}

// thanosClientFile reports whether the sidecar gets a file with the HTTP client
// configuration for Prometheus.
func (o *Owner) thanosClientFile() bool {
	return o.thanos() != nil && thanosWithClientFile.Has(o.thanosVersion)
}

// variable passes the content of a Secret through an environment variable.
func variable(name string, secret func(*Owner) *corev1.SecretKeySelector) func(*Owner) (string, bool) {
	return func(o *Owner) (string, bool) { return "$(" + name + ")", secret(o) != nil }
}

func thanosAddress(port int, local bool) string {
	if local {
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
	return fmt.Sprintf(":%d", port)
}

// first returns the first non-empty string.
func first(candidates ...string) string {
	for _, s := range candidates {
		if s != "" {
			return s
		}
	}
	return ""
}
