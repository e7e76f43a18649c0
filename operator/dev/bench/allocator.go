package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
)

// collector is the label of the pods among which the target allocator distributes targets.
const collector = "collector"

// measureAllocator runs the target allocator of the OpenTelemetry operator with the same jobs, and a collector for each
// shard. Only the measurement of latencies requests its lists.
func (d *discovery) measureAllocator(ctx context.Context) (err error) {
	if err := d.collectors(ctx); err != nil {
		return err
	}
	config, err := d.allocatorConfig(ctx)
	if err != nil {
		return err
	}
	address, err := ports.Address()
	if err != nil {
		return err
	}
	before, err := d.controlPlane.load(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	p, err := d.launchAny(d.allocator, address, nil, "--config-file="+config, "--listen-addr="+address, "--kubeconfig-path="+d.controlPlane.Kubeconfig)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := d.allocated(ctx, p); err != nil {
		return fmt.Errorf("%w; the end of its log:\n%s", err, p.tail())
	}
	d.beside("discovery service: complete after the start", fmt.Sprintf("%.1f s", time.Since(began).Seconds()))
	if err := wait(ctx, 15*time.Second); err != nil {
		return err
	}
	now, err := d.controlPlane.load(ctx)
	if err != nil {
		return err
	}
	d.beside("discovery service: watches", fmt.Sprintf("%.0f", now.watches-before.watches))
	d.beside("discovery service: read until it was complete", mb(int(now.bytes-before.bytes)))
	if err := d.consumption(ctx, p, d.beside); err != nil {
		return err
	}
	took, err := d.latencies(ctx, func(job int) string {
		return "http://" + address + "/jobs/" + url.QueryEscape(d.jobName(job)) + "/targets"
	}, following)
	switch {
	case errors.Is(err, errNeverListed):
		d.beside(latencyRow, "more than "+patience.String())
	case err != nil:
		return err
	default:
		d.beside(latencyRow, quantiles(took))
	}
	return nil
}

// collectors creates the pods that get targets.
func (d *discovery) collectors(ctx context.Context) error {
	for n := range d.shards {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", collector, n), Labels: map[string]string{"app": collector}}}
		pod.Spec = corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}}}
		if _, err := d.controlPlane.kube.CoreV1().Pods("firekeeper").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// allocatorConfig writes the configuration of the allocator, with the jobs of an unsharded server that has its own
// discovery, and returns its path.
func (d *discovery) allocatorConfig(ctx context.Context) (string, error) {
	token, err := d.tokenOf(ctx, "", "")
	if err != nil {
		return "", err
	}
	file := filepath.Join(d.dir, "allocator-token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		return "", err
	}
	owner := d.owner("own")
	owner.Spec.Shards = nil
	c := scene.Config{Prometheus: owner, APIServer: d.controlPlane.Host, TokenFile: file, CAFile: d.controlPlane.CAFile}
	for i := range d.jobs {
		c.ServiceMonitors = append(c.ServiceMonitors, d.monitor(i))
	}
	text, err := c.Text()
	if err != nil {
		return "", err
	}
	var jobs struct {
		List []map[string]any `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "$(SHARD)", "0")), &jobs); err != nil {
		return "", err
	}
	out, err := yaml.Marshal(map[string]any{
		"allocation_strategy": "consistent-hashing", "filter_strategy": "relabel-config",
		"collector_namespace": "firekeeper", "collector_selector": map[string]any{"matchLabels": map[string]string{"app": collector}},
		"config": map[string]any{"scrape_configs": jobs.List},
	})
	if err != nil {
		return "", err
	}
	path := filepath.Join(d.dir, "allocator.yaml")
	return path, os.WriteFile(path, out, 0o600)
}

// allocated waits until the allocator has distributed all targets.
func (d *discovery) allocated(ctx context.Context, p *process) error {
	if err := p.answering(ctx, "/livez"); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*patience)
	defer cancel()
	for {
		n := 0
		if err := p.metrics(ctx, map[string]*int{"opentelemetry_allocator_targets_per_collector": &n}); err != nil {
			return err
		}
		if n >= d.jobs*d.endpoints {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d targets: %w", n, err)
		}
	}
}

// errNeverListed means that a change did not come in time.
var errNeverListed = errors.New("the list never has")

// listed waits until a list has a text.
func listed(ctx context.Context, client *http.Client, url, want string) error {
	for began := time.Now(); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if bytes.Contains(body.Bytes(), []byte(want)) {
			return nil
		}
		if time.Since(began) > patience {
			return fmt.Errorf("%s: %w %s: %.200s", url, errNeverListed, want, strings.TrimSpace(body.String()))
		}
		if err := wait(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}
