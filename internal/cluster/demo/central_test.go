package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With DEMO_DISCOVERY=central, deploy/ is installed with the component, which is removed at the end.
func TestCentralDiscovery(t *testing.T) {
	s := newStandIns(t, true, map[string]string{"kubectl": "PATH=/usr/bin:/bin; case \"$1\" in kustomize) cat $2/kustomization.yaml;; esac", "kind": "", "docker": "", "make": ""})
	t.Setenv("KUBECONFIG", "/their/config")
	t.Setenv("DEMO_DISCOVERY", "central")
	p := s.place(t)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.root, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := p.manifests(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, `/deploy/components/central-discovery"]`) || strings.Contains(text, `["/`) {
		t.Errorf("kustomization:\n%s", text)
	}
	if err := p.down(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := "kubectl delete --ignore-not-found -f ROOT/deploy/components/central-discovery/rbac.yaml"
	if calls := s.calls(t); calls[len(calls)-1] != last {
		t.Errorf("last call %q, want %q", calls[len(calls)-1], last)
	}

	t.Setenv("DEMO_DISCOVERY", "centrally")
	if _, err := placeIn(p.root); err == nil || err.Error() != "DEMO_DISCOVERY=centrally: want own or central" {
		t.Errorf("error %v", err)
	}
}
