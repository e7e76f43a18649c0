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

// kindCluster is the name of the demo's kind cluster.
const kindCluster = "firekeeper-demo"

// kindConfig returns the path of the kubeconfig of that cluster. Its folder exists from before the creation of
// the cluster until its deletion.
func (p *place) kindConfig() string {
	return filepath.Join(p.root, ".cache", "demo-kind", "kubeconfig")
}

// kindUsable returns the reason why kind cannot be used.
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

// openKind starts the demo's kind cluster, or uses the running one.
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

// kindExists reports whether the demo's kind cluster exists.
func kindExists(ctx context.Context) (bool, error) {
	list, err := command(ctx, "", nil, "kind", "get", "clusters")
	return slices.Contains(strings.Fields(list), kindCluster), err
}

// loadKindImage builds an image with docker and loads it into the kind nodes.
func (p *place) loadKindImage(ctx context.Context, name, dockerfile, folder string, args ...string) error {
	build := append([]string{"build", "--quiet", "--file=" + dockerfile, "--tag=" + name}, args...)
	if _, err := command(ctx, "", nil, "docker", append(build, folder)...); err != nil {
		return err
	}
	_, err := command(ctx, "", nil, "kind", "load", "docker-image", "--name="+kindCluster, name)
	return err
}

// downKind deletes the demo's kind cluster, if it exists.
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
