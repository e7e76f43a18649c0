package clientconfig

import (
	"errors"
	"fmt"
	"path"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TLSConfig is a tls_config block. Files from references come first, plain paths last.
type TLSConfig struct {
	// InsecureSkipVerify disables verification of the server's certificate.
	InsecureSkipVerify *bool `yaml:"insecure_skip_verify,omitempty"`
	// CAAsset is the path of a CA bundle in the assets volume.
	CAAsset string `yaml:"ca_file,omitempty"`
	// CertAsset is the path of a client certificate in the assets volume.
	CertAsset string `yaml:"cert_file,omitempty"`
	// KeyAsset is the path of a client key in the assets volume.
	KeyAsset string `yaml:"key_file,omitempty"`
	// ServerName overrides the host name in the verification of the server's certificate.
	ServerName string `yaml:"server_name,omitempty"`
	// MinVersion is "TLS10" to "TLS13".
	MinVersion v1.TLSVersion `yaml:"min_version,omitempty" since:"2.35.0,alertmanager=0.25.0,thanos=0.28.0"`
	// MaxVersion is "TLS10" to "TLS13".
	MaxVersion v1.TLSVersion `yaml:"max_version,omitempty" since:"2.41.0,alertmanager=0.25.0,thanos=0.30.0"`
	// CAFile is a path in the container, as the user set it.
	CAFile string `yaml:"ca_file,omitempty" again:"plain paths come last"`
	// CertFile is a path in the container, as the user set it.
	CertFile string `yaml:"cert_file,omitempty" again:"plain paths come last"`
	// KeyFile is a path in the container, as the user set it.
	KeyFile string `yaml:"key_file,omitempty" again:"plain paths come last"`
}

// NewTLSConfig converts t for references in namespace; it reads nothing.
//
// dir: the mount path of TLS assets in the containers.
func NewTLSConfig(t *v1.TLSConfig, dir, namespace string) *TLSConfig {
	if t == nil {
		return nil
	}
	return &TLSConfig{
		InsecureSkipVerify: t.InsecureSkipVerify,
		CAAsset:            assetPath(t.CA, dir, namespace),
		CertAsset:          assetPath(t.Cert, dir, namespace),
		KeyAsset:           assetPath(v1.SecretOrConfigMap{Secret: t.KeySecret}, dir, namespace),
		ServerName:         t.ServerName,
		MinVersion:         t.MinVersion,
		MaxVersion:         t.MaxVersion,
		CAFile:             t.CAFile,
		CertFile:           t.CertFile,
		KeyFile:            t.KeyFile,
	}
}

func assetPath(ref v1.SecretOrConfigMap, dir, namespace string) string {
	switch {
	case ref.Secret != nil:
		return path.Join(dir, assets.FileName(assets.Secret, namespace, ref.Secret.Name, ref.Secret.Key))
	case ref.ConfigMap != nil:
		return path.Join(dir, assets.FileName(assets.ConfigMap, namespace, ref.ConfigMap.Name, ref.ConfigMap.Key))
	}
	return ""
}

// FullTLS converts a block without file paths to one with them.
func FullTLS(t *v1.SafeTLSConfig) *v1.TLSConfig {
	if t == nil {
		return nil
	}
	return &v1.TLSConfig{SafeTLSConfig: *t}
}

// CheckTLS checks the rules that do not depend on the cluster.
func CheckTLS(t *v1.TLSConfig) error {
	if t == nil {
		return nil
	}
	hasCA, hasCert := IsSet(t.CA), IsSet(t.Cert)
	switch {
	case t.CA.Secret != nil && t.CA.ConfigMap != nil:
		return faults.At("ca", Exclusive("secret", "configMap"))
	case t.Cert.Secret != nil && t.Cert.ConfigMap != nil:
		return faults.At("cert", Exclusive("secret", "configMap"))
	case t.MaxVersion != "" && t.MinVersion != "" && t.MaxVersion < t.MinVersion:
		return faults.At("maxVersion", fmt.Errorf("%q is below minVersion %q", t.MaxVersion, t.MinVersion))
	case hasCA && t.CAFile != "":
		return Exclusive("ca", "caFile")
	case hasCert && t.CertFile != "":
		return Exclusive("cert", "certFile")
	case t.KeySecret != nil && t.KeyFile != "":
		return Exclusive("keySecret", "keyFile")
	}
	cert, key := hasCert || t.CertFile != "", t.KeySecret != nil || t.KeyFile != ""
	switch {
	case cert && !key:
		return errors.New("a certificate needs a key: set keySecret")
	case key && !cert:
		return errors.New("a key needs a certificate: set cert")
	}
	return nil
}

// IsSet reports whether the reference is set.
func IsSet(ref v1.SecretOrConfigMap) bool { return ref.Secret != nil || ref.ConfigMap != nil }

// TLS validates and converts t, and registers the files it refers to.
func (r *Resolver) TLS(t *v1.TLSConfig) (*TLSConfig, error) {
	if t == nil {
		return nil, nil
	}
	if err := CheckTLS(t); err != nil {
		return nil, err
	}
	ca, err := r.either(t.CA)
	if err != nil {
		return nil, faults.At("ca", err)
	}
	cert, err := r.either(t.Cert)
	if err != nil {
		return nil, faults.At("cert", err)
	}
	key, err := r.Secret(t.KeySecret)
	if err != nil {
		return nil, faults.At("keySecret", err)
	}
	if ca != "" {
		if err := assets.CheckCertificate(ca); err != nil {
			return nil, faults.At("ca", err)
		}
	}
	if cert != "" && key != "" {
		if err := assets.CheckKeyPair(cert, key); err != nil {
			return nil, faults.At("cert", err)
		}
	}
	for _, asset := range []struct {
		field string
		ref   v1.SecretOrConfigMap
		text  string
	}{{"ca", t.CA, ca}, {"cert", t.Cert, cert}, {"keySecret", v1.SecretOrConfigMap{Secret: t.KeySecret}, key}} {
		if IsSet(asset.ref) && asset.text == "" {
			return nil, faults.At(asset.field, errors.New("the value is empty"))
		}
		if err := r.addFile(asset.ref, asset.text); err != nil {
			return nil, faults.At(asset.field, err)
		}
	}
	return NewTLSConfig(t, r.dir, r.Namespace()), nil
}

func (r *Resolver) addFile(ref v1.SecretOrConfigMap, text string) error {
	switch {
	case ref.Secret != nil:
		return r.AddFile(assets.Secret, ref.Secret.Name, ref.Secret.Key, text)
	case ref.ConfigMap != nil:
		return r.AddFile(assets.ConfigMap, ref.ConfigMap.Name, ref.ConfigMap.Key, text)
	}
	return nil
}
