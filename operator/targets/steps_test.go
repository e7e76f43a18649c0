package targets

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/relabel"
)

// Equal steps are one, as long as a job uses it.
func TestSharedSteps(t *testing.T) {
	var table stepTable
	step := func(regex, target string) *relabel.Config {
		return table.share(&relabel.Config{Action: relabel.Replace, Regex: relabel.MustNewRegexp(regex), TargetLabel: target})
	}
	one := step("a", "x")
	if step("a", "x") != one || step("b", "x") == one || step("a", "y") == one {
		t.Error("steps are shared that are not equal, or equal ones are not")
	}
	for i := range 100 {
		step(fmt.Sprint(i), "x")
	}
	for late := time.Now().Add(time.Minute); ; {
		runtime.GC()
		runtime.Gosched()
		table.mu.Lock()
		n := len(table.of)
		table.mu.Unlock()
		if n == 1 {
			break
		}
		if time.Now().After(late) {
			t.Fatalf("%d steps are kept", n)
		}
	}
	if step("a", "x") != one {
		t.Error("a step that is used was collected")
	}
}
