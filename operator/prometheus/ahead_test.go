package prometheus

import (
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestAheadLeavesNothingToCompile: the pass that follows finds all rules compiled.
func TestAheadLeavesNothingToCompile(t *testing.T) {
	services, alerts := []*v1.ServiceMonitor(nil), ruleObjects(100)
	b := benches(1, &services, &alerts)[0]
	b.ahead(ForServer(b.owner))
	if n := b.compilers.Rules.Compilations(); n != 100 {
		t.Fatalf("%d rule objects were compiled ahead, want 100", n)
	}
	b.run(t)
	if n := b.compilers.Rules.Compilations(); n != 100 {
		t.Errorf("the pass compiled %d again", n-100)
	}
}

// TestAheadPassesOverWrongOwners: the pass reports what is wrong.
func TestAheadPassesOverWrongOwners(t *testing.T) {
	services, alerts := []*v1.ServiceMonitor(nil), ruleObjects(1)
	b := benches(1, &services, &alerts)[0]
	b.owner.Spec.Version = "no version"
	b.ahead(ForServer(b.owner))
	if n := b.compilers.Rules.Compilations(); n != 0 {
		t.Errorf("%d rule objects were compiled", n)
	}
}
