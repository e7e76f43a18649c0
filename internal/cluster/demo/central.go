package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/live"
)

//go:embed central.yaml
var centralShards string

// newPods is the number of pods that are added to the sample.
const newPods = 3

// shardPods are the pods of the Prometheus in central.yaml, in the order of the shards.
var shardPods = []string{"prometheus-shards-0", "prometheus-shards-shard-1-0"}

// centralWished reports whether the demo includes central discovery, which DEMO_DISCOVERY selects.
func centralWished() (bool, error) {
	switch v := cmp.Or(os.Getenv("DEMO_DISCOVERY"), "own"); v {
	case "own", "central":
		return v == "central", nil
	default:
		return false, fmt.Errorf("DEMO_DISCOVERY=%s: want own or central", v)
	}
}

// manifests returns deploy/, with the component central-discovery if it is wished.
func (p *place) manifests(ctx context.Context) (string, error) {
	deploy := filepath.Join(p.root, "deploy")
	if !p.central {
		return p.run(ctx, "kustomize", deploy)
	}
	dir, err := os.MkdirTemp("", "demo-central-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	base, err := relative(dir, deploy)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%q]\ncomponents: [%q]\n",
		base, filepath.Join(base, "components", "central-discovery"))
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return "", err
	}
	return p.run(ctx, "kustomize", dir)
}

// relative returns the path to a folder from another one, with all symbolic links resolved, because kustomize accepts
// no absolute paths.
func relative(from, to string) (string, error) {
	var err error
	for _, path := range []*string{&from, &to} {
		if *path, err = filepath.EvalSymlinks(*path); err != nil {
			return "", err
		}
	}
	return filepath.Rel(from, to)
}

// shards shows that new pods become targets of exactly one shard of a Prometheus that does not discover them itself.
func (p *place) shards(ctx context.Context, proxy *live.Proxy) error {
	if !p.central {
		return nil
	}
	say("applying a Prometheus with two shards and central discovery, and waiting for the pods of both")
	if _, err := p.feed(ctx, centralShards, "apply", "-f", "-"); err != nil {
		return err
	}
	servers := make([]*live.Prometheus, len(shardPods))
	for i, pod := range shardPods {
		if err := p.ready(ctx, pod); err != nil {
			return err
		}
		servers[i] = proxy.Prometheus(namespace, pod, port)
	}
	pods, err := p.samples(ctx)
	if err != nil {
		return err
	}
	if err := p.arrive(ctx, servers, pods); err != nil {
		return err
	}
	say("adding %d pods to the sample", newPods)
	if _, err := p.run(ctx, "-n", namespace, "scale", "deployment/sample", fmt.Sprintf("--replicas=%d", len(pods)+newPods)); err != nil {
		return err
	}
	if _, err := p.run(ctx, "-n", namespace, "rollout", "status", "deployment/sample", "--timeout=3m"); err != nil {
		return err
	}
	more, err := p.samples(ctx)
	if err != nil {
		return err
	}
	for name := range pods {
		delete(more, name)
	}
	return p.arrive(ctx, servers, more)
}

// samples returns the IP addresses of the pods of the sample by name.
func (p *place) samples(ctx context.Context) (map[string]string, error) {
	text, err := p.run(ctx, "-n", namespace, "get", "pods", "-l", "app=sample", "-o", `jsonpath={range .items[*]}{.metadata.name} {.status.podIP}{"\n"}{end}`)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(text) {
		name, ip, _ := strings.Cut(strings.TrimSpace(line), " ")
		if ip != "" {
			out[name] = ip
		}
	}
	return out, nil
}

// arrive waits until each pod is scraped by a shard, and prints by which. It fails if it is scraped by more than one.
func (p *place) arrive(ctx context.Context, servers []*live.Prometheus, pods map[string]string) error {
	waiting := maps.Clone(pods)
	began := time.Now()
	_, err := live.Until(ctx, 3*time.Minute, func(ctx context.Context) (bool, error) {
		of, err := scraped(ctx, servers)
		if err != nil {
			return false, err
		}
		for _, name := range slices.Sorted(maps.Keys(waiting)) {
			shards := of[waiting[name]]
			if len(shards) == 0 {
				continue
			}
			say("pod %s: scraped by shard %d, %.1f s after it was ready", name, shards[0], time.Since(began).Seconds())
			delete(waiting, name)
		}
		if len(waiting) > 0 {
			return false, fmt.Errorf("%d pods are no targets yet", len(waiting))
		}
		for name, ip := range pods {
			if len(of[ip]) != 1 {
				return false, fmt.Errorf("pod %s is scraped by the shards %v", name, of[ip])
			}
		}
		return true, nil
	})
	if err != nil {
		return errors.Join(errors.New("not each pod is a target of exactly one shard"), err)
	}
	say("each of them is a target of exactly one of %d shards", len(servers))
	return nil
}

// scraped returns the shards that scrape an IP address without error.
func scraped(ctx context.Context, servers []*live.Prometheus) (map[string][]int, error) {
	out := map[string][]int{}
	for shard, server := range servers {
		targets, err := server.Targets(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			ip, _, _ := strings.Cut(t.Labels["instance"], ":")
			if t.Health == "up" {
				out[ip] = append(out[ip], shard)
			}
		}
	}
	return out, nil
}
