package main

import (
	"os"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// TestReadme applies the first Prometheus of the README to an API server, and asks
// whether its ServiceAccount may look for what it would discover.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "## A first Prometheus")
	_, text, fenced := strings.Cut(text, "```yaml\n")
	text, _, closed := strings.Cut(text, "```")
	if !found || !fenced || !closed {
		t.Fatal("the README has no first Prometheus")
	}
	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	if out, err := c.KubectlInput(t.Context(), []byte(text), "apply", "--validate=strict", "-f", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, resource := range []string{"services", "endpoints", "pods"} {
		for _, verb := range []string{"get", "list", "watch"} {
			out, err := c.Kubectl(t.Context(), "auth", "can-i", verb, resource, "-n", "demo", "--as=system:serviceaccount:demo:prometheus")
			if err != nil || strings.TrimSpace(string(out)) != "yes" {
				t.Errorf("%s %s: %s %v", verb, resource, out, err)
			}
		}
	}
	if out, _ := c.Kubectl(t.Context(), "auth", "can-i", "delete", "pods", "-n", "demo", "--as=system:serviceaccount:demo:prometheus"); strings.TrimSpace(string(out)) != "no" {
		t.Errorf("it may delete pods: %s", out)
	}
	if out, err := c.Kubectl(t.Context(), "delete", "namespace", "demo", "--wait=false"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
