package chaos

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NodeFaults returns the faults of pods and of their node. The test of package e2e runs each of them at each of the
// [Moments] of a change.
func NodeFaults() []Fault {
	return []Fault{
		{"config-reloader killed", "with SIGKILL, in one of two pods"},
		{"rules-reloader killed", "with SIGKILL, in one of two pods"},
		{"reloaders paused", "both reloaders of one pod are stopped with SIGSTOP, until the other pod has loaded the change"},
		{"Prometheus killed", "with SIGKILL, in one of two pods"},
		{"pod deleted", "one of two pods, with a grace period of a second"},
		{"kubelet killed", "with SIGKILL, and started again when the operator has written the change"},
		{"containerd killed", "with SIGKILL, and started again when the operator has written the change"},
		{"node not ready", "the kubelet is stopped with SIGSTOP, until the node has been reported as not ready"},
	}
}

// Moments returns the states of a change in which a fault begins.
func Moments() []string {
	return []string{"before the change", "once it is written", "once a pod has loaded it"}
}

//go:embed node.json
var nodeJSON []byte

// WriteNode writes the results of a run on a node, by fault and moment, and docs/reliability.md with them. root is the
// folder of the working tree.
func WriteNode(root string, results Coverage) error {
	raw, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "operator", "dev", "chaos", "node.json"), append(raw, '\n'), 0o644); err != nil {
		return err
	}
	nodeJSON = raw
	text, err := Page()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "reliability.md"), []byte(text), 0o644)
}

// nodeSection returns the section of docs/reliability.md about faults on a node.
//
// Errors: the record is not readable, or has faults or moments that do not exist any more.
func nodeSection() (string, error) {
	results := Coverage{}
	if err := json.Unmarshal(nodeJSON, &results); err != nil {
		return "", fmt.Errorf("node.json: %w", err)
	}
	var b strings.Builder
	b.WriteString(nodeHead + "| fault | what happens | " + strings.Join(Moments(), " | ") + " |\n|---|---|" + strings.Repeat("---|", len(Moments())) + "\n")
	names := map[string]bool{}
	for _, f := range NodeFaults() {
		names[f.Name] = true
		fmt.Fprintf(&b, "| %s | %s |", f.Name, f.About)
		for _, moment := range Moments() {
			switch cell, run := results[f.Name][moment]; {
			case !run:
				b.WriteString(" – |")
			case cell.Done == cell.Of:
				b.WriteString(" ✓ |")
			default:
				b.WriteString(" failed |")
			}
		}
		b.WriteString("\n")
	}
	for fault, cells := range results {
		for moment := range cells {
			if !names[fault] || !slices.Contains(Moments(), moment) {
				return "", fmt.Errorf("node.json has %q %q, which does not exist", fault, moment)
			}
		}
	}
	return b.String() + "\n", nil
}

const nodeHead = `## On a node

` + "`make chaos-node`" + ` runs a Prometheus with two replicas on a one-node Kubernetes. A rule and a monitor change at once, and each fault begins in each state of
the change. Afterwards it checks that

- both servers run the rule and the monitor, and the status has them (Available, Reconciled and ConfigApplied);
- no rule group and no scrape job was missing in both servers at any time;
- no pod was replaced and no container restarted but the one that was killed, and the StatefulSet was not changed;
- while the kubelet is stopped, ConfigApplied is not true.

`
