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
var thanosArgs = slices.Concat([]workload.Row[*Builder]{
	{Name: "prometheus.url", Value: func(b *Builder) (string, bool) { return b.localURL(""), true }},
	{Name: "grpc-address", Value: func(b *Builder) (string, bool) {
		return thanosAddress(thanosGRPCPort, b.thanos().ListenLocal || b.thanos().GRPCListenLocal), true
	}},
	{Name: "http-address", Value: func(b *Builder) (string, bool) {
		return thanosAddress(thanosHTTPPort, b.thanos().ListenLocal || b.thanos().HTTPListenLocal), true
	}},
}, workload.GRPCServerArgs("spec.thanos.grpcServerTlsConfig", func(b *Builder) *v1.GRPCServerTLSConfig {
	return b.thanos().GRPCServerTLSConfig
}), []workload.Row[*Builder]{
	{Name: "objstore.config-file", Value: workload.NonEmpty(func(b *Builder) string { return b.thanos().ObjectStorageConfigFile })},
	{Name: "objstore.config", Value: variable(objectStorageVar, (*Builder).objectStorageSecret)},
	{Name: "tsdb.path", Value: func(b *Builder) (string, bool) { return storageDir, b.objectStorage() }},
	{Name: "shipper.meta-file-name",
		Value: func(b *Builder) (string, bool) { return shipperFile, b.compactionIs(compactionDelayed) }},
	{Name: "shipper.ignore-unequal-block-size",
		Value: workload.FlagIf(func(b *Builder) bool { return b.compactionIs(compactionDelayed) })},
	{Name: "tracing.config-file", Value: workload.NonEmpty(func(b *Builder) string { return b.thanos().TracingConfigFile })},
	{Name: "tracing.config", Value: variable(thanosTracingVar, (*Builder).tracingSecret)},
	// Unlike those of the server, these are written even if they are the default.
	{Name: "log.level", Value: workload.NonEmpty(func(b *Builder) string { return first(b.thanos().LogLevel, b.common.LogLevel) })},
	{Name: "log.format", Value: workload.NonEmpty(func(b *Builder) string { return first(b.thanos().LogFormat, b.common.LogFormat) })},
	{Name: "min-time", Value: workload.NonEmpty(func(b *Builder) string { return b.thanos().MinTime })},
	{Name: "prometheus.ready_timeout", Value: workload.NonEmpty(func(b *Builder) v1.Duration { return b.thanos().ReadyTimeout })},
	{Name: "prometheus.get_config_timeout", In: workload.Versions{Since: "0.29.0"}, Field: "spec.thanos.getConfigTimeout",
		Value: workload.NonEmpty(func(b *Builder) v1.Duration { return b.thanos().GetConfigTimeout })},
	{Name: "prometheus.get_config_interval", In: workload.Versions{Since: "0.29.0"}, Field: "spec.thanos.getConfigInterval",
		Value: workload.NonEmpty(func(b *Builder) v1.Duration { return b.thanos().GetConfigInterval })},
	{Name: "prometheus.http-client-file", In: thanosWithClientFile,
		Value: workload.Always[*Builder](thanosClientDir + "/" + thanosClientFile)},
})

func (b *Builder) thanosContainer() (corev1.Container, error) {
	t := b.thanos()
	image, err := b.thanosImage()
	if err != nil {
		return corev1.Container{}, err
	}
	own, _ := workload.Fill(thanosArgs, b.thanosVersion, b)
	args, err := workload.AppendUser("spec.thanos.additionalArgs", own, t.AdditionalArgs)
	if err != nil {
		return corev1.Container{}, err
	}
	c := workload.NewContainer(workload.ContainerThanos, image, b.common.ImagePullPolicy)
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
		{objectStorageVar, b.objectStorageSecret()},
		{thanosTracingVar, b.tracingSecret()},
	} {
		if row.secret != nil {
			c.Env = append(c.Env, corev1.EnvVar{Name: row.name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: row.secret}})
		}
	}
	for _, m := range t.VolumeMounts {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: m.Name, MountPath: m.MountPath})
	}
	if b.objectStorage() {
		c.VolumeMounts = append(c.VolumeMounts, b.DataMount())
	}
	if b.thanosClientFile() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: thanosClientVolume, MountPath: thanosClientDir})
	}
	return c, nil
}

// thanosImage uses the version as written: the image tag for "0.40.0" has no "v".
func (b *Builder) thanosImage() (string, error) {
	t := b.thanos()
	return workload.Image{
		Field:    "spec.thanos",
		Explicit: t.Image,
		Base:     t.BaseImage,
		Default:  b.Config.ThanosBaseImage,
		Version:  first(t.Version, wellknown.DefaultThanosVersion),
		Tag:      t.Tag,
		SHA:      t.SHA,
	}.Path()
}

// objectStorageSecret and tracingSecret return nil if a file is used instead.

func (b *Builder) objectStorageSecret() *corev1.SecretKeySelector {
	if b.thanos().ObjectStorageConfigFile != "" {
		return nil
	}
	return b.thanos().ObjectStorageConfig
}

func (b *Builder) tracingSecret() *corev1.SecretKeySelector {
	if b.thanos().TracingConfigFile != "" {
		return nil
	}
	return b.thanos().TracingConfig
}

// thanosClientFile reports whether the sidecar gets a file with the HTTP client
// configuration for Prometheus.
func (b *Builder) thanosClientFile() bool {
	return b.thanos() != nil && thanosWithClientFile.Has(b.thanosVersion)
}

// variable passes the content of a Secret through an environment variable.
func variable(name string, secret func(*Builder) *corev1.SecretKeySelector) func(*Builder) (string, bool) {
	return func(b *Builder) (string, bool) { return "$(" + name + ")", secret(b) != nil }
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
