package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const sysctlRoot = "/proc/sys"

// watchedSysctls are the kernel settings that this package, kubelet or kube-proxy change. They are restored at the
// end.
var watchedSysctls = []string{
	"net/ipv4/ip_forward",
	"net/ipv4/conf/all/route_localnet",
	"net/bridge/bridge-nf-call-iptables",
	"net/netfilter/nf_conntrack_max",
	"net/netfilter/nf_conntrack_tcp_be_liberal",
	"net/netfilter/nf_conntrack_tcp_timeout_established",
	"net/netfilter/nf_conntrack_tcp_timeout_close_wait",
	"vm/overcommit_memory",
	"vm/panic_on_oom",
	"kernel/panic",
	"kernel/panic_on_oops",
	"kernel/keys/root_maxkeys",
	"kernel/keys/root_maxbytes",
}

// setSysctls saves the settings and enables forwarding.
func (c *Cluster) setSysctls(ctx context.Context) error {
	if !bridgeFiltered() {
		_, _ = run(ctx, nil, "modprobe", "br_netfilter") // best effort, see proxyArgs
	}
	c.state.Sysctls = map[string]string{}
	for _, name := range watchedSysctls {
		if value, err := os.ReadFile(filepath.Join(sysctlRoot, name)); err == nil {
			c.state.Sysctls[name] = strings.TrimSpace(string(value))
		}
	}
	if err := c.state.save(); err != nil {
		return err
	}
	if _, ok := c.state.Sysctls["net/bridge/bridge-nf-call-iptables"]; ok {
		if err := writeSysctl("net/bridge/bridge-nf-call-iptables", "1"); err != nil {
			return err
		}
	}
	return writeSysctl("net/ipv4/ip_forward", "1")
}

func writeSysctl(name, value string) error {
	if err := os.WriteFile(filepath.Join(sysctlRoot, name), []byte(value), 0o644); err != nil {
		return fmt.Errorf("set %s to %s: %w", strings.ReplaceAll(name, "/", "."), value, err)
	}
	return nil
}

// restoreSysctls restores the changed settings.
func restoreSysctls(before map[string]string) error {
	var errs []error
	for name, value := range before {
		now, err := os.ReadFile(filepath.Join(sysctlRoot, name))
		if err == nil && strings.TrimSpace(string(now)) != value {
			errs = append(errs, writeSysctl(name, value))
		}
	}
	return errors.Join(errs...)
}

// bridgeFiltered reports whether the kernel can filter bridged packets with iptables.
func bridgeFiltered() bool {
	_, err := os.Stat(filepath.Join(sysctlRoot, "net/bridge/bridge-nf-call-iptables"))
	return err == nil
}

// podCgroup is the cgroup in which containerd creates the containers of a kubelet without cgroups per pod,
// regardless of the kubelet's own cgroup.
const podCgroup = "k8s.io"

const cgroupMount = "/sys/fs/cgroup"

// cgroupHierarchies returns the root folders of the cgroup hierarchies: one with version 2, one per controller with
// version 1.
func cgroupHierarchies(mount string) []string {
	if _, err := os.Stat(filepath.Join(mount, "cgroup.controllers")); err == nil {
		return []string{mount}
	}
	found, err := filepath.Glob(filepath.Join(mount, "*", "cgroup.procs"))
	if err != nil {
		return nil
	}
	var out []string
	for _, file := range found {
		out = append(out, filepath.Dir(file))
	}
	return out
}

func cgroupsMounted() error {
	if len(cgroupHierarchies(cgroupMount)) == 0 {
		return fmt.Errorf("no cgroups below %s: mount them (mount -t cgroup2 none %s)", cgroupMount, cgroupMount)
	}
	return nil
}

// podProcesses returns the processes in the node's containers.
func podProcesses() []processRecord {
	var out []processRecord
	for _, dir := range podCgroups() {
		procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(procs)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err != nil || pid == 0 {
				continue
			}
			if r, err := record("container process", pid); err == nil && r.alive() {
				out = append(out, r)
			}
		}
	}
	return out
}

// podCgroups returns the node's cgroup folders, children after parents.
func podCgroups() []string {
	var out []string
	for _, h := range cgroupHierarchies(cgroupMount) {
		_ = filepath.WalkDir(filepath.Join(h, podCgroup), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				out = append(out, path)
			}
			return nil
		})
	}
	return out
}

// removeCgroups removes the node's cgroups, which must be empty.
func removeCgroups() error {
	dirs := podCgroups()
	var errs []error
	for i := len(dirs) - 1; i >= 0; i-- {
		if err := os.Remove(dirs[i]); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			errs = append(errs, fmt.Errorf("remove cgroup: %w", err))
		}
	}
	return errors.Join(errs...)
}
