package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// result holds the measurements of one size.
type result struct {
	size
	settle        time.Duration // from the start of the operator until everything is written
	settled, idle usage         // after the start; during idle time
	changed       []changes     // one entry for each selected kind
	end           usage
	live          int      // bytes of the heap in use after a collection, at the end
	again         *restart // nil if it was not measured
}

// changes holds the timings of the changes of one kind.
type changes struct {
	took  []time.Duration
	spent usage // in total
}

// measure creates the objects of one size, starts the operator and runs the steps.
func (o *options) measure(ctx context.Context, s size, steps func(*measurement, context.Context, time.Time) error) (out result, err error) {
	o.say("size %s", s)
	b, err := o.newControlPlane(ctx)
	if b != nil {
		defer func() {
			if err != nil {
				b.KeepLogs()
			}
			err = errors.Join(err, b.end())
		}()
	}
	if err != nil {
		return out, err
	}
	if err := b.fill(ctx, s, o.say); err != nil {
		return out, err
	}
	seen, err := b.observe(ctx, s.subject)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, seen.close()) }()
	began := time.Now()
	p, err := o.launch(b)
	if err != nil {
		return out, err
	}
	m := measurement{options: o, controlPlane: b, process: p, seen: seen, out: result{size: s}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w; the end of the operator's log:\n%s", err, m.process.tail())
		}
		err = errors.Join(err, m.process.stop())
	}()
	err = steps(&m, ctx, began)
	return m.out, err
}

// tail returns the end of the operator's log.
func (p *process) tail() string {
	raw, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

type measurement struct {
	*options
	controlPlane *controlPlane
	process      *process
	seen         *observer
	out          result
}

// settle waits until the operator has written everything and does nothing more.
func (m *measurement) settle(ctx context.Context, began time.Time) error {
	stopped := m.profileCPU(ctx, "start", startProfile)
	complete := m.out.complete(m.seen)
	at, err := m.seen.within(ctx, startPatience, func(s sighting) (bool, error) { return complete(s.object) })
	if err != nil {
		return fmt.Errorf("wait for the first configuration: %w", err)
	}
	m.out.settle = at.Sub(began)
	if err := stopped(); err != nil {
		return err
	}
	if m.out.settled, err = m.quiet(ctx); err != nil {
		return err
	}
	m.say("settled after %s, CPU %s, memory %s, at most %s", m.out.settle.Round(time.Millisecond), m.out.settled.cpu, mb(m.out.settled.rss), mb(m.out.settled.top))
	return nil
}

// steps measures the start, the operator doing nothing, single changes, and a restart if that is wanted.
func (m *measurement) steps(ctx context.Context, began time.Time) error {
	if err := m.settle(ctx, began); err != nil {
		return err
	}
	before := m.out.settled
	if err := wait(ctx, m.idle); err != nil {
		return err
	}
	after, err := m.process.usage(ctx)
	if err != nil {
		return err
	}
	m.out.idle = after.since(before)

	var length time.Duration
	for i := range m.subject.selected {
		length += time.Duration(m.samples) * (m.between(i) + 100*time.Millisecond)
	}
	stopped := m.profileCPU(ctx, "changes", length)
	for i := range m.subject.selected {
		of, err := m.change(ctx, i)
		if err != nil {
			return err
		}
		m.out.changed = append(m.out.changed, of)
	}
	if err := stopped(); err != nil {
		return err
	}
	if m.out.end, err = m.process.usage(ctx); err != nil {
		return err
	}
	if err := errors.Join(m.keepContent(), m.saveProfiles(ctx)); err != nil {
		return err
	}
	if m.out.live, err = m.process.live(ctx); err != nil || !m.restart {
		return err
	}
	return m.startAgain(ctx)
}

// saveProfiles saves the profiles of --profiles at the end.
func (m *measurement) saveProfiles(ctx context.Context) error {
	if m.profiles == "" {
		return nil
	}
	log, err := os.ReadFile(m.process.log.Name())
	if err == nil {
		err = os.WriteFile(m.profileFile("log"), log, 0o644)
	}
	return errors.Join(err,
		m.process.save(ctx, "/metrics", m.profileFile("metrics")),
		m.process.save(ctx, "/debug/pprof/heap?gc=1", m.profileFile("heap.pprof")))
}

// keepContent saves the latest decoded configuration of one workload.
func (m *measurement) keepContent() error {
	found := m.seen.last
	secrets, bytes := 0, 0
	for name, data := range m.seen.known {
		if owner, _, _ := m.subject.ownerOf(name); owner != found.owner {
			continue
		}
		secrets++
		for _, content := range data {
			bytes += len(content)
		}
	}
	m.say("configuration of %s: %s in %d Secrets of %s together, and %d rule files", found.owner, mb(len(found.text)), secrets, mb(bytes), len(found.rules))
	if m.keep == "" {
		return nil
	}
	dir := filepath.Join(m.keep, m.out.fileName())
	if err := os.MkdirAll(filepath.Join(dir, "rules"), 0o755); err != nil {
		return err
	}
	for name, text := range found.rules {
		if err := os.WriteFile(filepath.Join(dir, "rules", name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, m.subject.file), found.text, 0o644)
}

// quiet returns once the operator has not called the API for a while.
func (m *measurement) quiet(ctx context.Context) (usage, error) {
	last, err := m.process.usage(ctx)
	for calm := 0; err == nil && calm < 3; {
		if err = wait(ctx, time.Second); err != nil {
			break
		}
		var now usage
		now, err = m.process.usage(ctx)
		if calm++; now.calls != last.calls {
			calm = 0
		}
		last = now
	}
	return last, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// between returns the pause after a change of an object of the i-th kind. The operator throttles writes, more for larger
// ones, but the benchmark measures the latency of an isolated change.
func (m *measurement) between(i int) time.Duration {
	if m.pause > 0 {
		return m.pause
	}
	of := m.subject.selected[i].written
	bytes := min(m.out.size.each(i)*of.each, of.most)
	return time.Second + time.Duration(bytes)*time.Second/100_000
}

// change times changes of randomly selected objects, the same ones in every run.
func (m *measurement) change(ctx context.Context, which int) (changes, error) {
	kind, count := m.subject.selected[which], m.out.counts[which]
	var out changes
	before, err := m.process.usage(ctx)
	if err != nil {
		return out, err
	}
	pick := rand.New(rand.NewPCG(1, 2))
	for i := range m.samples {
		object := pick.IntN(count)
		mark := kind.mark.of(i)
		began := time.Now()
		if err := m.controlPlane.patch(ctx, kind.GroupVersionResource, m.out.namespaceOf(object), kind.name(object), kind.patch(mark)); err != nil {
			return out, err
		}
		at, err := m.seen.until(ctx, m.out.carried(m.seen, mark))
		if err != nil {
			return out, fmt.Errorf("wait for change %d of %s: %w", i, kind.Resource, err)
		}
		out.took = append(out.took, at.Sub(began))
		if err := wait(ctx, m.between(which)); err != nil {
			return out, err
		}
	}
	after, err := m.process.usage(ctx)
	out.spent = after.since(before)
	m.say("%s: %s, CPU %s each", kind.Resource, out.quantiles(), ms(out.each()))
	return out, err
}

func (m *measurement) profileFile(what string) string {
	return filepath.Join(m.profiles, m.out.fileName()+"."+what)
}

// startProfile is the length of the CPU profile taken after the start.
const startProfile = 8 * time.Second

// profileCPU records a CPU profile of the operator. The returned function waits for its end.
func (m *measurement) profileCPU(ctx context.Context, what string, length time.Duration) func() error {
	if m.profiles == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		err := os.MkdirAll(m.profiles, 0o755)
		if err == nil {
			err = m.process.listening(ctx)
		}
		if err == nil {
			err = m.process.save(ctx, fmt.Sprintf("/debug/pprof/profile?seconds=%d", int(length.Seconds())+1), m.profileFile(what+".pprof"))
		}
		done <- err
	}()
	return func() error { return <-done }
}

// listening returns once the operator's HTTP server responds.
func (p *process) listening(ctx context.Context) error { return p.answering(ctx, "/healthz") }

// answering returns once the program serves a path.
func (p *process) answering(ctx context.Context, path string) error {
	for {
		body, err := p.get(ctx, path)
		if err == nil {
			return body.Close()
		}
		select {
		case <-p.exited:
			return fmt.Errorf("%s has ended", p.cmd.Path)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
