package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// guideBlock matches a fenced block of a guide, with its language.
var guideBlock = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// guide is a page of docs/guides, adapted to the namespaces of a test.
type guide struct {
	name, text string
	namespaces []string // replacements of demo and apps
}

// guides reads the pages and replaces the namespaces of each.
func (w *environment) guides(t *testing.T) []guide {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(deploy(t, ".."), "docs", "guides", "*.md"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("the guides are %q (%v)", paths, err)
	}
	var out []guide
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		demo, apps := w.namespace(t), w.namespace(t)
		out = append(out, guide{
			name: strings.TrimSuffix(filepath.Base(path), ".md"), namespaces: []string{demo, apps},
			text: regexp.MustCompile(`(?m)\bapps([],} ]|$)`).ReplaceAllString(regexp.MustCompile(`\bdemo\b`).ReplaceAllString(string(text), demo), apps+"$1"),
		})
	}
	return out
}

// follow simulates a reader: it writes the manifests to files and runs the commands that need no pod.
func (g guide) follow(t *testing.T, w *environment) {
	t.Helper()
	dir := t.TempDir()
	for _, block := range guideBlock.FindAllStringSubmatch(g.text, -1) {
		text := block[2]
		if file, ok := strings.CutPrefix(text, "# "); ok && block[1] == "yaml" {
			file, _, _ = strings.Cut(file, "\n")
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "   #")
			if strings.HasPrefix(line, "kubectl ") && !strings.Contains(line, "port-forward") {
				w.kubectl(t, dir, line)
			}
		}
	}
}

// kubectl runs a command line in a folder. Warnings are failures. Commands that display objects are retried.
func (w *environment) kubectl(t *testing.T, dir, line string) {
	t.Helper()
	run := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join(w.cluster.Dir, "bin", "kubectl"), strings.Fields(line)[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("Warning")) {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	if strings.Contains(line, " get ") {
		eventually(t, line, run)
	} else if err := run(); err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

// guideCluster contains the objects that guides expect in a cluster.
const guideCluster = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.org/none
`

// Every guide works as written: the API server accepts its manifests, its commands succeed, and the operator reconciles
// each workload and accepts each object.
func TestGuides(t *testing.T) {
	w := start(t)
	t.Parallel()
	guides := w.guides(t)
	var namespaces []string
	for _, g := range guides {
		namespaces = append(namespaces, g.namespaces...)
	}
	w.operator(t, "guides", "", "--namespaces="+strings.Join(namespaces, ","),
		"--feature-gates=StatusForConfigurationResources=true,PrometheusAgentDaemonSet=true")
	w.apply(t, guideCluster)
	for _, g := range guides {
		t.Run(g.name, func(t *testing.T) {
			g.follow(t, w)
			for _, row := range catalog.All {
				if row != catalog.Of(row.Kind) {
					continue // a version that needs the conversion webhook
				}
				for _, namespace := range g.namespaces {
					for _, o := range w.list(t, row.GroupVersion().String(), row.Kind, namespace) {
						w.waitFor(t, o, "is reconciled or accepted", isUsed)
					}
				}
			}
		})
	}
}

// isUsed returns an error if a workload is not reconciled or an object is not accepted.
func isUsed(o *unstructured.Unstructured) error {
	if catalog.Of(o.GetKind()).IsWorkload() {
		return hasCondition(o, "Reconciled", "True")
	}
	bindings, _, err := unstructured.NestedSlice(o.Object, "status", "bindings")
	if err != nil || len(bindings) == 0 {
		return fmt.Errorf("no workload uses it (%v)", err)
	}
	for _, b := range bindings {
		binding := &unstructured.Unstructured{Object: map[string]any{"status": b}}
		if err := hasCondition(binding, "Accepted", "True"); err != nil {
			return fmt.Errorf("%v: %w", b, err)
		}
	}
	return nil
}
