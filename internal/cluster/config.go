package cluster

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// Addresses and names used by every cluster. Pods are in 10.244.0.0/24, Services in 10.96.0.0/16.
const (
	nodeName      = "firekeeper"
	clusterDomain = "cluster.local"
	podCIDR       = "10.244.0.0/24"
	clusterCIDR   = "10.244.0.0/16"
	serviceCIDR   = "10.96.0.0/16"
	apiServiceIP  = "10.96.0.1"
	bridge        = "cni0"
	bridgeIP      = "10.244.0.1" // also the address of the DNS server
	networkName   = "firekeeper"
	pauseImage    = "firekeeper.local/pause:v1"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Option("missingkey=error").ParseFS(templateFiles, "templates/*"))

// render executes a template. A missing value is a programming error, so it panics.
func render(name string, data any) []byte {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// nodeConfig is the data for the templates of the node's configuration files.
type nodeConfig struct {
	Dir         string // of the cluster
	RunDir      string
	CNIBin      string // folder of the CNI plugins
	Snapshotter string
	NodeName    string
	PodCIDR     string
	Bridge      string
	BridgeIP    string
	Network     string
	Domain      string
	Pause       string
	Forward     bool // forward names outside the cluster to the machine's name servers
	ReadyPort   int  // of CoreDNS
}

// configFiles maps templates to files below the cluster folder.
var configFiles = map[string]string{
	"containerd.toml": "containerd.toml",
	"cni.json":        "cni/10-firekeeper.conflist",
	"kubelet.yaml":    "kubelet.yaml",
	"Corefile":        "Corefile",
}

// write renders all configuration files.
func (n nodeConfig) write() error {
	for name, file := range configFiles {
		path := filepath.Join(n.Dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("make configuration folder: %w", err)
		}
		if err := os.WriteFile(path, render(name, n), 0o644); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
	}
	return nil
}
