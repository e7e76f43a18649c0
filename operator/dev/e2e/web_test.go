package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// webGroups lists the rule groups of testdata/web.yaml.
var webGroups = []string{"first", "second"}

// webJobs returns its scrape jobs.
func (s space) webJobs() []string {
	return []string{"serviceMonitor/" + s.name + "/app/0", "scrapeConfig/" + s.name + "/static"}
}

// staticTargets returns the addresses of its static job.
func staticTargets() (out []string) {
	for i := range 10 {
		out = append(out, fmt.Sprintf("t%d:1", i))
	}
	return out
}

// web applies testdata/web.yaml. spec is YAML in flow style: "replicas: 2, paused: true".
func (s space) web(t *testing.T, spec string) {
	t.Helper()
	s.apply(t, s.fill(manifests(t, "web.yaml"), "SPEC", spec))
}

// scenario creates a namespace with its own operator and a Prometheus, and waits for the named pods.
func scenario(t *testing.T, name, spec string, pods ...string) (space, *operator) {
	t.Helper()
	n := start(t)
	t.Parallel()
	s := n.space(t, name)
	o := s.operatorOf(t, "--config-reloader-cpu-limit=0")
	s.web(t, spec)
	s.rolledOut(t, "web", pods...)
	return s, o
}

// says waits until a jsonpath of a Prometheus yields a text.
func (s space) says(t *testing.T, prometheus, jsonpath, want string) {
	t.Helper()
	until(t, "status of "+s.name+"/"+prometheus, patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", "prometheus", prometheus, "-o", "jsonpath="+jsonpath)
		return got == want, fmt.Errorf("%s is %q, want %q", jsonpath, got, want)
	})
}

const (
	conditions = `Available={.status.conditions[?(@.type=="Available")].status} Reconciled={.status.conditions[?(@.type=="Reconciled")].status} `
	unready    = `{.status.conditions[?(@.type=="Available")].message}`
)

// explains waits until the Prometheus "web" reports why it is not available.
func (s space) explains(t *testing.T, want string) {
	t.Helper()
	until(t, "message of "+s.name, patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", "prometheus", "web", "-o", "jsonpath="+unready)
		return strings.Contains(got, want), fmt.Errorf("message %q, want %q in it", got, want)
	})
}

// unchanged checks that the pods that existed before were not recreated or restarted.
func (s space) unchanged(t *testing.T, before map[string]string) {
	t.Helper()
	pods, err := s.pods(t.Context(), "web")
	if err != nil {
		t.Fatal(err)
	}
	now := identities(pods)
	for pod := range now {
		if before[pod] == "" {
			delete(now, pod)
		}
	}
	if diff := cmp.Diff(before, now); diff != "" {
		t.Errorf("pods were restarted: was -, is +\n%s", diff)
	}
}

// spread waits until every static target is scraped by exactly one of the pods.
func (s space) spread(t *testing.T, pods ...string) {
	t.Helper()
	until(t, "targets of "+s.name, patience, func(ctx context.Context) (bool, error) {
		var all []string
		for _, pod := range pods {
			targets, err := s.server(pod, "http").Targets(ctx)
			if err != nil {
				return false, err
			}
			for _, target := range targets {
				if target.ScrapePool == "scrapeConfig/"+s.name+"/static" {
					all = append(all, target.Labels["instance"])
				}
			}
		}
		slices.Sort(all)
		diff := cmp.Diff(staticTargets(), all)
		return diff == "", fmt.Errorf("targets: want -, scraped +\n%s", diff)
	})
}
