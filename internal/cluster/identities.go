package cluster

import (
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// identity is a user of the API server, with an entry in its token file and a kubeconfig.
type identity struct {
	file   string // kubeconfig, relative to the cluster folder
	user   string
	groups string
}

// The users of the default role bindings of Kubernetes, and the administrator.
var identities = []identity{
	{file: "kubeconfig", user: "admin", groups: "system:masters"},
	{file: "pki/kube-controller-manager.kubeconfig", user: "system:kube-controller-manager"},
	{file: "pki/kube-scheduler.kubeconfig", user: "system:kube-scheduler"},
	{file: "pki/kube-proxy.kubeconfig", user: "system:kube-proxy"},
	{file: "pki/kubelet.kubeconfig", user: "system:node:" + nodeName, groups: "system:nodes"},
	{file: "pki/coredns.kubeconfig", user: "system:coredns"},
}

// writeIdentities creates keys, certificates, tokens and kubeconfigs.
func (c *Cluster) writeIdentities() error {
	pki := filepath.Join(c.Dir, "pki")
	ca, err := newCertAuthority(pki)
	if err != nil {
		return err
	}
	nodeIP := net.ParseIP(c.NodeIP)
	for _, l := range []leaf{
		{
			file: "apiserver", user: "kube-apiserver",
			names: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc." + clusterDomain,
			},
			ips: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.ParseIP(apiServiceIP), nodeIP},
		},
		{file: "apiserver-kubelet", user: "kube-apiserver-kubelet-client", group: "system:masters"},
		{file: "kubelet", user: nodeName, names: []string{nodeName, "localhost"}, ips: []net.IP{net.IPv4(127, 0, 0, 1), nodeIP}},
	} {
		if err := ca.sign(l); err != nil {
			return err
		}
	}
	if _, err := writeKey(filepath.Join(pki, "service-accounts.key")); err != nil {
		return err
	}
	return c.writeTokens()
}

// writeTokens creates a token and a kubeconfig for each identity.
func (c *Cluster) writeTokens() error {
	ca, err := os.ReadFile(filepath.Join(c.Dir, "pki", "ca.crt"))
	if err != nil {
		return fmt.Errorf("read CA: %w", err)
	}
	var tokens strings.Builder
	for _, id := range identities {
		token := newToken()
		if id.user == "admin" {
			c.state.Token = token
		}
		fmt.Fprintf(&tokens, "%s,%s,%s,%q\n", token, id.user, id.user, id.groups)
		config := render("kubeconfig.yaml", map[string]string{
			"Server": c.state.Host, "CA": base64.StdEncoding.EncodeToString(ca), "User": id.user, "Token": token,
		})
		if err := os.WriteFile(filepath.Join(c.Dir, id.file), config, 0o600); err != nil {
			return fmt.Errorf("write kubeconfig: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "pki", "tokens.csv"), []byte(tokens.String()), 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}
