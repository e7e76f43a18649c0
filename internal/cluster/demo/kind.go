package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// kindCluster is the name of the demo's cluster in kind.
const kindCluster = "firekeeper-demo"

// kindConfig is the kubeconfig of that cluster. It is there from before the cluster is made until it is deleted.
func (p *place) kindConfig() string {
	return filepath.Join(p.root, ".cache", "demo-kind", "kubeconfig")
}

// kindUsable says what keeps kind from working.
func (p *place) kindUsable() error {
	switch {
	case !onPath("kind"):
		return errors.New("kind is not on PATH; the demo needs it for its cluster " + kindCluster)
	case !onPath("docker"):
		return errors.New("kind is on PATH, but docker is not: the demo builds its images with docker. Install docker, or set " +
			"DEMO_ON=node for a Kubernetes node on this machine (Linux, root)")
	}
	return nil
}

// openKind starts the demo's cluster in kind, or takes the one that runs.
func (p *place) openKind(ctx context.Context) (err error) {
	if _, err := command(ctx, "", nil, "docker", "version", "--format={{.Server.Version}}"); err != nil {
		return fmt.Errorf("kind needs a running docker: %w", err)
	}
	if p.kubectl, err = findKubectl(ctx); err != nil {
		return err
	}
	p.kubeconfig = p.kindConfig()
	if err := os.MkdirAll(filepath.Dir(p.kubeconfig), 0o755); err != nil {
		return err
	}
	exists, err := kindExists(ctx)
	if err != nil {
		return err
	}
	if exists {
		say("using the cluster %s of kind", kindCluster)
		_, err = command(ctx, "", nil, "kind", "export", "kubeconfig", "--name="+kindCluster, "--kubeconfig="+p.kubeconfig)
		return err
	}
	say("starting the cluster %s in kind", kindCluster)
	_, err = command(ctx, "", nil, "kind", "create", "cluster", "--name="+kindCluster, "--kubeconfig="+p.kubeconfig, "--wait=3m")
	return err
}

// kindExists reports whether kind has the demo's cluster.
func kindExists(ctx context.Context) (bool, error) {
	list, err := command(ctx, "", nil, "kind", "get", "clusters")
	return slices.Contains(strings.Fields(list), kindCluster), err
}

// loadKindImage builds an image with docker and makes it known to the nodes of kind.
func (p *place) loadKindImage(ctx context.Context, name, dockerfile, folder string, args ...string) error {
	build := append([]string{"build", "--quiet", "--file=" + dockerfile, "--tag=" + name}, args...)
	if _, err := command(ctx, "", nil, "docker", append(build, folder)...); err != nil {
		return err
	}
	_, err := command(ctx, "", nil, "kind", "load", "docker-image", "--name="+kindCluster, name)
	return err
}

// downKind deletes the demo's cluster in kind, if there is one.
func (p *place) downKind(ctx context.Context) error {
	if _, err := os.Stat(filepath.Dir(p.kindConfig())); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	say("deleting the cluster %s of kind", kindCluster)
	if _, err := command(ctx, "", nil, "kind", "delete", "cluster", "--name="+kindCluster, "--kubeconfig="+p.kindConfig()); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Dir(p.kindConfig()))
}
