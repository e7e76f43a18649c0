package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
)

// pace is the time from one change to the next.
const pace = 100 * time.Millisecond

// rare is how often a change is one of the second kind.
const rare = 10

// burst is a series of changes of different objects, and when each was sent and seen.
type burst struct {
	*measurement
	count int
	mu    sync.Mutex
	sent  []time.Time
	took  []time.Duration // 0: not seen yet
	seen  int
}

// sustained measures many changes in succession, in the order of the costs of the part.
func (w *whole) sustained(ctx context.Context, s size, count int) (out []float64, err error) {
	o := *w.options
	o.subject = s.subject
	_, err = o.measure(ctx, s, func(m *measurement, ctx context.Context, began time.Time) error {
		if err := m.settle(ctx, began); err != nil {
			return err
		}
		b := &burst{measurement: m, count: count, sent: make([]time.Time, count), took: make([]time.Duration, count)}
		out, err = b.run(ctx)
		return err
	})
	return out, err
}

func (b *burst) run(ctx context.Context) ([]float64, error) {
	before, err := b.state(ctx)
	if err != nil {
		return nil, err
	}
	stopped := b.profileCPU(ctx, "changes", 30*time.Second)
	if err := b.changeAll(ctx); err != nil {
		return nil, err
	}
	if err := stopped(); err != nil {
		return nil, err
	}
	if _, err := b.quiet(ctx); err != nil {
		return nil, err
	}
	after, err := b.state(ctx)
	if err != nil {
		return nil, err
	}
	spent := after.since(before.usage)
	b.say("%d of %d changes seen, CPU %s each, %d writes %v, memory %s before and %s after", b.seen, b.count, ms(spent.cpu/time.Duration(b.count)),
		total(after.writes), after.writes, mb(before.rss), mb(after.rss))
	return []float64{
		float64(b.seen), envelope.Of(quantile(b.took, 0.5)), envelope.Of(quantile(b.took, 0.99)), envelope.Of(spent.cpu) / float64(b.count), float64(total(after.writes)),
		float64(before.rss), float64(after.rss), float64(after.top), float64(before.live), float64(after.live),
	}, nil
}

// state is the usage of the operator, its live heap, and its writes since the last state.
type state struct {
	usage
	live   int
	writes map[string]int
}

func (b *burst) state(ctx context.Context) (s state, err error) {
	if s.usage, err = b.process.usage(ctx); err != nil {
		return s, err
	}
	if s.writes, err = b.controlPlane.audit.writes(); err != nil {
		return s, err
	}
	s.live, err = b.process.live(ctx)
	return s, err
}

// changeAll sends all changes at their pace and returns when all were seen, or an error when one is not.
func (b *burst) changeAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_, err := b.measurement.seen.within(ctx, time.Duration(b.count)*pace+patience, b.observe)
		if err != nil {
			err = fmt.Errorf("%d of %d changes seen: %w", b.seen, b.count, err)
		}
		return err
	})
	g.Go(func() error { return b.send(ctx) })
	return g.Wait()
}

// send sends each change at its time, also if an earlier one is not answered yet.
func (b *burst) send(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	next := b.pick()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := range b.count {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), g.Wait())
		case <-tick.C:
		}
		kind, object := next(i)
		g.Go(func() error {
			b.mu.Lock()
			b.sent[i] = time.Now()
			b.mu.Unlock()
			return b.controlPlane.patch(ctx, kind.GroupVersionResource, b.out.namespaceOf(object), kind.name(object), kind.patch(kind.mark.of(i)))
		})
		if (i+1)%600 == 0 {
			b.mu.Lock()
			b.say("%d of %d changes sent, %d seen", i+1, b.count, b.seen)
			b.mu.Unlock()
		}
	}
	return g.Wait()
}

// pick returns a function that chooses the object of the i-th change: each object at most once, so that no later change
// hides an earlier one.
func (b *burst) pick() func(i int) (selected, int) {
	random := rand.New(rand.NewPCG(1, 2))
	var order [][]int
	for _, n := range b.out.counts {
		order = append(order, random.Perm(n))
	}
	return func(i int) (selected, int) {
		if i%rare == rare-1 {
			return b.subject.selected[1], order[1][i/rare]
		}
		return b.subject.selected[0], order[0][i-i/rare]
	}
}

// observe notes the changes that an object of the operator has, and reports whether all were seen.
func (b *burst) observe(s sighting) (bool, error) {
	switch o := s.object.(type) {
	case *corev1.Secret:
		found, err := b.measurement.seen.configuration(o)
		if err != nil {
			return false, err
		}
		b.note(s.at, string(found.text))
		for _, text := range found.rules {
			b.note(s.at, text)
		}
	case *corev1.ConfigMap:
		for _, text := range o.Data {
			b.note(s.at, text)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen == b.count, nil
}

// note records the changes in a text that was seen at a time.
func (b *burst) note(at time.Time, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kind := range b.subject.selected {
		kind.mark.each(text, func(i int) {
			if i < b.count && b.took[i] == 0 {
				b.took[i] = at.Sub(b.sent[i])
				b.seen++
			}
		})
	}
}
