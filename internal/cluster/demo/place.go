package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

// clusterDir is the folder of the demo's own node, the same as for `make cluster-up`.
const clusterDir = ".cluster"

// where is a way to get a Kubernetes cluster.
type where string

const (
	given where = "KUBECONFIG" // an existing cluster
	kind  where = "kind"       // docker containers
	node  where = "node"       // processes on this machine
)

// place is the Kubernetes cluster for the demo.
type place struct {
	on         where
	kubectl    string
	kubeconfig string
	node       *cluster.Cluster // only for node
	root       string           // working tree
	version    string           // of the working tree
	image, tag string           // repository and tag of the images
	central    bool             // show central discovery, too
}

// say prints a progress line with the time since the start.
func say(format string, args ...any) {
	fmt.Printf("[%5.1fs] %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}

var began = time.Now()

// newPlace returns a place with the working tree and the kind of cluster to use, but without a cluster.
func newPlace() (*place, error) {
	root, err := programs.Root()
	if err != nil {
		return nil, err
	}
	return placeIn(root)
}

func placeIn(root string) (*place, error) {
	version, err := os.ReadFile(filepath.Join(root, ".version"))
	if err != nil {
		return nil, err
	}
	p := &place{root: root, version: strings.TrimSpace(string(version))}
	p.image, p.tag = cmp.Or(os.Getenv("IMAGE"), "firekeeper"), cmp.Or(os.Getenv("TAG"), "v"+p.version)
	if p.central, err = centralWished(); err != nil {
		return nil, err
	}
	p.on, err = p.choose()
	return p, err
}

// choose returns where the demo runs: on the cluster of KUBECONFIG, where it ran before, in kind, or on its own node.
// DEMO_ON=kind or DEMO_ON=node selects one of the last two.
func (p *place) choose() (where, error) {
	config := os.Getenv("KUBECONFIG")
	ours := map[string]where{p.kindConfig(): kind, filepath.Join(p.dir(), "kubeconfig"): node} // the paths that the demo prints at its end
	_, err := os.Stat(p.kindConfig())
	kindRuns := err == nil
	on := where(os.Getenv("DEMO_ON"))
	wished := on != ""
	switch {
	case wished && !slices.Contains([]where{kind, node}, on):
		return "", fmt.Errorf("DEMO_ON=%s: want kind or node", on)
	case wished:
	case ours[config] != "":
		on = ours[config]
	case config != "":
		return given, nil
	case kindRuns || onPath("kind") && !p.nodeRuns():
		on = kind
	default:
		on = node
	}
	if on == kind {
		return kind, p.kindUsable()
	}
	return node, p.nodeUsable()
}

// onPath reports whether a program is on PATH.
func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func (p *place) dir() string { return filepath.Join(p.root, clusterDir) }

// nodeRuns reports whether the demo's own node is running.
func (p *place) nodeRuns() bool {
	_, err := cluster.Open(p.dir(), nil)
	return err == nil
}

// nodeUsable returns the reason why a node cannot run on this machine.
func (p *place) nodeUsable() error {
	if runtime.GOOS == "linux" && os.Geteuid() == 0 || p.nodeRuns() {
		return nil
	}
	return errors.New("a Kubernetes node on this machine needs Linux and root: run the demo as root, install kind and docker, " +
		"or set KUBECONFIG to a cluster")
}

// findPlace returns a place with a running cluster.
func findPlace(ctx context.Context) (*place, error) {
	p, err := newPlace()
	if err != nil {
		return nil, err
	}
	return p, p.open(ctx)
}

// open starts or opens the cluster of the place.
func (p *place) open(ctx context.Context) error {
	switch p.on {
	case given:
		return p.openGiven(ctx)
	case kind:
		return p.openKind(ctx)
	default:
		return p.openNode(ctx)
	}
}

// openGiven opens the cluster of KUBECONFIG.
func (p *place) openGiven(ctx context.Context) (err error) {
	p.kubeconfig = os.Getenv("KUBECONFIG")
	say("using the cluster of KUBECONFIG=%s", p.kubeconfig)
	if p.kubectl, err = findKubectl(ctx); err != nil {
		return err
	}
	if _, err := p.run(ctx, "get", "--raw=/version", "--request-timeout=10s"); err != nil {
		return fmt.Errorf("the cluster of KUBECONFIG=%s does not answer; without KUBECONFIG the demo makes a cluster of its own: %w", p.kubeconfig, err)
	}
	return nil
}

// findKubectl prefers an installed kubectl of any version to building one.
func findKubectl(ctx context.Context) (string, error) {
	if path, err := exec.LookPath("kubectl"); err == nil {
		return path, nil
	}
	return programs.Default(os.Stdout).One(ctx, "kubectl", true)
}

// openNode starts a node on this machine, or uses the running one.
func (p *place) openNode(ctx context.Context) (err error) {
	p.node, err = cluster.Open(p.dir(), os.Stdout)
	if _, no := errors.AsType[*cluster.NotRunningError](err); no {
		say("starting a one-node Kubernetes in %s (building its programs takes some 15 minutes the first time)", p.dir())
		p.node, err = cluster.Start(ctx, cluster.Options{Dir: p.dir(), Node: true, Detach: true, Log: os.Stdout})
	}
	if err != nil {
		return err
	}
	p.kubeconfig, p.kubectl = p.node.Kubeconfig, filepath.Join(p.dir(), "bin", "kubectl")
	return nil
}

// run runs kubectl and returns its output, which is included in the error on failure.
func (p *place) run(ctx context.Context, args ...string) (string, error) {
	return p.feed(ctx, "", args...)
}

// feed is like run, with standard input.
func (p *place) feed(ctx context.Context, stdin string, args ...string) (string, error) {
	return command(ctx, stdin, []string{"KUBECONFIG=" + p.kubeconfig}, p.kubectl, args...)
}

// command runs a program and returns its output, which is included in the error on failure.
func command(ctx context.Context, stdin string, env []string, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, text)
	}
	return text, nil
}
