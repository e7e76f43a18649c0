package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// PortName returns the name of the server's port.
func (b *Base) PortName() string {
	if b.Fields.PortName == "" {
		return "web"
	}
	return b.Fields.PortName
}

// WebPorts returns the HTTP ports of the server's container.
func (b *Base) WebPorts() []corev1.ContainerPort {
	if b.Fields.ListenLocal {
		return nil
	}
	return []corev1.ContainerPort{{Name: b.PortName(), ContainerPort: b.Kind.Port, Protocol: corev1.ProtocolTCP}}
}

// WebConfig returns the HTTP server configuration of the workload.
func (b *Base) WebConfig() WebConfig {
	w := WebConfig{Dir: b.Kind.Web.Dir, SecretName: b.WebConfigSecretName(), Read: b.Err == nil && b.Kind.Web.In.Has(b.Version)}
	if b.Web != nil {
		w.Fields = *b.Web
	}
	return w
}

// Scheme returns the scheme of the server and the reloaders, "http" or "https". If the
// version does not parse, it is "http", and there are no pods.
func (b *Base) Scheme() string { return b.WebConfig().Scheme() }

// WebVolumes returns the volumes and mounts of the web configuration, or none if the
// version does not support it.
func (b *Base) WebVolumes() ([]corev1.Volume, []corev1.VolumeMount) {
	if w := b.WebConfig(); w.Read {
		return w.Mounts()
	}
	return nil, nil
}

// LostWeb returns the parts of the web configuration as dropped if they are set and the version does not support it.
// Other fields of spec.web are arguments.
func (b *Base) LostWeb() []gate.Dropped {
	return slices.Concat(
		b.Kind.Web.In.Lost("spec.web.tlsConfig", b.Web != nil && b.Web.TLSConfig != nil, b.Version),
		b.Kind.Web.In.Lost("spec.web.httpConfig", b.Web != nil && b.Web.HTTPConfig != nil, b.Version),
	)
}

// WebConfigSecret returns the Secret with the web configuration. Its file is empty
// without spec.web.
//
// Errors: spec.web.tlsConfig is incomplete or contradictory.
func (b *Base) WebConfigSecret() (*corev1.Secret, error) {
	file, err := b.WebConfig().File()
	if err != nil {
		return nil, err
	}
	return b.Secret(b.WebConfigSecretName(), map[string][]byte{webConfigKey: file}), nil
}
