package cluster

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

// Addresses and names of every cluster. Pods are 10.244.0.0/24, Services 10.96.0.0/16.
const (
	nodeName      = "firekeeper"
	clusterDomain = "cluster.local"
	podCIDR       = "10.244.0.0/24"
	clusterCIDR   = "10.244.0.0/16"
	serviceCIDR   = "10.96.0.0/16"
	apiServiceIP  = "10.96.0.1"
	bridge        = "cni0"
	bridgeIP      = "10.244.0.1" // also the name server's address
	networkName   = "firekeeper"
	pauseImage    = "firekeeper.local/pause:v1"
)

//go:embed templates
var templateFiles embed.FS

var templates = template.Must(template.New("").Option("missingkey=error").ParseFS(templateFiles, "templates/*"))

// render fills a template in. A missing value is a mistake in this package, which every start would meet.
func render(name string, data any) []byte {
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, data); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// nodeConfig is what the node's configuration files are made of.
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
	Forward     bool // names outside the cluster go to the machine's name servers
	ReadyPort   int  // of CoreDNS
}

// configFiles says which template becomes which file below the cluster folder.
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
