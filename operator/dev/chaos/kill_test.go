package chaos

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// The operator is killed at each of its writes, before the API server gets it and after it has applied it.
func TestKilledAtEachWrite(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			needsAll(t)
			t.Parallel()
			c := newCycle(t, shared(t), s)
			killAll(t, c)
		})
	}
}

// needsAll skips a test that is only run with FIREKEEPER_CHAOS.
func needsAll(t *testing.T) {
	t.Helper()
	if testing.Short() || !complete {
		t.Skip("takes long; set FIREKEEPER_CHAOS=all to run it")
	}
}

// killAll goes around the cycle until each point of each step had its turn.
func killAll(t *testing.T, c *cycle) {
	t.Helper()
	left, total := make([][]faultproxy.Point, len(c.Steps)), 0
	for i := range c.Steps {
		left[i] = c.points(i)
		total += len(left[i])
		fmt.Fprintf(os.Stderr, "%s: %d kill points at %s\n", c.Name, len(left[i]), c.Steps[i].Name)
	}
	for round := 1; ; round++ {
		more := false
		for i := range c.Steps {
			if len(left[i]) == 0 {
				c.plain(t)
				continue
			}
			if more = !over(); !more {
				return
			}
			at := left[i][0]
			left[i] = left[i][1:]
			name := fmt.Sprintf("%s %s %s %d", c.Steps[i].Name, at.When(), at.Call, at.Nth)
			ok := try(t, killed, c.Name, total, name, func(t *testing.T) { c.killed(t, at) })
			if !ok && c.lost() {
				t.Fatal("the state from which the next step starts is another one")
			}
		}
		if !more {
			return
		}
	}
}

// plain makes the next step undisturbed.
func (c *cycle) plain(t *testing.T) {
	t.Helper()
	step := c.step(t)
	c.expect(t, step)
}

// lost reports whether the objects are not those that the last step leads to.
func (c *cycle) lost() bool {
	last := (c.next + len(c.Steps) - 1) % len(c.Steps)
	return trial.Differs(c.reach[last].state, c.mirror.Snapshot()) != ""
}

// killed makes the next step, in which the operator is killed.
func (c *cycle) killed(t *testing.T, at faultproxy.Point) {
	t.Helper()
	c.calm(t)
	fault, reached := faultproxy.Kill(at, c.operator.Kill)
	c.operator.Proxy.Disturb(fault)
	step := c.step(t)
	ctx, cancel := context.WithTimeout(t.Context(), trial.Deadline)
	defer cancel()
	stopped, err := c.mirror.Reaches(ctx, c.reach[step].state, reached)
	switch {
	case err != nil:
		t.Errorf("not even undisturbed: %v", err)
	case !stopped: // a write may come after the state is reached, for example one that changes nothing
		c.operator.IdleOr(t, reached)
	}
	select {
	case <-reached:
	default:
		t.Logf("not reached: the step did without %s %d", at.Call, at.Nth)
	}
	c.operator.Proxy.Reset()
	c.operator.Restart(t)
	c.recovers(t, step, allow{calls: c.starting(step)})
}
