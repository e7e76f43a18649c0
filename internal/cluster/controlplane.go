package cluster

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
)

// controlPlane starts etcd, kube-apiserver and, if requested, kube-controller-manager.
func (c *Cluster) controlPlane(ctx context.Context, o Options) error {
	lease, err := ports.Take(3)
	if err != nil {
		return err
	}
	c.state.ports = lease
	etcd, peer, api := lease.Ports[0], lease.Ports[1], lease.Ports[2]
	c.state.Host, c.state.Etcd = fmt.Sprintf("https://127.0.0.1:%d", api), fmt.Sprintf("http://127.0.0.1:%d", etcd)
	c.state.Programs = c.programs
	if err := c.chooseNodeIP(); err != nil {
		return err
	}
	c.fromState()
	if err := c.writeIdentities(); err != nil {
		return err
	}
	c.Token = c.state.Token
	if err := c.linkKubectl(); err != nil {
		return err
	}
	if _, err := c.start("etcd", append(etcdArgs(c.Dir, etcd, peer), o.EtcdArgs...)...); err != nil {
		return err
	}
	args := append(apiServerArgs(c.Dir, c.NodeIP, etcd, api), serviceAccountArgs(o)...)
	if _, err := c.start("kube-apiserver", append(args, o.APIServerArgs...)...); err != nil {
		return err
	}
	return c.awaitControlPlane(ctx, o)
}

// awaitControlPlane waits until objects can be created in the default namespace. The controller manager is started
// when the API server responds, because its own retries are slower.
func (c *Cluster) awaitControlPlane(ctx context.Context, o Options) error {
	if err := c.awaitAPIServer(ctx); err != nil {
		return err
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	defer api.close()
	if o.ControllerManager {
		if _, err := c.start("kube-controller-manager", controllerManagerArgs(c.Dir, o.Node)...); err != nil {
			return err
		}
		if err := c.await(ctx, "kube-controller-manager ready", time.Minute, func(ctx context.Context) error {
			return cmp.Or(
				api.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default", nil),
				api.get(ctx, "/api/v1/namespaces/default/configmaps/kube-root-ca.crt", nil))
		}); err != nil {
			return err
		}
	}
	if !o.Node {
		c.state.Ready = true
	}
	return c.state.save()
}

// awaitAPIServer waits until the API server serves objects.
func (c *Cluster) awaitAPIServer(ctx context.Context) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	defer api.close()
	return c.await(ctx, "kube-apiserver ready", time.Minute, func(ctx context.Context) error {
		return cmp.Or(api.get(ctx, "/readyz", nil), api.get(ctx, "/api/v1/namespaces/default", nil))
	})
}

// RestartAPIServer kills and restarts the kube-apiserver of a cluster that this process started, and waits until it
// responds.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	restart, err := c.Crash("kube-apiserver")
	if err != nil {
		return err
	}
	return restart(ctx)
}

// Crash kills programs of the control plane of a cluster that this process started. restart starts them again in the
// given order, with the same arguments, and waits until the API server responds.
func (c *Cluster) Crash(names ...string) (restart func(context.Context) error, err error) {
	args := map[string][]string{}
	for _, name := range names {
		if args[name], err = c.crash(name); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		for _, name := range names {
			if _, err := c.start(name, args[name]...); err != nil {
				return err
			}
		}
		return c.awaitAPIServer(ctx)
	}, nil
}

// crash kills a program and returns its arguments.
func (c *Cluster) crash(name string) (args []string, err error) {
	at := slices.IndexFunc(c.running, func(p *process) bool { return p.name == name })
	if at < 0 {
		return nil, &NotRunningError{Dir: c.Dir}
	}
	old := c.running[at]
	for _, r := range c.state.Processes {
		if r.Name == name {
			if err := kill(r); err != nil {
				return nil, err
			}
		}
	}
	<-old.exited
	c.running = slices.Delete(c.running, at, at+1)
	c.state.Processes = slices.DeleteFunc(c.state.Processes, func(r processRecord) bool { return r.Name == name })
	return old.args, nil
}

// linkKubectl creates a link to kubectl in the cluster folder, for users and scripts.
func (c *Cluster) linkKubectl() error {
	bin := filepath.Join(c.Dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return fmt.Errorf("make bin folder: %w", err)
	}
	if err := os.Symlink(c.programs["kubectl"], filepath.Join(bin, "kubectl")); err != nil {
		return fmt.Errorf("link kubectl: %w", err)
	}
	return nil
}

func etcdArgs(dir string, client, peer int) []string {
	clientURL, peerURL := fmt.Sprintf("http://127.0.0.1:%d", client), fmt.Sprintf("http://127.0.0.1:%d", peer)
	return []string{
		"--name=local",
		"--data-dir=" + filepath.Join(dir, "etcd"),
		"--unsafe-no-fsync", // the data need not survive a crash
		"--listen-client-urls=" + clientURL,
		"--advertise-client-urls=" + clientURL,
		"--listen-peer-urls=" + peerURL,
		"--initial-advertise-peer-urls=" + peerURL,
		"--initial-cluster=local=" + peerURL,
		"--log-level=warn",
	}
}

func apiServerArgs(dir, nodeIP string, etcd, port int) []string {
	pki := func(file string) string { return filepath.Join(dir, "pki", file) }
	bind := "0.0.0.0"
	if nodeIP == loopback {
		bind = loopback
	}
	return []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", etcd),
		fmt.Sprintf("--secure-port=%d", port),
		"--bind-address=" + bind,
		"--advertise-address=" + nodeIP,
		"--cert-dir=" + filepath.Join(dir, "pki"),
		"--tls-cert-file=" + pki("apiserver.crt"),
		"--tls-private-key-file=" + pki("apiserver.key"),
		"--client-ca-file=" + pki("ca.crt"),
		"--kubelet-client-certificate=" + pki("apiserver-kubelet.crt"),
		"--kubelet-client-key=" + pki("apiserver-kubelet.key"),
		"--kubelet-preferred-address-types=InternalIP", // the node name does not resolve
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + pki("service-accounts.key"),
		"--service-account-signing-key-file=" + pki("service-accounts.key"),
		"--token-auth-file=" + pki("tokens.csv"),
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceCIDR,
	}
}

// serviceAccountArgs allows pods without a service account if there is no controller to create it.
func serviceAccountArgs(o Options) []string {
	if o.ControllerManager {
		return nil
	}
	return []string{"--disable-admission-plugins=ServiceAccount"}
}

func controllerManagerArgs(dir string, node bool) []string {
	pki := filepath.Join(dir, "pki")
	args := []string{
		"--kubeconfig=" + filepath.Join(pki, "kube-controller-manager.kubeconfig"),
		"--service-account-private-key-file=" + filepath.Join(pki, "service-accounts.key"),
		"--root-ca-file=" + filepath.Join(pki, "ca.crt"),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--cluster-cidr=" + clusterCIDR,
		"--kube-api-qps=200", // the default of 20 delays the start by seconds
		"--kube-api-burst=400",
	}
	if !node {
		return append(args, "--secure-port=0") // several clusters may run side by side
	}
	return append(args, "--secure-port=10257",
		"--authentication-kubeconfig="+filepath.Join(pki, "kube-controller-manager.kubeconfig"),
		"--authorization-kubeconfig="+filepath.Join(pki, "kube-controller-manager.kubeconfig"))
}
