package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/live"
)

const (
	namespace = "demo"
	pod       = "prometheus-demo-0"
	port      = 9090
)

// up runs the demo step by step.
func up(ctx context.Context) error {
	p, err := findPlace(ctx)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{p.loadImages, p.install} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	proxy, err := live.StartProxy(ctx, p.kubectl, p.kubeconfig)
	if err != nil {
		return err
	}
	defer proxy.Close()
	server := proxy.Prometheus(namespace, pod, port)
	if err := p.example(ctx, server); err != nil {
		return err
	}
	if err := changes(ctx, proxy, server); err != nil {
		return err
	}
	if err := p.alert(ctx, proxy); err != nil {
		return err
	}
	if err := p.shards(ctx, proxy); err != nil {
		return err
	}
	return p.showWhere(ctx)
}

// install deploys the operator from deploy/.
func (p *place) install(ctx context.Context) error {
	say("installing the operator from deploy/")
	manifests, err := p.manifests(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{"operator", "config-reloader", "rules-reloader"} {
		manifests = strings.ReplaceAll(manifests, "firekeeper/"+name+":v"+p.version, p.image+"/"+name+":"+p.tag)
	}
	if _, err := p.feed(ctx, manifests, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return err
	}
	deployments := []string{"deployment/prometheus-operator"}
	if p.central {
		deployments = append(deployments, "deployment/firekeeper-discovery")
	}
	// A newer image with the same name must be used as well.
	if p.ownNodes() {
		if _, err := p.run(ctx, append([]string{"-n", "firekeeper", "rollout", "restart"}, deployments...)...); err != nil {
			return err
		}
	}
	for _, d := range deployments {
		say("waiting for %s", d)
		if _, err := p.run(ctx, "-n", "firekeeper", "rollout", "status", d, "--timeout=3m"); err != nil {
			return err
		}
	}
	return nil
}

// example applies deploy/examples and waits until everything works.
func (p *place) example(ctx context.Context, server *live.Prometheus) error {
	say("applying deploy/examples: a Prometheus, an Alertmanager, a sample program, and how it is watched")
	if _, err := p.run(ctx, "apply", "-f", filepath.Join(p.root, "deploy", "examples")); err != nil {
		return err
	}
	say("waiting for pod %s", pod)
	if err := p.ready(ctx, pod); err != nil {
		return err
	}
	say("waiting for the sample to be scraped and its rule to be loaded")
	_, err := live.Until(ctx, 3*time.Minute, func(ctx context.Context) (bool, error) {
		rule, err := server.HasRule(ctx, `up{job="sample"} == 0`)
		if !rule || err != nil {
			return false, err
		}
		targets, err := server.Targets(ctx)
		for _, t := range targets {
			if t.Labels["job"] == "sample" && t.Health == "up" {
				return true, nil
			}
		}
		return false, err
	})
	return err
}

// ready waits until a pod exists and is ready.
func (p *place) ready(ctx context.Context, pod string) error {
	if _, err := p.run(ctx, "-n", namespace, "wait", "--for=create", "pod/"+pod, "--timeout=2m"); err != nil {
		return err
	}
	_, err := p.run(ctx, "-n", namespace, "wait", "--for=condition=Ready", "pod/"+pod, "--timeout=5m")
	return err
}

// changes updates the rule and the monitor and measures the time until the running
// Prometheus shows the change.
func changes(ctx context.Context, proxy *live.Proxy, server *live.Prometheus) error {
	for i := range 3 {
		threshold := time.Now().UnixNano() % 1_000_000
		expr := fmt.Sprintf("prometheus_tsdb_head_series > %d", threshold)
		err := change(ctx, fmt.Sprintf("rule, change %d", i+1), proxy, "prometheusrules/sample",
			fmt.Sprintf(`{"spec":{"groups":[{"name":"sample","rules":[{"alert":"SampleDown","expr":"up{job=\"sample\"} == 0"},{"alert":"ManySeries","expr":%q}]}]}}`, expr),
			func(ctx context.Context) (bool, error) { return server.HasRule(ctx, expr) })
		if err != nil {
			return err
		}
		label := fmt.Sprintf("demo_%d", threshold)
		err = change(ctx, fmt.Sprintf("monitor, change %d", i+1), proxy, "servicemonitors/sample",
			fmt.Sprintf(`{"spec":{"targetLabels":[%q]}}`, label),
			func(ctx context.Context) (bool, error) {
				text, err := server.Config(ctx)
				return strings.Contains(text, label), err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// change patches an object, and prints the time from this request to that at which the running Prometheus shows the change.
func change(ctx context.Context, what string, proxy *live.Proxy, object, patch string, shows func(context.Context) (bool, error)) error {
	start := time.Now()
	if err := proxy.Patch(ctx, "/apis/monitoring.coreos.com/v1/namespaces/"+namespace+"/"+object, patch); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if _, err := live.Until(ctx, 3*time.Minute, shows); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	say("%s: live in the running Prometheus after %.2f s", what, time.Since(start).Seconds())
	return nil
}

// showWhere prints where to look next.
func (p *place) showWhere(ctx context.Context) error {
	objects, err := p.run(ctx, "-n", namespace, "get", "prometheus,alertmanager,servicemonitor,prometheusrule,alertmanagerconfig,statefulset,pod")
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n\n", objects)
	fmt.Printf("  export KUBECONFIG=%s\n", p.kubeconfig)
	if !onPath("kubectl") {
		fmt.Printf("  export PATH=$PATH:%s\n", filepath.Dir(p.kubectl))
	}
	if p.on == node {
		ip, err := p.address(ctx, pod)
		if err != nil {
			return err
		}
		alertmanager, err := p.address(ctx, alertmanagerPod)
		if err != nil {
			return err
		}
		fmt.Printf("  Prometheus        http://%s:%d\n", ip, port)
		fmt.Printf("  Alertmanager      http://%s:%d\n", alertmanager, alertmanagerPort)
		fmt.Printf("  config-reloader   http://%s:8080/api/v1/applied\n", ip)
		fmt.Printf("  rules-reloader    http://%s:8081/api/v1/applied\n", ip)
	} else {
		fmt.Printf("  Prometheus        %s -n %s port-forward pod/%s %d\n", p.kubectl, namespace, pod, port)
		fmt.Printf("  Alertmanager      %s -n %s port-forward pod/%s %d\n", p.kubectl, namespace, alertmanagerPod, alertmanagerPort)
	}
	fmt.Printf("  operator metrics  %s -n firekeeper port-forward deployment/prometheus-operator 8080\n", p.kubectl)
	fmt.Printf("  remove it all     make demo-down\n")
	say("serving the pages about all of it")
	url, err := p.servePages(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n  Open %s: what feeds what, what is rejected and why, what runs and what is scraped.\n", url)
	return nil
}

// address returns the IP address of a pod.
func (p *place) address(ctx context.Context, pod string) (string, error) {
	return p.run(ctx, "-n", namespace, "get", "pod", pod, "-o", "jsonpath={.status.podIP}")
}

// down removes what up created: the whole cluster, or from an existing one the example
// and the operator. It is a no-op if there is nothing.
func down(ctx context.Context) error {
	p, err := newPlace()
	if p == nil || p.on == "" {
		return err
	}
	return p.down(ctx) // even if up could not run
}

func (p *place) down(ctx context.Context) error {
	if err := p.stopPages(ctx); err != nil {
		return err
	}
	if p.on != given {
		if err := p.downKind(ctx); err != nil {
			return err
		}
		say("stopping the cluster in %s", p.dir())
		return cluster.Down(p.dir(), os.Stdout)
	}
	if err := p.open(ctx); err != nil {
		return err
	}
	say("removing the example and the operator")
	if _, err := p.run(ctx, "delete", "--ignore-not-found", "-f", filepath.Join(p.root, "deploy", "examples")); err != nil {
		return err
	}
	if _, err := p.run(ctx, "delete", "--ignore-not-found", "-k", filepath.Join(p.root, "deploy")); err != nil || !p.central {
		return err
	}
	_, err := p.run(ctx, "delete", "--ignore-not-found", "-f", filepath.Join(p.root, "deploy", "components", "central-discovery", "rbac.yaml"))
	return err
}
