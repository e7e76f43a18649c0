package workload

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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

// thanosArgs are the arguments of the sidecar after "sidecar". The versions are
// those of Thanos.
var thanosArgs = []argRow[*Owner]{
	{name: "prometheus.url", value: func(o *Owner) (string, bool) { return o.localURL(""), true }},
	{name: "grpc-address", value: func(o *Owner) (string, bool) {
		return thanosAddress(thanosGRPCPort, o.thanos().ListenLocal || o.thanos().GRPCListenLocal), true
	}},
	{name: "http-address", value: func(o *Owner) (string, bool) {
		return thanosAddress(thanosHTTPPort, o.thanos().ListenLocal || o.thanos().HTTPListenLocal), true
	}},
	{name: "grpc-server-tls-cert", value: nonEmpty(func(o *Owner) string { return o.grpcTLS().CertFile })},
	{name: "grpc-server-tls-key", value: nonEmpty(func(o *Owner) string { return o.grpcTLS().KeyFile })},
	{name: "grpc-server-tls-client-ca", value: nonEmpty(func(o *Owner) string { return o.grpcTLS().CAFile })},
	{name: "grpc-server-tls-min-version", in: versions{since: "0.37.0"}, field: "spec.thanos.grpcServerTlsConfig.minVersion",
		value: nonEmpty(func(o *Owner) string { return thanosTLSVersions[o.grpcTLS().MinVersion] })},
	{name: "grpc-server-tls-ciphers", in: versions{since: "0.42.0"}, field: "spec.thanos.grpcServerTlsConfig.cipherSuites",
		value: nonEmpty(func(o *Owner) string { return strings.Join(o.grpcTLS().CipherSuites, ",") })},
	{name: "grpc-server-tls-curves", in: versions{since: "0.42.0"}, field: "spec.thanos.grpcServerTlsConfig.curves",
		value: nonEmpty(func(o *Owner) string { return strings.Join(o.grpcTLS().Curves, ",") })},
	{name: "objstore.config-file", value: nonEmpty(func(o *Owner) string { return o.thanos().ObjectStorageConfigFile })},
	{name: "objstore.config", value: variable(objectStorageVar, (*Owner).objectStorageSecret)},
	{name: "tsdb.path", value: func(o *Owner) (string, bool) { return storageDir, o.objectStorage() }},
	{name: "shipper.meta-file-name",
		value: func(o *Owner) (string, bool) { return shipperFile, o.compactionIs(compactionDelayed) }},
	{name: "shipper.ignore-unequal-block-size",
		value: flagIf(func(o *Owner) bool { return o.compactionIs(compactionDelayed) })},
	{name: "tracing.config-file", value: nonEmpty(func(o *Owner) string { return o.thanos().TracingConfigFile })},
	{name: "tracing.config", value: variable(thanosTracingVar, (*Owner).tracingSecret)},
	// Unlike the server's, these are written even when they are the default.
	{name: "log.level", value: nonEmpty(func(o *Owner) string { return first(o.thanos().LogLevel, o.common.LogLevel) })},
	{name: "log.format", value: nonEmpty(func(o *Owner) string { return first(o.thanos().LogFormat, o.common.LogFormat) })},
	{name: "min-time", value: nonEmpty(func(o *Owner) string { return o.thanos().MinTime })},
	{name: "prometheus.ready_timeout", value: nonEmpty(func(o *Owner) v1.Duration { return o.thanos().ReadyTimeout })},
	{name: "prometheus.get_config_timeout", in: versions{since: "0.29.0"}, field: "spec.thanos.getConfigTimeout",
		value: nonEmpty(func(o *Owner) v1.Duration { return o.thanos().GetConfigTimeout })},
	{name: "prometheus.get_config_interval", in: versions{since: "0.29.0"}, field: "spec.thanos.getConfigInterval",
		value: nonEmpty(func(o *Owner) v1.Duration { return o.thanos().GetConfigInterval })},
	{name: "prometheus.http-client-file", in: thanosWithClientFile,
		value: always[*Owner](thanosClientDir + "/" + thanosClientFile)},
}

var thanosTLSVersions = map[v1.TLSVersion]string{
	v1.TLSVersion10: "1.0", v1.TLSVersion11: "1.1", v1.TLSVersion12: "1.2", v1.TLSVersion13: "1.3",
}

func (o *Owner) thanosContainer() (corev1.Container, error) {
	t := o.thanos()
	image, err := o.thanosImage()
	if err != nil {
		return corev1.Container{}, fmt.Errorf("image of %s: %w", containerThanos, err)
	}
	own, _ := fill(thanosArgs, o.thanosVersion, o)
	args, err := appendUser("spec.thanos.additionalArgs", own, userArgs(t.AdditionalArgs))
	if err != nil {
		return corev1.Container{}, err
	}
	c := operatorContainer(containerThanos, image, o.common.ImagePullPolicy)
	c.Args = append([]string{"sidecar"}, render(args)...)
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
		c.VolumeMounts = append(c.VolumeMounts, o.dataMount())
	}
	if o.thanosClientFile() {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: thanosClientVolume, MountPath: thanosClientDir})
	}
	return c, nil
}

// thanosImage takes the version as it is written: "0.40.0" has no "v" in its tag.
func (o *Owner) thanosImage() (string, error) {
	t := o.thanos()
	return Image{
		Explicit: t.Image,
		Base:     first(t.BaseImage, o.cfg.ThanosBaseImage),
		Version:  first(t.Version, DefaultThanosVersion),
		Tag:      t.Tag,
		SHA:      t.SHA,
	}.Path()
}

func (o *Owner) grpcTLS() v1.GRPCServerTLSConfig {
	if o.thanos().GRPCServerTLSConfig == nil {
		return v1.GRPCServerTLSConfig{}
	}
	return *o.thanos().GRPCServerTLSConfig
}

// objectStorageSecret and tracingSecret are nil where a file is used instead.

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

// thanosClientFile reports whether the sidecar gets the file with which it
// talks to Prometheus.
func (o *Owner) thanosClientFile() bool {
	return o.thanos() != nil && thanosWithClientFile.has(o.thanosVersion)
}

// variable passes the content of a Secret by an environment variable.
func variable(name string, secret func(*Owner) *corev1.SecretKeySelector) func(*Owner) (string, bool) {
	return func(o *Owner) (string, bool) { return "$(" + name + ")", secret(o) != nil }
}

func thanosAddress(port int, local bool) string {
	if local {
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
	return fmt.Sprintf(":%d", port)
}

// first is the first string that is not empty.
func first(candidates ...string) string {
	for _, s := range candidates {
		if s != "" {
			return s
		}
	}
	return ""
}
