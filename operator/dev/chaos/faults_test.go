package chaos

import (
	"testing"
)

// Each step of each scenario is made under each fault.
func TestFaults(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			needsAll(t)
			t.Parallel()
			c := newCycle(t, shared(t), s)
			for _, f := range Faults() {
				for _, step := range c.Steps {
					if over() {
						return
					}
					ok := try(t, f.Name, c.Name, len(c.Steps), f.Name+" "+step.Name, func(t *testing.T) { c.disturbed(t, f.Name) })
					if !ok && c.lost() {
						t.Fatal("the state from which the next step starts is another one")
					}
				}
			}
		})
	}
}

func TestFaultsAreImplemented(t *testing.T) {
	for _, f := range Faults() {
		if disturb[f.Name] == nil {
			t.Errorf("%s is not", f.Name)
		}
	}
	if len(disturb) != len(Faults()) {
		t.Errorf("%d faults are implemented, and %d listed", len(disturb), len(Faults()))
	}
}
