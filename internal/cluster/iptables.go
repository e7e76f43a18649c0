package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// kubelet and kube-proxy create chains named KUBE-..., the portmap plugin CNI-....
var nodeChain = regexp.MustCompile(`^(KUBE|CNI)-`)

// noForeignNode returns an error if another Kubernetes node has rules on this machine, because they would be
// mixed with ours.
func noForeignNode(ctx context.Context) error {
	rules, err := run(ctx, nil, "iptables-save")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(rules)) {
		if name, ok := strings.CutPrefix(line, ":"); ok && nodeChain.MatchString(name) {
			chain, _, _ := strings.Cut(name, " ")
			return fmt.Errorf("iptables has the chain %s of another Kubernetes node; stop that one, or restart the machine", chain)
		}
	}
	return nil
}

// removeChains removes the node's chains, and every rule that refers to them, from iptables and ip6tables.
func removeChains() error {
	ctx := context.Background()
	var errs []error
	for _, family := range []string{"iptables", "ip6tables"} {
		rules, err := run(ctx, nil, family+"-save")
		if err != nil {
			continue // the program or the address family is missing, so there are no rules
		}
		if script := chainRemoval(string(rules)); script != "" {
			_, err := run(ctx, []byte(script), family+"-restore", "--noflush")
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// chainRemoval converts the output of iptables-save to input for iptables-restore --noflush: it deletes rules in
// other chains that refer to our chains, then flushes and deletes our chains. Tables without our chains are
// omitted.
func chainRemoval(saved string) string {
	var out strings.Builder
	table := ""
	var rules, flush, remove []string
	for line := range strings.Lines(saved) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "*"):
			table, rules, flush, remove = line, nil, nil, nil
		case strings.HasPrefix(line, ":"):
			if chain, _, _ := strings.Cut(line[1:], " "); nodeChain.MatchString(chain) {
				flush = append(flush, "-F "+chain)
				remove = append(remove, "-X "+chain)
			}
		case strings.HasPrefix(line, "-A "):
			if f := strings.Fields(line); !nodeChain.MatchString(f[1]) && leadsToNodeChain(f) {
				rules = append(rules, "-D "+strings.TrimPrefix(line, "-A "))
			}
		case line == "COMMIT" && len(remove) > 0:
			parts := append(append(append([]string{table}, rules...), flush...), remove...)
			fmt.Fprintf(&out, "%s\nCOMMIT\n", strings.Join(parts, "\n"))
		}
	}
	return out.String()
}

// leadsToNodeChain reports whether a rule jumps or goes to one of our chains.
func leadsToNodeChain(fields []string) bool {
	for i, f := range fields[:len(fields)-1] {
		if (f == "-j" || f == "-g") && nodeChain.MatchString(fields[i+1]) {
			return true
		}
	}
	return false
}
