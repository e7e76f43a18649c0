package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
)

// deployed returns the objects of deploy with components, as built by kustomize.
func deployed(t *testing.T, c *cluster.Cluster, components ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	to := func(path string) string {
		absolute, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(dir, absolute)
		if err != nil {
			t.Fatal(err)
		}
		return relative
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- " + to("../../deploy") + "\ncomponents:\n"
	for _, name := range components {
		text += "- " + to("../../deploy/components/"+name) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := c.Kubectl(t.Context(), "kustomize", dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An API server accepts deploy with the optional components for users, and the user roles grant
// what they are for.
func TestUserRoles(t *testing.T) {
	c := clustertest.Shared(t, cluster.Options{})
	command(t, 0, "crds", "apply", "--kubeconfig="+c.Kubeconfig)
	objects := deployed(t, c, "monitoring", "user-roles", "network-policy")
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, objects, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := command(t, 0, "lint", "-f", file); !strings.HasPrefix(out, "0 errors, 0 warnings, 0 notes in ") {
		t.Errorf("lint:\n%s", out)
	}
	if out, err := c.Kubectl(t.Context(), "apply", "--validate=strict", "-f", file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer func() {
		if out, err := c.Kubectl(t.Context(), "delete", "namespace", "firekeeper", "--wait=false"); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}()
	const binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: NAME, namespace: firekeeper}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}\n" +
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAME}]\n"
	for _, role := range []string{"view", "edit", "admin"} {
		name := "firekeeper-" + role
		if out, err := c.KubectlInput(t.Context(), []byte(strings.ReplaceAll(binding, "NAME", name)), "apply", "-f", "-"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		into, err := c.Kubectl(t.Context(), "get", "clusterroles", "-l", "rbac.authorization.k8s.io/aggregate-to-"+role+"=true", "-o", "name")
		if err != nil || !strings.Contains(string(into), "/"+name+"\n") {
			t.Errorf("%s does not become a part of %s: %v\n%s", name, role, err, into)
		}
	}
	for _, tc := range []struct{ user, may, mayNot string }{
		{"view", "get prometheuses", "create servicemonitors"},
		{"edit", "create servicemonitors", "create prometheuses"},
		{"admin", "create prometheuses", "update prometheuses/status"},
		{"admin", "update alertmanagers/scale", "create pods"},
	} {
		for want, question := range map[string]string{"yes": tc.may, "no": tc.mayNot} {
			verb, resource, _ := strings.Cut(question, " ")
			resource, part, _ := strings.Cut(resource, "/")
			group := resource
			if resource != "pods" {
				group += ".monitoring.coreos.com"
			}
			out, _ := c.Kubectl(t.Context(), "auth", "can-i", verb, group, "--subresource="+part, "-n", "firekeeper", "--as=firekeeper-"+tc.user)
			if got := strings.TrimSpace(string(out)); got != want {
				t.Errorf("%s may %s: %s, want %s", tc.user, question, got, want)
			}
		}
	}
}

var (
	ownMetric = regexp.MustCompile(`\b(?:prometheus_operator|prometheus_config_reloader|reloader|configmap_reload|rules_reloader)_[a-z0-9_]+`)
	suffix    = regexp.MustCompile(`_(?:bucket|sum|count)$`)
)

// The alerts and the dashboard use existing metrics in valid queries, and each alert has a
// runbook.
func TestMonitoring(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	metrics := read("docs/reference/metrics.md")
	known := func(where, query string) {
		for _, name := range ownMetric.FindAllString(query, -1) {
			if !strings.Contains(metrics, "`"+suffix.ReplaceAllString(name, "")+"`") {
				t.Errorf("%s: no metric %s", where, name)
			}
		}
	}
	type rule struct {
		Alert, Expr string
		Annotations map[string]string
	}
	var alerts struct {
		Spec struct {
			Groups []struct{ Rules []rule }
		}
	}
	if err := yaml.Unmarshal([]byte(read("deploy/components/monitoring/rules.yaml")), &alerts); err != nil {
		t.Fatal(err)
	}
	var sections []string
	for _, line := range strings.Split(read("docs/runbooks.md"), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, name)
		}
	}
	var names []string
	for _, r := range alerts.Spec.Groups[0].Rules {
		names = append(names, r.Alert)
		known(r.Alert, r.Expr)
		if !strings.HasSuffix(r.Annotations["runbook_url"], "/docs/runbooks.md#"+strings.ToLower(r.Alert)) {
			t.Errorf("%s: runbook %q", r.Alert, r.Annotations["runbook_url"])
		}
	}
	if !slices.Equal(names, sections) {
		t.Errorf("alerts %q, runbooks %q", names, sections)
	}

	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read("deploy/components/monitoring/dashboard.json")), &board); err != nil {
		t.Fatal(err)
	}
	queries := "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: board, namespace: x}\nspec:\n  groups:\n  - name: board\n    rules:\n"
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			known(p.Title, target.Expr)
			expr, err := json.Marshal(strings.NewReplacer("$__rate_interval", "1m", "$namespace", "x", "$job", "x").Replace(target.Expr))
			if err != nil {
				t.Fatal(err)
			}
			queries += fmt.Sprintf("    - {record: \"panel:%d\", expr: %s, labels: {panel: %q}}\n", i, expr, p.Title)
		}
	}
	file := filepath.Join(t.TempDir(), "board.yaml")
	if err := os.WriteFile(file, []byte(queries), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := command(t, 0, "lint", "-f", file, "-f", "../../deploy/components/monitoring/rules.yaml"); !strings.HasPrefix(out, "0 errors, 0 warnings, 0 notes in 2 objects") {
		t.Errorf("lint:\n%s", out)
	}
}
