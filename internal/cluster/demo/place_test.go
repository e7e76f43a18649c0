package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// standIns replaces kind, docker and other programs by scripts that append their command line to a file and then run a
// line of shell.
type standIns struct{ dir, root string }

// newStandIns creates the scripts, first on PATH, and a working tree. With alone, no other program is on PATH.
func newStandIns(t *testing.T, alone bool, lines map[string]string) standIns {
	t.Helper()
	s := standIns{t.TempDir(), t.TempDir()}
	for name, line := range lines {
		script := fmt.Sprintf("#!/bin/sh\necho \"%s $*\" >>%s/calls\n%s\n", name, s.dir, line)
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := s.dir
	if !alone {
		path += ":" + os.Getenv("PATH")
	}
	t.Setenv("PATH", path)
	for _, name := range []string{"KUBECONFIG", "DEMO_ON", "DEMO_DISCOVERY", "IMAGE", "TAG"} {
		t.Setenv(name, "")
	}
	if err := os.WriteFile(filepath.Join(s.root, ".version"), []byte("1.2.3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// calls returns the command lines that were run, with ROOT for the working tree and TEMP for temporary folders.
func (s standIns) calls(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), s.root, "ROOT")) {
		words := strings.Fields(line)
		for i, w := range words {
			if at := strings.Index(w, os.TempDir()); at >= 0 {
				words[i] = w[:at] + "TEMP"
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// place returns the demo's place in the working tree.
func (s standIns) place(t *testing.T) *place {
	t.Helper()
	p, err := placeIn(s.root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestChoosesPlace(t *testing.T) {
	canRunNode := runtime.GOOS == "linux" && os.Geteuid() == 0
	for name, tc := range map[string]struct {
		programs   string
		kubeconfig string
		on         string
		ran        bool // in kind
		want       where
		refused    string
	}{
		"KUBECONFIG first":               {programs: "kind docker", kubeconfig: "/their/config", want: given},
		"then kind with docker":          {programs: "kind docker", want: kind},
		"kind without docker":            {programs: "kind", want: kind, refused: "docker is not"},
		"docker without kind":            {programs: "docker", want: node},
		"neither":                        {want: node},
		"a node is asked for":            {programs: "kind docker", on: "node", want: node},
		"kind is asked for":              {programs: "kind docker", kubeconfig: "/their/config", on: "kind", want: kind},
		"kind is asked for and missing":  {programs: "docker", on: "kind", want: kind, refused: "kind is not on PATH"},
		"something else is asked for":    {on: "cloud", refused: "DEMO_ON=cloud: want kind or node"},
		"KUBECONFIG as the demo says it": {programs: "kind docker", kubeconfig: "ROOT/.cache/demo-kind/kubeconfig", want: kind},
		"that of the node":               {programs: "kind docker", kubeconfig: "ROOT/.cluster/kubeconfig", want: node},
		"it ran in kind":                 {programs: "docker", ran: true, want: kind, refused: "kind is not on PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := map[string]string{}
			for _, p := range strings.Fields(tc.programs) {
				lines[p] = ""
			}
			s := newStandIns(t, true, lines)
			t.Setenv("KUBECONFIG", strings.ReplaceAll(tc.kubeconfig, "ROOT", s.root))
			t.Setenv("DEMO_ON", tc.on)
			if tc.ran {
				if err := os.MkdirAll(filepath.Join(s.root, ".cache", "demo-kind"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(s.root, ".cache", "demo-kind", "kubeconfig"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, err := placeIn(s.root)
			if p.on != tc.want {
				t.Errorf("runs on %q, want %q", p.on, tc.want)
			}
			refused := tc.refused
			if tc.want == node && !canRunNode {
				refused = "needs Linux and root"
			}
			if (refused == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), refused) {
				t.Errorf("error %v, want %q", err, refused)
			}
			if calls := s.calls(t); len(calls) > 0 {
				t.Errorf("choosing calls %q", calls)
			}
		})
	}
}

const (
	// kindLine handles the kubeconfig like kind does, and keeps the clusters in a file.
	kindLine = `d=$(dirname "$0"); case "$1 $2" in "get clusters") cat $d/clusters 2>/dev/null || echo "No kind clusters found." >&2;; ` +
		`"create cluster") echo firekeeper-demo >$d/clusters;; "delete cluster") rm $d/clusters;; esac`
	// kubectlLine prints images like kustomize does, and stores the applied objects.
	kubectlLine = `d=$(dirname "$0"); case "$1" in kustomize) echo "image: firekeeper/operator:v1.2.3";; apply) cat >$d/applied; echo "$KUBECONFIG" >$d/config;; esac`
)

// lives runs the steps after open: p loads the images and installs, then again removes everything.
func lives(t *testing.T, p, again *place) {
	t.Helper()
	for _, step := range []func(context.Context) error{p.loadImages, p.install, again.down} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKind(t *testing.T) {
	s := newStandIns(t, false, map[string]string{"kind": kindLine, "docker": "", "kubectl": kubectlLine, "make": ""})
	p := s.place(t)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the cluster is reused
		if err := s.place(t).open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	lives(t, p, s.place(t))
	config := "--name=firekeeper-demo --kubeconfig=ROOT/.cache/demo-kind/kubeconfig"
	opened := []string{"docker version --format={{.Server.Version}}", "kind get clusters"}
	image := func(name, dockerfile, args string) []string {
		return []string{"docker build --quiet --file=" + dockerfile + " --tag=" + name + args, "kind load docker-image --name=firekeeper-demo " + name}
	}
	arch := " --build-arg=TARGETARCH=" + runtime.GOARCH
	want := slices.Concat(opened, []string{"kind create cluster " + config + " --wait=3m"},
		opened, []string{"kind export kubeconfig " + config}, opened, []string{"kind export kubeconfig " + config},
		[]string{"make image-files"},
		image("docker.io/firekeeper/operator:v1.2.3", "ROOT/Dockerfile.operator", arch+" ROOT"),
		image("docker.io/firekeeper/config-reloader:v1.2.3", "ROOT/Dockerfile.reloader", arch+" --build-arg=RELOADER=config-reloader ROOT"),
		image("docker.io/firekeeper/rules-reloader:v1.2.3", "ROOT/Dockerfile.reloader", arch+" --build-arg=RELOADER=rules-reloader ROOT"),
		image("firekeeper.local/webhook:demo", "TEMP", " TEMP"),
		[]string{
			"kubectl kustomize ROOT/deploy", "kubectl apply --server-side --force-conflicts -f -",
			"kubectl -n firekeeper rollout restart deployment/prometheus-operator",
			"kubectl -n firekeeper rollout status deployment/prometheus-operator --timeout=3m",
			"kind delete cluster " + config,
		})
	if got := s.calls(t); !slices.Equal(got, want) {
		t.Errorf("called\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if used := s.kept(t, "config"); used != p.kindConfig() {
		t.Errorf("kubectl used KUBECONFIG=%s", used)
	}
	if _, err := os.Stat(filepath.Dir(p.kindConfig())); !os.IsNotExist(err) {
		t.Errorf("down leaves %s (%v)", filepath.Dir(p.kindConfig()), err)
	}
}

// kept returns the content of a file that a script has written.
func (s standIns) kept(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestWrongStates(t *testing.T) {
	const down = `echo "Cannot connect to the Docker daemon" >&2; exit 1`
	for name, tc := range map[string]struct {
		programs   map[string]string
		kubeconfig string
		want       []string
	}{
		"no docker daemon": {map[string]string{"kind": kindLine, "docker": down, "kubectl": ""}, "",
			[]string{"kind needs a running docker", "Cannot connect to the Docker daemon"}},
		"kind fails": {map[string]string{"kind": `case $1 in create) echo "no space left" >&2; exit 1;; esac`, "docker": "", "kubectl": ""}, "",
			[]string{"kind create cluster", "no space left"}},
		"unreachable KUBECONFIG": {map[string]string{"kubectl": `echo "connection refused" >&2; exit 1`}, "/their/config",
			[]string{"the cluster of KUBECONFIG=/their/config does not answer", "connection refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIns(t, false, tc.programs)
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			err := s.place(t).open(t.Context())
			for _, want := range tc.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
		})
	}
}

// With an existing cluster nothing is built, and the operator images come from IMAGE and TAG.
func TestGivenCluster(t *testing.T) {
	s := newStandIns(t, true, map[string]string{"kubectl": "PATH=/usr/bin:/bin; " + kubectlLine, "kind": "", "docker": "", "make": ""})
	t.Setenv("KUBECONFIG", "/their/config")
	t.Setenv("IMAGE", "registry.example/fire")
	t.Setenv("TAG", "v7")
	p := s.place(t)
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	lives(t, p, s.place(t))
	want := []string{
		"kubectl get --raw=/version --request-timeout=10s",
		"kubectl kustomize ROOT/deploy", "kubectl apply --server-side --force-conflicts -f -",
		"kubectl -n firekeeper rollout status deployment/prometheus-operator --timeout=3m",
		"kubectl get --raw=/version --request-timeout=10s",
		"kubectl delete --ignore-not-found -f ROOT/deploy/examples", "kubectl delete --ignore-not-found -k ROOT/deploy",
	}
	if got := s.calls(t); !slices.Equal(got, want) {
		t.Errorf("called\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := s.kept(t, "applied"); got != "image: registry.example/fire/operator:v7" {
		t.Errorf("applied %q", got)
	}
}
