package workload

import (
	"errors"
	"fmt"
	"path"

	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

const (
	clusterTLSVolume = "cluster-tls-config"
	clusterTLSKey    = "cluster-tls-config.yaml"
)

// ClusterTLS is the TLS configuration for connections between the members of a cluster:
// the configuration file and its certificates.
type ClusterTLS struct {
	// Dir is the directory in the containers: "/etc/alertmanager/cluster_tls_config".
	Dir string
	// SecretName is the Secret that contains the file.
	SecretName string
	// Fields is spec.clusterTLS of the object; nil means an empty file.
	Fields *v1.ClusterTLSConfig
}

// Path returns the path of the file in the containers.
func (c ClusterTLS) Path() string { return path.Join(c.Dir, clusterTLSKey) }

// clusterFile is the content of the file. The order of the fields is the output order.
type clusterFile struct {
	Server clusterServerBlock `yaml:"tls_server_config"`
	Client clientTLSBlock     `yaml:"tls_client_config"`
}

// clusterServerBlock has the fields of [serverTLSBlock] in the order in which the reference writes them here.
type clusterServerBlock struct {
	KeyFile           string `yaml:"key_file,omitempty"`
	CertFile          string `yaml:"cert_file,omitempty"`
	serverTLSSettings `yaml:",inline"`
}

// clientTLSBlock configures outgoing connections. It has no TLS versions, because the program ignores them.
type clientTLSBlock struct {
	KeyFile            string `yaml:"key_file,omitempty"`
	CertFile           string `yaml:"cert_file,omitempty"`
	CAFile             string `yaml:"ca_file,omitempty"`
	ServerName         string `yaml:"server_name,omitempty"`
	InsecureSkipVerify *bool  `yaml:"insecure_skip_verify,omitempty"`
}

// Check validates the fields and returns all errors.
func (c ClusterTLS) Check() error {
	if c.Fields == nil {
		return nil
	}
	client := &c.Fields.Client
	err := checkServerTLS("spec.clusterTLS.server", &c.Fields.Server)
	bad := func(text string) { err = errors.Join(err, faults.At("spec.clusterTLS.client", errors.New(text))) }
	for field, ref := range map[string]v1.SecretOrConfigMap{"ca": client.CA, "cert": client.Cert} {
		if ref.Secret != nil && ref.ConfigMap != nil {
			bad(field + " names both a Secret and a ConfigMap")
		}
	}
	if !refers(client.Cert) {
		bad("no certificate: set cert")
	}
	if !refers(secretRef(client.KeySecret)) {
		bad("no private key: set keySecret")
	}
	if low, high := client.MinVersion, client.MaxVersion; low != "" && high != "" && high < low {
		bad(fmt.Sprintf("maxVersion %q is below minVersion %q", high, low))
	}
	return err
}

// File returns the content of the file, which is empty if nothing is set.
//
// Errors: those of Check.
func (c ClusterTLS) File() ([]byte, error) {
	if err := c.Check(); err != nil || c.Fields == nil {
		return []byte{}, err
	}
	mounted, client := c.mounted()
	server := serverTLS(&c.Fields.Server, mounted)
	out, err := yaml.Marshal(clusterFile{
		Server: clusterServerBlock{KeyFile: server.KeyFile, CertFile: server.CertFile, serverTLSSettings: server.serverTLSSettings},
		Client: clientTLSBlock{
			KeyFile: client.key.path(), CertFile: client.cert.path(), CAFile: client.ca.path(),
			ServerName: c.Fields.Client.ServerName, InsecureSkipVerify: c.Fields.Client.InsecureSkipVerify,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("spec.clusterTLS: encode: %w", err)
	}
	return out, nil
}

// Mounts returns the volumes of the pod and the mounts of the server: the file, then the
// references of the server and the client side. The file is mounted with a subPath and
// only changes with the pod.
func (c ClusterTLS) Mounts() ([]corev1.Volume, []corev1.VolumeMount) {
	volumes := []corev1.Volume{{
		Name:         clusterTLSVolume,
		VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: c.SecretName}},
	}}
	mounts := []corev1.VolumeMount{{Name: clusterTLSVolume, MountPath: c.Path(), SubPath: clusterTLSKey, ReadOnly: true}}
	server, client := c.mounted()
	for _, side := range []mountedTLS{server, client} {
		v, m := side.mounts()
		volumes, mounts = append(volumes, v...), append(mounts, m...)
	}
	return volumes, mounts
}

func (c ClusterTLS) mounted() (server, client mountedTLS) {
	if c.Fields == nil {
		return server, client
	}
	t := &c.Fields.Client
	return mountServerTLS(&c.Fields.Server, "cluster-tls-server-config-", path.Join(c.Dir, "server_tls")),
		mountTLS("cluster-tls-client-config-", path.Join(c.Dir, "client_tls"), secretRef(t.KeySecret), t.Cert, t.CA)
}

// NewClusterTLSSecret returns the Secret with the file, which is empty without
// spec.clusterTLS.
//
// Errors: those of [ClusterTLS.Check].
func (b *Base) NewClusterTLSSecret(c ClusterTLS) (*corev1.Secret, error) {
	file, err := c.File()
	if err != nil {
		return nil, err
	}
	return b.Secret(c.SecretName, map[string][]byte{clusterTLSKey: file}), nil
}
