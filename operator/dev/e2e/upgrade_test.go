package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everything are the pods of testdata/{web,agent,alertmanager,thanosruler}.yaml, by label.
var everything = map[string][]string{
	labelOf("web"):         webPods,
	labelOf("edge"):        {"prom-agent-edge-0"},
	mainMembers:            {"alertmanager-main-0"},
	"thanos-ruler=main":    mainPods,
	"thanos-ruler=through": rulerPods[2:],
}

// The operator of another commit is replaced by this one, and this one by the other, while workloads of every kind run:
// no pod restarts, no StatefulSet changes, rules and jobs are never missing, and each operator writes changes. While both
// run at once, each of them replaces the input hash of the other, which names its version, at a slowing pace; that ends
// with one of them.
func TestUpgrade(t *testing.T) {
	long(t)
	commit := os.Getenv("FIREKEEPER_UPGRADE_FROM")
	if commit == "" {
		t.Skip("FIREKEEPER_UPGRADE_FROM names no commit or tag (`make upgrade FROM=v0.1.0`)")
	}
	other := operatorOfCommit(t, commit)
	n := start(t)
	n.loadRulerImages(t)
	t.Parallel()
	s := n.space(t, "upgrade")
	flags := []string{"--prometheus-config-reloader=docker.io/firekeeper/config-reloader:" + imageTag(t), "--config-reloader-cpu-limit=0",
		"--rules-reloader-image=docker.io/firekeeper/rules-reloader:" + imageTag(t)}
	older := &operator{id: s.id, node: n, program: other, args: flags}
	newer := &operator{id: s.id, node: n, args: flags}
	for _, o := range []*operator{older, newer} {
		o.endsWith(t)
	}

	older.start(t)
	s.keyPair(t, "gossip")
	s.web(t, "replicas: 2, enableRemoteWriteReceiver: true, thanos: {}")
	s.apply(t, manifests(t, "agent.yaml"))
	s.apply(t, s.fill(manifests(t, "alertmanager.yaml"), "AM-VERSION", alertmanagerVersion))
	s.apply(t, s.fill(manifests(t, "thanosruler.yaml"), "THANOS-IMAGE", thanosImage, "ALERTMANAGER-IMAGE", alertmanagerImage))
	for label, pods := range everything {
		s.rolledOutWith(t, label, pods...)
	}
	s.flows(t, "older")
	before := s.running(t)
	g := s.guard(t, webGroups, s.webJobs(), webPods...)
	r := s.guardRulers(t, "records", "alerts")
	check := func(what string) {
		s.flows(t, what)
		if diff := cmp.Diff(before, s.running(t)); diff != "" {
			t.Errorf("%s: was -, is +\n%s", what, diff)
		}
	}

	older.stop(t)
	newer.start(t)
	check("upgraded")
	s.says(t, "web", conditions, "Available=True Reconciled=True")
	older.start(t) // as in a rolling update without an election
	for i := range bothFor {
		check("both" + strings.Repeat("-again", i))
	}
	newer.stop(t)
	check("downgraded")
	older.undisputed(t)
	s.says(t, "web", conditions, "Available=True Reconciled=True")
	newer.start(t)
	older.kill(t)
	check("upgraded-after-a-crash")
	r.end(t)
	g.end(t)
}

// bothFor is the number of changes while both operators run.
const bothFor = 20

// operatorOfCommit builds the operator of another commit of this repository.
func operatorOfCommit(t *testing.T, commit string) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "operator")
	script := `set -e; git archive --format=tar "$1" | tar -x -C "$2"; cd "$2"; CGO_ENABLED=0 go build -o "$3" ./cmd/operator`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", commit, t.TempDir(), program)
	cmd.Dir = root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build of %s: %v\n%s", commit, err, out)
	}
	return program
}

// flows changes a rule and a monitor, and waits until servers of both kinds have them.
func (s space) flows(t *testing.T, label string) {
	t.Helper()
	value := fmt.Sprint(len(label))
	s.in(t, "patch", "prometheusrule", "app", "--type=json", "-p", `[{"op":"replace","path":"/spec/groups/0/rules/0/expr","value":"sum(up) * `+value+`"}]`)
	s.in(t, "patch", "servicemonitor", "app", "--type=merge", "-p", `{"spec":{"targetLabels":["e2e_`+strings.ReplaceAll(label, "-", "_")+`"]}}`)
	s.changeRule(t, "ruler", "sum(up) * "+value)
	s.runs(t, "sum(up) * "+value, "e2e_"+strings.ReplaceAll(label, "-", "_"), webPods...)
	s.rulersRun(t, "sum(up) * "+value, rulerPods...)
}

// running returns what an operator must not change: the identity of pods, and the generation of their StatefulSets.
func (s space) running(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for label := range everything {
		pods, err := s.podsWith(t.Context(), label)
		if err != nil {
			t.Fatal(err)
		}
		for name, id := range identities(pods) {
			out["Pod "+name] = id
		}
	}
	for _, pair := range strings.Fields(s.in(t, "get", "statefulsets", "-o", `jsonpath={range .items[*]}{.metadata.name}={.metadata.uid}/{.metadata.generation} {end}`)) {
		name, version, _ := strings.Cut(pair, "=")
		out["StatefulSet "+name] = version
	}
	return out
}

// undisputed waits until an operator reports no object that another client keeps reverting.
func (o *operator) undisputed(t *testing.T) {
	t.Helper()
	until(t, "the end of conflicts", patience, func(ctx context.Context) (bool, error) {
		page, err := o.metrics(ctx)
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "prometheus_operator_write_conflicts{") && !strings.HasSuffix(strings.TrimSpace(line), " 0") {
				return false, fmt.Errorf("conflict: %s", line)
			}
		}
		return err == nil, err
	})
}
