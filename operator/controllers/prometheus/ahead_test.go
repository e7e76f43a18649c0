package prometheus

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// The reconciliation after compiling ahead finds all rules in the cache.
func TestCompilingAheadLeavesNothingToCompile(t *testing.T) {
	services, alerts := []*v1.ServiceMonitor(nil), alertRules(100)
	b := benches(1, &services, &alerts)[0]
	b.servers.Ahead.Compile(b.owner, b.cluster)
	if n := b.rules.Compilations(); n != 100 {
		t.Fatalf("%d rule objects were compiled ahead, want 100", n)
	}
	b.run(t)
	if n := b.rules.Compilations(); n != 100 {
		t.Errorf("the reconciliation compiled %d again", n-100)
	}
}

// Compiling ahead skips invalid workloads. Their reconciliation reports the error.
func TestCompilingAheadSkipsInvalidOwners(t *testing.T) {
	for name, change := range map[string]func(*v1.Prometheus){
		"version":  func(p *v1.Prometheus) { p.Spec.Version = "no version" },
		"selector": func(p *v1.Prometheus) { p.Spec.RuleSelector = badSelector },
	} {
		services, alerts := []*v1.ServiceMonitor(nil), alertRules(1)
		b := benches(1, &services, &alerts)[0]
		change(b.owner)
		if b.servers.Ahead.Compile(b.owner, b.cluster); b.rules.Compilations() != 0 {
			t.Errorf("%s: its rules are compiled", name)
		}
	}
}

// Closing a server before its first reconciliation releases its compiled rules.
func TestClosingDropsWhatIsCompiledAhead(t *testing.T) {
	services, alerts := []*v1.ServiceMonitor(nil), alertRules(3)
	b := benches(1, &services, &alerts)[0]
	b.servers.Ahead.Compile(b.owner, b.cluster)
	before := b.rules.Len()
	b.servers.Open(keyOf(b.owner)).Close()
	if n := b.rules.Len(); before != 3 || n != 0 {
		t.Errorf("%d rule objects are kept of %d", n, before)
	}
}

func keyOf(p *v1.Prometheus) types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}
