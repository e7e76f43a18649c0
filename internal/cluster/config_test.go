package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

func exampleConfig(dir string) nodeConfig {
	return nodeConfig{
		Dir: dir, RunDir: "/run/c", CNIBin: "/usr/lib/cni", Snapshotter: "overlayfs", NodeName: nodeName, PodCIDR: podCIDR,
		Bridge: bridge, BridgeIP: bridgeIP, Network: networkName, Domain: clusterDomain, Pause: pauseImage,
		Forward: true, ReadyPort: 20001,
	}
}

func TestConfigGolden(t *testing.T) {
	golden.Run(t, "testdata/config.txtar", func(_ *testing.T, _ golden.Case, name string) ([]byte, error) {
		switch config := exampleConfig("/srv/c"); name {
		case "kubeconfig.yaml":
			return render(name, map[string]string{
				"Server": "https://127.0.0.1:20000", "CA": "Q0E=", "User": "system:node:x", "Token": "t0",
			}), nil
		case "Corefile.alone":
			config.Forward = false
			return render("Corefile", config), nil
		default:
			return render(name, config), nil
		}
	})
}

func TestConfigFilesAreWellFormed(t *testing.T) {
	dir := t.TempDir()
	if err := exampleConfig(dir).write(); err != nil {
		t.Fatal(err)
	}
	read := func(file string) []byte {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	var kubelet map[string]any
	if err := yaml.Unmarshal(read("kubelet.yaml"), &kubelet); err != nil {
		t.Errorf("kubelet.yaml: %v", err)
	}
	if got := kubelet["podLogsDir"]; got != dir+"/pod-logs" {
		t.Errorf("podLogsDir = %v, is outside the cluster's folder", got)
	}
	var network struct{ Plugins []map[string]any }
	if err := json.Unmarshal(read("cni/10-firekeeper.conflist"), &network); err != nil || len(network.Plugins) != 2 {
		t.Errorf("cni: %d plugins, %v", len(network.Plugins), err)
	}
}

func TestArgumentsFollowTheSize(t *testing.T) {
	alone := apiServerArgs("/c", loopback, 1, 2)
	if !slices.Contains(alone, "--bind-address="+loopback) {
		t.Errorf("a control plane without node listens beyond this machine: %v", alone)
	}
	if node := apiServerArgs("/c", "192.0.2.7", 1, 2); !slices.Contains(node, "--bind-address=0.0.0.0") {
		t.Errorf("pods cannot reach the API server: %v", node)
	}
	if got := serviceAccountArgs(Options{ControllerManager: true}); got != nil {
		t.Errorf("service accounts are not checked although they are made: %v", got)
	}
	if got := serviceAccountArgs(Options{}); len(got) != 1 {
		t.Errorf("pods cannot be created without a service account: %v", got)
	}
	if got := controllerManagerArgs("/c", false); !slices.Contains(got, "--secure-port=0") {
		t.Errorf("two control planes would want the same port: %v", got)
	}
	if got := controllerManagerArgs("/c", true); !slices.Contains(got, "--secure-port=10257") {
		t.Errorf("the controller manager of a node is not scraped: %v", got)
	}
	if got := proxyArgs("/c", true); !slices.Contains(got, "--masquerade-all") {
		t.Errorf("proxyArgs = %v, want --masquerade-all", got)
	}
}

func TestOptionsChecked(t *testing.T) {
	o, err := Options{Dir: "x"}.checked()
	if err != nil || !filepath.IsAbs(o.Dir) || o.Programs == nil {
		t.Errorf("checked = %+v, %v", o, err)
	}
	if os.Geteuid() != 0 {
		t.Skip("the rest needs root")
	}
	if o, err = (Options{Node: true, Dir: "/x"}).checked(); err != nil || !o.ControllerManager {
		t.Errorf("a node comes without controller manager: %v", err)
	}
	_, err = Options{Node: true, Dir: "/" + strings.Repeat("x", maxNodeDir)}.checked()
	if err == nil || !strings.Contains(err.Error(), "longer than 60 bytes") {
		t.Errorf("error = %v, want one about the folder's length", err)
	}
}
