package workload

import corev1 "k8s.io/api/core/v1"

const (
	webPort       = 9090
	webConfigDir  = "/etc/prometheus/web_config"
	webConfigFile = webConfigDir + "/" + webConfigKey

	reloadPath      = "/-/reload"
	runtimeInfoPath = "/api/v1/status/runtimeinfo"
)

func (o *Owner) webConfig() WebConfig {
	w := WebConfig{Dir: webConfigDir, SecretName: o.WebConfigSecretName()}
	if o.common.Web != nil {
		w.Fields = o.common.Web.WebConfigFileFields
	}
	return w
}

// servesTLS reports whether the server answers with HTTPS. A version without a
// web configuration answers with HTTP whatever spec.web says.
func (o *Owner) servesTLS() bool {
	return o.common.Web != nil && o.common.Web.TLSConfig != nil && withWebConfig.has(o.version)
}

// reloadersServeWeb reports whether the reloaders use the web configuration too.
func (o *Owner) reloadersServeWeb() bool {
	return o.daemonSet || o.common.Web != nil && withWebConfig.has(o.version)
}

func (o *Owner) scheme() string {
	if o.servesTLS() {
		return "https"
	}
	return "http"
}

func (o *Owner) portName() string {
	if o.common.PortName == "" {
		return "web"
	}
	return o.common.PortName
}

// webPorts are the ports of the prometheus container.
func (o *Owner) webPorts() []corev1.ContainerPort {
	if o.common.ListenLocal {
		return nil
	}
	return []corev1.ContainerPort{{Name: o.portName(), ContainerPort: webPort, Protocol: corev1.ProtocolTCP}}
}
