package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

const (
	// Images in the examples.
	prometheusImage   = "quay.io/prometheus/prometheus:v3.13.2"
	alertmanagerImage = "quay.io/prometheus/alertmanager:v0.33.1"
	// The image of the webhook receiver.
	webhookImage = "firekeeper.local/webhook:demo"
)

// ownNodes reports whether images can be loaded into the nodes. Otherwise they are pulled from a registry.
func (p *place) ownNodes() bool { return p.on != given }

// loadImages builds the images and loads them into the nodes. An existing cluster pulls them from a registry
// instead.
func (p *place) loadImages(ctx context.Context) error {
	if !p.ownNodes() {
		say("expecting the images %s/{operator,config-reloader,rules-reloader}:%s in a registry", p.image, p.tag)
		return nil
	}
	say("building the programs")
	build := exec.CommandContext(ctx, "make", "image-files")
	build.Dir, build.Stdout, build.Stderr = p.root, os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("make image-files: %w", err)
	}
	for _, name := range []string{"operator", "config-reloader", "rules-reloader"} {
		if err := p.loadImage(ctx, name); err != nil {
			return err
		}
	}
	if p.on == kind {
		return p.loadKindWebhook(ctx) // the images of Prometheus and Alertmanager are pulled
	}
	say("loading images %s and %s (built from their Go modules, some minutes the first time)", prometheusImage, alertmanagerImage)
	if err := p.node.LoadPrometheus(ctx, prometheusImage); err != nil {
		return err
	}
	if err := p.node.LoadAlertmanager(ctx, alertmanagerImage); err != nil {
		return err
	}
	return p.node.LoadPrograms(ctx, webhookImage, "webhook")
}

// loadImage builds and loads the image of one of the project's programs.
func (p *place) loadImage(ctx context.Context, program string) error {
	img := cluster.Image{
		Name: "docker.io/" + p.image + "/" + program + ":" + p.tag, Context: p.root,
		Dockerfile: filepath.Join(p.root, "Dockerfile.reloader"), Args: map[string]string{"RELOADER": program},
	}
	if program == "operator" {
		img.Dockerfile, img.Args = filepath.Join(p.root, "Dockerfile.operator"), map[string]string{}
	}
	say("loading image %s", img.Name)
	if p.on == node {
		return p.node.LoadImage(ctx, img)
	}
	args := []string{"--build-arg=TARGETARCH=" + runtime.GOARCH}
	if img.Args["RELOADER"] != "" {
		args = append(args, "--build-arg=RELOADER="+program)
	}
	return p.loadKindImage(ctx, img.Name, img.Dockerfile, img.Context, args...)
}

// loadKindWebhook builds the image of the webhook receiver and loads it into kind.
func (p *place) loadKindWebhook(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "demo-webhook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := cluster.WriteImageContext(ctx, programs.Default(os.Stdout), dir, "webhook"); err != nil {
		return err
	}
	say("loading image %s", webhookImage)
	return p.loadKindImage(ctx, webhookImage, filepath.Join(dir, "Dockerfile"), dir)
}
