package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

const (
	loopback = "127.0.0.1"
	// The node's address if the machine has none (TEST-NET-2, never routed).
	spareInterface = "firekeeper0"
	spareIP        = "198.51.100.10"
)

// chooseNodeIP sets the address for pods and for the API server's Service. A kubelet rejects a loopback address, so
// a machine without a network gets an unconnected interface.
func (c *Cluster) chooseNodeIP() error {
	c.state.NodeIP = loopback
	if c.state.Node {
		ip, err := defaultRouteIP("/proc/net/route")
		if err != nil {
			return err
		}
		if ip == "" {
			if err := c.makeBridge(context.Background(), spareInterface, spareIP+"/32"); err != nil {
				return err
			}
			ip = spareIP
		}
		c.state.NodeIP = ip
	}
	return nil
}

// defaultRouteIP returns the IPv4 address of the interface with the default route, or "" if there is none.
func defaultRouteIP(routes string) (string, error) {
	content, err := os.ReadFile(routes)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read routes: %w", err)
	}
	name := defaultInterface(string(content))
	if name == "" {
		return "", nil
	}
	iface, err := net.InterfaceByName(name)
	if err != nil {
		return "", fmt.Errorf("interface of the default route: %w", err)
	}
	addrs, err := iface.Addrs()
	if err != nil {
		return "", fmt.Errorf("addresses of %s: %w", name, err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "", nil
}

// defaultInterface returns the interface of the default route in the format of /proc/net/route: destination and mask
// are zero.
func defaultInterface(routes string) string {
	for line := range strings.Lines(routes) {
		f := strings.Fields(line)
		if len(f) >= 8 && f[1] == "00000000" && f[7] == "00000000" && f[0] != "lo" {
			return f[0]
		}
	}
	return ""
}

// makeBridge creates an interface with an address. It is a bridge without ports, because not every kernel has the
// dummy driver.
func (c *Cluster) makeBridge(ctx context.Context, name, cidr string) error {
	if _, err := net.InterfaceByName(name); err == nil {
		return fmt.Errorf("network interface %s exists already", name)
	}
	c.state.Interfaces = append(c.state.Interfaces, name)
	if err := c.state.save(); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "add", name, "type", "bridge"},
		{"addr", "add", cidr, "dev", name},
		{"link", "set", name, "up"},
	} {
		if _, err := run(ctx, nil, "ip", args...); err != nil {
			return fmt.Errorf("make interface %s: %w", name, err)
		}
	}
	return nil
}

// removeInterface removes an interface and the ports that are attached to it.
func removeInterface(name string) error {
	if _, err := net.InterfaceByName(name); err != nil {
		return nil // already removed
	}
	ctx := context.Background()
	ports, err := run(ctx, nil, "ip", "-o", "link", "show", "master", name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(ports)) {
		if f := strings.Fields(line); len(f) > 1 {
			port, _, _ := strings.Cut(strings.TrimSuffix(f[1], ":"), "@")
			_, _ = run(ctx, nil, "ip", "link", "del", port) // best effort, it is removed with its network namespace anyway
		}
	}
	_, err = run(ctx, nil, "ip", "link", "del", name)
	return err
}

// run runs a program and returns its standard output.
func run(ctx context.Context, stdin []byte, name string, args ...string) ([]byte, error) {
	path, err := findCommand(name)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = childEnv(os.Environ())
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
