package workload

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	webConfigVolume = "web-config"
	webConfigKey    = "web-config.yaml"
)

// WebConfig is how a program serves HTTP: its web configuration file and the
// certificates it names.
type WebConfig struct {
	// Dir is the folder inside the containers: "/etc/prometheus/web_config".
	Dir string
	// SecretName is the Secret that carries the file.
	SecretName string
	// Fields are spec.web of the owner; the zero value is an empty file.
	Fields v1.WebConfigFileFields
}

// Path is the file inside the containers.
func (w WebConfig) Path() string { return path.Join(w.Dir, webConfigKey) }

// webFile is the file. Field order is output order.
type webFile struct {
	TLS  *webTLS  `yaml:"tls_server_config,omitempty"`
	HTTP *webHTTP `yaml:"http_server_config,omitempty"`
}

type webTLS struct {
	CertFile                 string   `yaml:"cert_file,omitempty"`
	KeyFile                  string   `yaml:"key_file,omitempty"`
	ClientAuthType           string   `yaml:"client_auth_type,omitempty"`
	ClientCAFile             string   `yaml:"client_ca_file,omitempty"`
	MinVersion               string   `yaml:"min_version,omitempty"`
	MaxVersion               string   `yaml:"max_version,omitempty"`
	CipherSuites             []string `yaml:"cipher_suites,omitempty"`
	PreferServerCipherSuites *bool    `yaml:"prefer_server_cipher_suites,omitempty"`
	CurvePreferences         []string `yaml:"curve_preferences,omitempty"`
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

// File is the content of the web configuration; empty when nothing is set.
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

func (w WebConfig) tls() *webTLS {
	t := w.Fields.TLSConfig
	if t == nil {
		return nil
	}
	out := &webTLS{
		CertFile:                 t.CertFile,
		KeyFile:                  t.KeyFile,
		ClientAuthType:           t.ClientAuthType,
		ClientCAFile:             t.ClientCAFile,
		MinVersion:               t.MinVersion,
		MaxVersion:               t.MaxVersion,
		CipherSuites:             t.CipherSuites,
		PreferServerCipherSuites: t.PreferServerCipherSuites,
		CurvePreferences:         t.CurvePreferences,
	}
	for _, f := range w.tlsFiles() {
		*f.file(out) = path.Join(f.dir, f.key)
	}
	return out
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

// Check says what is wrong with the TLS part, all at once.
func (w WebConfig) Check() error {
	t := w.Fields.TLSConfig
	if t == nil {
		return nil
	}
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("spec.web.tlsConfig: "+format, args...))
	}
	for _, row := range []struct {
		field, fileField, file string
		ref                    v1.SecretOrConfigMap
	}{
		{"keySecret", "keyFile", t.KeyFile, secretRef(t.KeySecret)},
		{"cert", "certFile", t.CertFile, t.Cert},
		{"client_ca", "clientCAFile", t.ClientCAFile, t.ClientCA},
	} {
		if row.ref.Secret != nil && row.ref.ConfigMap != nil {
			bad("%s names both a Secret and a ConfigMap", row.field)
		}
		if row.file != "" && refers(row.ref) {
			bad("%s and %s are mutually exclusive", row.field, row.fileField)
		}
	}
	if t.KeyFile == "" && !refers(secretRef(t.KeySecret)) {
		bad("no private key: set keySecret or keyFile")
	}
	if t.CertFile == "" && !refers(t.Cert) {
		bad("no certificate: set cert or certFile")
	}
	return errors.Join(errs...)
}

// Mounts are the volumes of the pod and the mounts of each container that
// serves HTTP: the file itself, then key, certificate and client CA.
//
// Whole objects are mounted, so that a renewed certificate reaches a running
// pod. The file is a single mount and only changes with the pod.
func (w WebConfig) Mounts() ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := []corev1.Volume{{
		Name:         webConfigVolume,
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: w.SecretName}},
	}}
	mounts := []corev1.VolumeMount{{Name: webConfigVolume, MountPath: w.Path(), SubPath: webConfigKey, ReadOnly: true}}
	for _, f := range w.tlsFiles() {
		volumes = append(volumes, f.volume)
		mounts = append(mounts, corev1.VolumeMount{Name: f.volume.Name, MountPath: f.dir, ReadOnly: true})
	}
	return volumes, mounts
}

// tlsFile is one file that comes from a Secret or ConfigMap.
type tlsFile struct {
	dir, key string
	volume   corev1.Volume
	file     func(*webTLS) *string // where the configuration names it
}

// tlsFiles is the table of such files, only those that are referenced.
func (w WebConfig) tlsFiles() []tlsFile {
	t := w.Fields.TLSConfig
	if t == nil {
		return nil
	}
	var out []tlsFile
	for _, row := range []struct {
		ref          v1.SecretOrConfigMap
		volume, path string
		file         func(*webTLS) *string
	}{
		{secretRef(t.KeySecret), "key", "key", func(t *webTLS) *string { return &t.KeyFile }},
		{t.Cert, "cert", "cert", func(t *webTLS) *string { return &t.CertFile }},
		{t.ClientCA, "client-ca", "ca", func(t *webTLS) *string { return &t.ClientCAFile }},
	} {
		if !refers(row.ref) {
			continue
		}
		f := tlsFile{file: row.file}
		var kind, name string
		if s := row.ref.Secret; s != nil {
			kind, name, f.key = "secret", s.Name, s.Key
			f.volume.Secret = &corev1.SecretVolumeSource{SecretName: name}
		} else {
			c := row.ref.ConfigMap
			kind, name, f.key = "configmap", c.Name, c.Key
			f.volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
		}
		f.volume.Name = uniqueVolumeName("web-config-tls-"+kind+"-"+row.volume+"-", name)
		f.dir = path.Join(w.Dir, kind, name+"-"+row.path)
		out = append(out, f)
	}
	return out
}

func refers(ref v1.SecretOrConfigMap) bool { return ref.Secret != nil || ref.ConfigMap != nil }

// secretRef gives the key, which can only be in a Secret, the form of the
// others. Without a name it refers to nothing.
func secretRef(s *corev1.SecretKeySelector) v1.SecretOrConfigMap {
	if s == nil || s.Name == "" {
		return v1.SecretOrConfigMap{}
	}
	return v1.SecretOrConfigMap{Secret: s}
}

// clientCertsRequired reports whether clients must show a certificate.
func (w WebConfig) clientCertsRequired() bool {
	t := w.Fields.TLSConfig
	return t != nil && (t.ClientAuthType == "RequireAnyClientCert" || t.ClientAuthType == "RequireAndVerifyClientCert")
}
