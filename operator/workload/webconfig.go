package workload

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	webConfigVolume = "web-config"
	webConfigKey    = "web-config.yaml"
)

// WebConfig is the HTTP server configuration of a program: its web configuration file and
// the certificates that it references.
type WebConfig struct {
	// Dir is the directory in the containers: "/etc/prometheus/web_config".
	Dir string
	// SecretName is the Secret that contains the file.
	SecretName string
	// Fields is spec.web of the object; the zero value means an empty file.
	Fields v1.WebConfigFileFields
	// Read means that the version of the server supports a web configuration file.
	Read bool
}

// TLS reports whether the server uses HTTPS. A version without support for a web
// configuration always uses HTTP.
func (w WebConfig) TLS() bool { return w.Read && w.Fields.TLSConfig != nil }

// Scheme returns the URL scheme of the server: "http" or "https".
func (w WebConfig) Scheme() string {
	if w.TLS() {
		return "https"
	}
	return "http"
}

// HTTP2 returns spec.web.httpConfig.http2, nil if it is not set.
func (w WebConfig) HTTP2() *bool {
	if w.Fields.HTTPConfig == nil {
		return nil
	}
	return w.Fields.HTTPConfig.HTTP2
}

// Listener returns the listener of reloaders, which use the web configuration if serves is set.
func (w WebConfig) Listener(local, serves bool) Listener {
	if !serves {
		return Listener{Local: local}
	}
	return Listener{Local: local, WebConfigFile: w.Path(), TLS: w.TLS(), ClientCerts: w.clientCertsRequired()}
}

// Path returns the path of the file in the containers.
func (w WebConfig) Path() string { return path.Join(w.Dir, webConfigKey) }

// webFile is the content of the file. The order of the fields is the output order.
type webFile struct {
	TLS  *serverTLSBlock `yaml:"tls_server_config,omitempty"`
	HTTP *webHTTP        `yaml:"http_server_config,omitempty"`
}

type webHTTP struct {
	HTTP2   *bool       `yaml:"http2,omitempty"`
	Headers *webHeaders `yaml:"headers,omitempty"`
}

type webHeaders struct {
	ContentSecurityPolicy   string `yaml:"Content-Security-Policy,omitempty"`
	StrictTransportSecurity string `yaml:"Strict-Transport-Security,omitempty"`
	XContentTypeOptions     string `yaml:"X-Content-Type-Options,omitempty"`
	XFrameOptions           string `yaml:"X-Frame-Options,omitempty"`
	XXSSProtection          string `yaml:"X-XSS-Protection,omitempty"`
}

// File returns the content of the web configuration, which is empty if nothing is set.
//
// Errors: those of Check.
func (w WebConfig) File() ([]byte, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	if w.Fields.TLSConfig == nil && w.Fields.HTTPConfig == nil {
		return []byte{}, nil
	}
	out, err := yaml.Marshal(webFile{TLS: w.tls(), HTTP: w.http()})
	if err != nil {
		return nil, fmt.Errorf("spec.web: encode: %w", err)
	}
	return out, nil
}

func (w WebConfig) tls() *serverTLSBlock {
	return serverTLS(w.Fields.TLSConfig, w.mounted())
}

func (w WebConfig) http() *webHTTP {
	h := w.Fields.HTTPConfig
	if h == nil {
		return nil
	}
	out := &webHTTP{HTTP2: h.HTTP2}
	if h.Headers != nil {
		out.Headers = &webHeaders{
			ContentSecurityPolicy:   h.Headers.ContentSecurityPolicy,
			StrictTransportSecurity: h.Headers.StrictTransportSecurity,
			XContentTypeOptions:     strings.ToLower(h.Headers.XContentTypeOptions),
			XFrameOptions:           strings.ToLower(h.Headers.XFrameOptions),
			XXSSProtection:          h.Headers.XXSSProtection,
		}
	}
	return out
}

// Check validates the TLS configuration and returns all errors.
func (w WebConfig) Check() error { return checkServerTLS("spec.web.tlsConfig", w.Fields.TLSConfig) }

// Mounts returns the volumes of the pod and the mounts of each container that serves
// HTTP: the file, then key, certificate and client CA.
//
// Complete objects are mounted, so that running pods get a renewed certificate. The file
// is mounted with a subPath and only changes with the pod.
func (w WebConfig) Mounts() ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := []corev1.Volume{{
		Name:         webConfigVolume,
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: w.SecretName}},
	}}
	mounts := []corev1.VolumeMount{{Name: webConfigVolume, MountPath: w.Path(), SubPath: webConfigKey, ReadOnly: true}}
	v, m := w.mounted().mounts()
	return append(volumes, v...), append(mounts, m...)
}

func (w WebConfig) mounted() mountedTLS {
	return mountServerTLS(w.Fields.TLSConfig, "web-config-tls-", w.Dir)
}

// clientCertsRequired reports whether clients must present a certificate.
func (w WebConfig) clientCertsRequired() bool {
	t := w.Fields.TLSConfig
	return t != nil && slices.Contains([]string{"RequireAnyClientCert", "RequireClientCert", "RequireAndVerifyClientCert"}, t.ClientAuthType)
}
