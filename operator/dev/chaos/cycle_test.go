package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// cycle is a scenario in a namespace with an operator of its own.
type cycle struct {
	Scenario
	environment *trial.Environment
	namespace   string
	operator    *trial.Operator
	mirror      *trial.Mirror
	reach       []reference // by step
	idle        int         // requests of an operator that is started and finds nothing to do
	next        int         // step
}

// reference has the result of an undisturbed step.
type reference struct {
	state    trial.State
	writes   faultproxy.Counts
	replaced map[string]int
	missing  map[string]bool
}

// newCycle starts an operator, and goes through all steps undisturbed.
func newCycle(t *testing.T, w *trial.Environment, s Scenario, args ...string) *cycle {
	t.Helper()
	c := &cycle{Scenario: s, environment: w, namespace: "chaos-" + s.Name}
	c.createNamespace(t)
	c.mirror = trial.NewMirror(t, w, c.namespace)
	c.operator = trial.NewOperator(t, w, c.namespace, append([]string{"--log-level=debug"}, args...)...)
	c.operator.Start(t)
	c.environment.Apply(t, c.fill(s.Base))
	c.operator.Idle(t)
	// The first cycle creates objects that outlive it, such as finalizers and PVCs. The second one is the reference.
	for range s.Steps {
		c.step(t)
		c.tidy(t)
		c.operator.Idle(t)
	}
	for range s.Steps {
		c.reach = append(c.reach, c.undisturbed(t))
	}
	c.operator.Proxy.Reset()
	c.operator.Restart(t)
	c.operator.Idle(t)
	counts := c.operator.Proxy.Reset()
	c.idle = counts.Sum(faultproxy.Any)
	if writes := counts.Strings(faultproxy.Call.Writes); len(writes) > 0 {
		t.Errorf("an operator that finds everything done writes %q", writes)
	}
	c.expect(t, len(s.Steps)-1)
	return c
}

func (c *cycle) fill(manifests string) string {
	return strings.NewReplacer("NAMESPACE", c.namespace, `"ID"`, `"`+c.namespace+`"`).Replace(manifests)
}

// step makes the changes of the next step.
func (c *cycle) step(t *testing.T) (done int) {
	t.Helper()
	done = c.next
	c.next = (c.next + 1) % len(c.Steps)
	s := c.Steps[done]
	if s.Apply != "" {
		c.environment.Apply(t, c.fill(s.Apply))
	}
	for _, o := range s.Remove {
		c.environment.Remove(t, c.namespace, o.Resource, o.Name)
	}
	return done
}

// tidy waits until the garbage collector has removed what belongs to deleted objects.
func (c *cycle) tidy(t *testing.T) {
	t.Helper()
	trial.Await(t, "the garbage is collected", func() error {
		if key := trial.Garbage(c.mirror.Snapshot()); key != "" {
			return fmt.Errorf("the owner of %s does not exist", key)
		}
		return nil
	})
}

// quiet is the time without a change of any object after which an undisturbed operator has done all that it does: one
// second is the longest pause between its writes.
const quiet = 1500 * time.Millisecond

// undisturbed makes the next step and returns what it leads to.
func (c *cycle) undisturbed(t *testing.T) reference {
	t.Helper()
	c.operator.Idle(t)
	c.operator.Proxy.Reset()
	c.mirror.Begin()
	c.step(t)
	ctx, cancel := context.WithTimeout(t.Context(), trial.Deadline)
	defer cancel()
	c.tidy(t)
	if err := c.mirror.Rests(ctx, quiet); err != nil {
		t.Fatal(err)
	}
	c.tidy(t)
	c.operator.Idle(t)
	out := reference{state: c.mirror.Snapshot(), writes: faultproxy.Counts{}}
	for call, n := range c.operator.Proxy.Reset() {
		if call.Writes() && call.Namespace == c.namespace {
			out.writes[call] = n
		}
	}
	life := c.mirror.Begin()
	out.replaced, out.missing = life.Replaced, life.Missing
	return out
}

// points returns the writes of a step at which the operator can be killed.
func (c *cycle) points(step int) (out []faultproxy.Point) {
	writes := c.reach[step].writes
	calls := slices.SortedFunc(maps.Keys(writes), func(a, b faultproxy.Call) int { return strings.Compare(a.String(), b.String()) })
	for _, call := range calls {
		for n := range writes[call] {
			out = append(out, faultproxy.Point{Call: call, Nth: n + 1}, faultproxy.Point{Call: call, Nth: n + 1, After: true})
		}
	}
	return out
}

// expect waits until the objects are those that a step leads to.
func (c *cycle) expect(t *testing.T, step int) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), trial.Deadline)
	defer cancel()
	_, err := c.mirror.Reaches(ctx, c.reach[step].state, nil)
	if err != nil {
		t.Errorf("step %q: %v", c.Steps[step].Name, err)
		c.operator.Explain(t)
		return false
	}
	return true
}

// allow is how much more than undisturbed a step may cost.
type allow struct {
	calls        int  // requests in all
	replacements bool // others replace pods
	anything     bool // the namespace was lost, and with it everything
}

// recovers waits until a step has led where it leads undisturbed, and checks what happened on the way.
func (c *cycle) recovers(t *testing.T, step int, a allow) bool {
	t.Helper()
	if !c.expect(t, step) {
		return false
	}
	c.operator.Idle(t)
	if !c.expect(t, step) {
		return false
	}
	counts := c.operator.Proxy.Reset()
	if n := counts.Sum(faultproxy.Any); n > a.calls {
		t.Errorf("step %q: %d requests, allowed are %d:\n%s", c.Steps[step].Name, n, a.calls, strings.Join(counts.Strings(faultproxy.Any), "\n"))
	}
	life, undisturbed := c.mirror.Begin(), c.reach[step]
	if a.anything {
		return true
	}
	for what, n := range life.Replaced {
		if !a.replacements && n > undisturbed.replaced[what] {
			t.Errorf("step %q: %s was replaced %d times, undisturbed %d", c.Steps[step].Name, what, n, undisturbed.replaced[what])
		}
	}
	for atom := range life.Missing {
		if !undisturbed.missing[atom] {
			t.Errorf("step %q: %s was missing for a while", c.Steps[step].Name, atom)
		}
	}
	return true
}

// starting is the number of requests with which an operator starts, finds nothing to do, and does a step.
func (c *cycle) starting(step int) int {
	return c.idle + c.doing(step)
}

// doing is the number of requests that suffice for a step: each write may be preceded by a read, and repeated once.
func (c *cycle) doing(step int) int {
	return 10 + 4*c.reach[step].writes.Sum(faultproxy.Any)
}
