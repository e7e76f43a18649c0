package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// clusterDir is where the demo keeps its cluster, the same as `make cluster-up`.
const clusterDir = ".cluster"

// place is the Kubernetes that the demo runs on.
type place struct {
	kubectl    string
	kubeconfig string
	own        *cluster.Cluster // nil: somebody else's
	root       string           // working tree
	version    string           // of the working tree
	image, tag string           // where the images are
}

// say prints a line of progress with the time since the start.
func say(format string, args ...any) {
	fmt.Printf("[%5.1fs] %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

var began = time.Now()

// knownPlace says where the demo runs. foreign: on the cluster of KUBECONFIG;
// otherwise on one of its own, which may not be there yet.
func knownPlace(ctx context.Context) (p *place, foreign bool, err error) {
	root, err := programs.Root()
	if err != nil {
		return nil, false, err
	}
	version, err := os.ReadFile(filepath.Join(root, ".version"))
	if err != nil {
		return nil, false, err
	}
	p = &place{root: root, version: strings.TrimSpace(string(version))}
	p.image, p.tag = envOr("IMAGE", "firekeeper"), envOr("TAG", "v"+p.version)
	config := os.Getenv("KUBECONFIG")
	if config == "" || config == filepath.Join(p.dir(), "kubeconfig") {
		return p, false, nil
	}
	found, err := programs.Default(os.Stdout).Find(ctx, "kubectl")
	if err != nil {
		return nil, true, err
	}
	p.kubeconfig, p.kubectl = config, found["kubectl"]
	return p, true, nil
}

func (p *place) dir() string { return filepath.Join(p.root, clusterDir) }

// findPlace is knownPlace with a cluster that runs.
func findPlace(ctx context.Context) (*place, error) {
	p, foreign, err := knownPlace(ctx)
	if err != nil {
		return nil, err
	}
	if foreign {
		say("using the cluster of KUBECONFIG=%s", p.kubeconfig)
		return p, nil
	}
	p.own, err = cluster.Open(p.dir(), os.Stdout)
	if _, no := errors.AsType[*cluster.NotRunningError](err); no {
		say("starting a one-node Kubernetes in %s (building its programs takes some 15 minutes the first time)", p.dir())
		p.own, err = cluster.Start(ctx, cluster.Options{Dir: p.dir(), Node: true, Detach: true, Log: os.Stdout})
	}
	if err != nil {
		return nil, err
	}
	p.kubeconfig, p.kubectl = p.own.Kubeconfig, filepath.Join(p.dir(), "bin", "kubectl")
	return p, nil
}

func envOr(name, fallback string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return fallback
}

// run runs kubectl; its output is part of the error when it fails.
func (p *place) run(ctx context.Context, args ...string) (string, error) {
	return p.feed(ctx, "", args...)
}

// feed is run with standard input.
func (p *place) feed(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return text, nil
}

// loadImages builds the images and makes them known to the node. A cluster of
// somebody else's has to find them in a registry.
func (p *place) loadImages(ctx context.Context) error {
	if p.own == nil {
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
		img := cluster.Image{
			Name: "docker.io/" + p.image + "/" + name + ":" + p.tag, Context: p.root,
			Dockerfile: filepath.Join(p.root, "Dockerfile.reloader"), Args: map[string]string{"RELOADER": name},
		}
		if name == "operator" {
			img.Dockerfile, img.Args = filepath.Join(p.root, "Dockerfile.operator"), nil
		}
		say("loading image %s", img.Name)
		if err := p.own.LoadImage(ctx, img); err != nil {
			return err
		}
	}
	say("loading image %s (built from its Go module, some minutes the first time)", prometheusImage)
	return p.own.LoadPrometheus(ctx, prometheusImage)
}

// prometheusImage is what the examples ask for.
const prometheusImage = "quay.io/prometheus/prometheus:v3.13.2"
