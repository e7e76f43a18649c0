package main

import (
	"context"
	"errors"
	"time"
)

// restart holds the costs of a restart after which nothing has to be written.
type restart struct {
	settle time.Duration // from the start until it does nothing more
	cpu    time.Duration
	writes map[string]int
}

// startAgain ends the operator and measures its next start.
func (m *measurement) startAgain(ctx context.Context) error {
	if err := m.process.stop(); err != nil {
		return err
	}
	switch before, err := m.controlPlane.audit.writes(); { // those until now
	case err != nil:
		return err
	case total(before) == 0:
		return errors.New("the audit log has no writes of the operator, which has written configurations")
	}
	began := time.Now()
	p, err := m.launch(m.controlPlane)
	if err != nil {
		return err
	}
	m.process = p
	if err := p.listening(ctx); err != nil {
		return err
	}
	out := &restart{}
	if out.settle, err = m.busy(ctx, began); err != nil {
		return err
	}
	used, err := m.process.usage(ctx)
	if err != nil {
		return err
	}
	out.cpu = used.cpu
	if out.writes, err = m.controlPlane.audit.writes(); err != nil {
		return err
	}
	m.out.again = out
	m.say("restarted: settled after %s, CPU %s, at most %s, %d writes %v", out.settle.Round(time.Millisecond), out.cpu, mb(used.top), total(out.writes), out.writes)
	return nil
}

// busy returns how long the operator had something to do: until each workload was reconciled, and it has neither called
// the API nor reconciled anything for three seconds since.
func (m *measurement) busy(ctx context.Context, began time.Time) (time.Duration, error) {
	const calm, often = 3 * time.Second, 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	var last usage
	at := time.Now()
	for last.passes < m.out.owners || time.Since(at) < calm {
		now, err := m.process.usage(ctx)
		if err != nil {
			return 0, err
		}
		if now.calls != last.calls || now.passes != last.passes {
			last, at = now, time.Now()
		}
		if err := wait(ctx, often); err != nil {
			return 0, err
		}
	}
	return at.Sub(began), nil
}
