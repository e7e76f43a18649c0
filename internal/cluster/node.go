package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
)

// nodePorts are the fixed ports on a node: kubelet (API, health), kube-proxy (metrics, health), and those of programs
// that are scraped: kube-controller-manager, kube-scheduler, CoreDNS.
var nodePorts = []int{10250, 10248, 10249, 10256, 10257, 10259, 9153}

const (
	kubeletHealth = "http://127.0.0.1:10248/healthz"
	proxyHealth   = "http://127.0.0.1:10256/livez"
)

// node starts the components that run pods. The control plane is ready.
func (c *Cluster) node(ctx context.Context) error {
	if err := c.prepareMachine(ctx); err != nil {
		return err
	}
	config, err := c.nodeConfig(ctx)
	if err != nil {
		return err
	}
	if err := config.write(); err != nil {
		return err
	}
	if err := c.startRuntime(ctx); err != nil {
		return err
	}
	if err := c.LoadPrograms(ctx, pauseImage, "pause"); err != nil {
		return err
	}
	if err := c.startAgents(ctx); err != nil {
		return err
	}
	return c.awaitNode(ctx, config.ReadyPort)
}

// prepareMachine records the changes that the node makes on the machine, then creates the bridge and configures the
// kernel.
func (c *Cluster) prepareMachine(ctx context.Context) error {
	if err := noForeignNode(ctx); err != nil {
		return err
	}
	if len(podProcesses()) > 0 {
		return fmt.Errorf("containers of another Kubernetes node run on this machine (cgroup %s)", podCgroup)
	}
	c.state.Fresh = missingFolders(hostFolders)
	if err := c.setSysctls(ctx); err != nil {
		return err
	}
	if err := c.shareMounts(); err != nil {
		return err
	}
	return c.makeBridge(ctx, bridge, bridgeIP+"/24")
}

// nodeConfig returns a configuration for the capabilities of the machine.
func (c *Cluster) nodeConfig(ctx context.Context) (nodeConfig, error) {
	n := nodeConfig{
		Dir: c.Dir, RunDir: runDir, NodeName: nodeName, PodCIDR: podCIDR, Bridge: bridge, BridgeIP: bridgeIP,
		Network: networkName, Domain: clusterDomain, Pause: pauseImage,
		Snapshotter: snapshotter(c.Dir), Forward: hasNameServer("/etc/resolv.conf"),
	}
	c.state.Snapshots = n.Snapshotter
	lease, err := ports.Take(1)
	if err != nil {
		return n, err
	}
	defer lease.Release()
	n.ReadyPort = lease.Ports[0]
	if n.CNIBin, err = cniFolder(); err != nil {
		return n, err
	}
	return n, errors.Join(cgroupsMounted(), ctx.Err())
}

func (c *Cluster) startRuntime(ctx context.Context) error {
	if _, err := c.start("containerd", "--config", filepath.Join(c.Dir, "containerd.toml")); err != nil {
		return err
	}
	return c.await(ctx, "containerd ready", time.Minute, func(ctx context.Context) error {
		_, err := c.ctr(ctx, "version")
		return err
	})
}

// startAgents starts the programs that connect to the API server.
func (c *Cluster) startAgents(ctx context.Context) error {
	if _, err := c.KubectlInput(ctx, render("coredns-rbac.yaml", nil), "apply", "-f", "-"); err != nil {
		return err
	}
	for _, p := range []struct {
		name string
		args []string
	}{
		{"kube-scheduler", schedulerArgs(c.Dir)},
		{"kubelet", kubeletArgs(c.Dir, c.NodeIP)},
		{"kube-proxy", proxyArgs(c.Dir, !bridgeFiltered())},
		{"coredns", []string{"-conf", filepath.Join(c.Dir, "Corefile")}},
	} {
		if _, err := c.start(p.name, p.args...); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) awaitNode(ctx context.Context, readyPort int) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	defer api.close()
	for _, step := range []struct {
		what  string
		check func(context.Context) error
	}{
		{"kubelet healthy", healthy(kubeletHealth)},
		{"kube-proxy healthy", healthy(proxyHealth)},
		{"coredns ready", healthy(fmt.Sprintf("http://127.0.0.1:%d/ready", readyPort))},
		{"node ready", api.nodeReady},
	} {
		if err := c.await(ctx, step.what, 90*time.Second, step.check); err != nil {
			return err
		}
	}
	c.state.Ready = true
	return c.state.save()
}

func schedulerArgs(dir string) []string {
	return []string{
		"--kubeconfig=" + filepath.Join(dir, "pki", "kube-scheduler.kubeconfig"),
		"--leader-elect=false",
		"--secure-port=10259",
		"--authentication-kubeconfig=" + filepath.Join(dir, "pki", "kube-scheduler.kubeconfig"),
		"--authorization-kubeconfig=" + filepath.Join(dir, "pki", "kube-scheduler.kubeconfig"),
	}
}

func kubeletArgs(dir, nodeIP string) []string {
	return []string{
		"--config=" + filepath.Join(dir, "kubelet.yaml"),
		"--kubeconfig=" + filepath.Join(dir, "pki", "kubelet.kubeconfig"),
		"--root-dir=" + filepath.Join(dir, "kubelet"),
		"--cert-dir=" + filepath.Join(dir, "pki"),
		"--hostname-override=" + nodeName,
		"--node-ip=" + nodeIP,
	}
}

// proxyArgs returns the flags of kube-proxy. Without br_netfilter, replies between two pods would bypass the NAT of
// Service addresses, so all of them are masqueraded.
func proxyArgs(dir string, masqueradeAll bool) []string {
	args := []string{
		"--kubeconfig=" + filepath.Join(dir, "pki", "kube-proxy.kubeconfig"),
		"--proxy-mode=iptables",
		"--cluster-cidr=" + clusterCIDR,
		"--hostname-override=" + nodeName,
		"--conntrack-max-per-core=0", // keeps the machine's limit
		"--oom-score-adj=0",
	}
	if masqueradeAll {
		args = append(args, "--masquerade-all")
	}
	return args
}

// cniFolder returns the folder of the CNI plugins on Debian or other distributions.
func cniFolder() (string, error) {
	for _, dir := range []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"} {
		if _, err := os.Stat(filepath.Join(dir, "bridge")); err == nil {
			return dir, nil
		}
	}
	return "", errors.New("CNI plugins not found in /usr/lib/cni or /opt/cni/bin")
}

// hasNameServer reports whether a resolv.conf has a name server.
func hasNameServer(file string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "nameserver ") {
			return true
		}
	}
	return false
}
