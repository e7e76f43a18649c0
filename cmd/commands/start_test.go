package commands

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// With an explicit kubeconfig, an unusable home folder is ignored.
func TestKubeconfigNeedsNoHome(t *testing.T) {
	home := clientcmd.RecommendedHomeFile
	t.Cleanup(func() { clientcmd.RecommendedHomeFile = home })
	clientcmd.RecommendedHomeFile = os.DevNull + "/.kube/config"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(`apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://example.org"}}]
users: [{name: u, user: {token: t}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := (&connection{Kubeconfig: path}).restConfig()
	if err != nil || cfg.Host != "https://example.org" {
		t.Errorf("restConfig = %+v, %v", cfg, err)
	}
}
