package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// Result is the outcome of a run.
type Result struct {
	Findings []Finding
	counts   counts
	requests requestCounts
	reported int
	loaded   int
	largest  int
	reloads  int64
	peak     map[string]int64
	tenant   string
	changes  int
	took     time.Duration
}

// bindingGate enables writing status.bindings in the operator.
const bindingGate = "--feature-gates=StatusForConfigurationResources=true"

// runner is the state of a run.
type runner struct {
	Options
	w        *environment
	k        *keeper
	v        *written
	pod      *pod
	tenant   *tenant
	attacker *attacker
	callers  *callers
	checker  *checker
	findings *findings
	before   state
	began    time.Time
	at       int // number of the next object
}

// Run attacks until all objects are used or the time is up.
//
// Errors: [NoCgroupError]; failures of the attack itself. Findings are not errors.
func Run(ctx context.Context, o Options) (Result, error) {
	o, err := o.checked()
	if err != nil {
		return Result{}, err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Result{}, err
	}
	r := &runner{Options: o, began: time.Now()}
	r.findings = newFindings(filepath.Join(o.Out, "findings"), r.say)
	r.k = newKeeper(r.findings.add)
	err = r.run(ctx)
	if r.k != nil {
		err = errors.Join(err, r.k.stop())
	}
	result := r.result()
	return result, errors.Join(err, r.pod.close(), r.w.stop())
}

func (r *runner) run(ctx context.Context) error {
	background, cancel := context.WithCancel(ctx)
	var g sync.WaitGroup
	defer g.Wait()
	defer cancel()
	if err := r.prepare(background); err != nil {
		return err
	}
	r.say("all processes run with the limits of deploy/; seed %d", r.Seed)
	var err error
	if r.before, err = r.state(ctx); err != nil {
		return err
	}
	changing, stopChanging := context.WithCancel(background)
	defer stopChanging()
	var tenants sync.WaitGroup
	tenants.Go(func() { r.tenant.run(changing) })
	g.Go(func() { r.callers.run(changing) })
	g.Go(func() { r.progress(background) })
	if err := r.attack(ctx); err != nil {
		return err
	}
	stopChanging()
	tenants.Wait()
	if err := r.compare(ctx); err != nil {
		return err
	}
	return r.minimise(ctx)
}

// prepare starts everything and waits for the initial state of the well-behaved tenant.
func (r *runner) prepare(ctx context.Context) error {
	var err error
	if r.w, err = newEnvironment(ctx, r.Options); err != nil {
		return err
	}
	if err := r.w.webhooks(ctx, r.k); err != nil {
		return err
	}
	program, err := r.w.operatorProgram()
	if err != nil {
		return err
	}
	if err := r.k.run(ctx, program, answers(r.w.operatorURL()+"/readyz")); err != nil {
		return err
	}
	if r.v, err = r.w.follow(ctx); err != nil {
		return err
	}
	r.tenant = newTenant(r.w, r.v, r.findings.add)
	if err := r.tenant.reset(ctx, readiness); err != nil {
		return err
	}
	if r.pod, err = r.w.newPod(ctx, r.k, r.v); err != nil {
		return err
	}
	if r.attacker, err = newAttacker(r.w, r.findings.add); err != nil {
		return err
	}
	r.k.blame = func() []hostile.Manifest { return manifestsOf(r.attacker.living()) }
	if r.callers, err = newCallers(ctx, r.w, r.attacker.source, r.findings.add); err != nil {
		return err
	}
	if err := r.callers.warm(ctx); err != nil {
		return err
	}
	r.checker, err = r.w.newChecker(ctx, r.v, r.k, r.findings.add)
	return err
}

// attack runs batch after batch.
func (r *runner) attack(ctx context.Context) error {
	end := time.Now().Add(r.Duration)
	last := r.From + r.Objects
	restarted := 0
	for r.at = r.From; ; {
		if r.Objects > 0 && r.at >= last || r.Duration > 0 && time.Now().After(end) || ctx.Err() != nil {
			return ctx.Err()
		}
		from, to := r.at, r.at+r.Batch
		if r.Objects > 0 {
			to = min(to, last)
		}
		r.findings.batch(from, to)
		r.attacker.shrink(ctx, r.Alive-r.Batch)
		var g sync.WaitGroup
		if share := r.share(end); share*float64(r.Restarts+1) >= float64(restarted+1) && restarted < r.Restarts {
			restarted++
			if err := r.restartAPIServer(ctx); err != nil {
				return err
			}
			g.Go(func() { r.restart(ctx, restarted) })
		}
		r.attacker.batch(ctx, from, to)
		g.Wait()
		r.at = to
		if err := r.checker.after(ctx, r.attacker.living()); err != nil {
			return err
		}
	}
}

// share returns the completed fraction of the run.
func (r *runner) share(end time.Time) float64 {
	out := 0.0
	if r.Objects > 0 {
		out = float64(r.at-r.From) / float64(r.Objects)
	}
	if r.Duration > 0 {
		out = max(out, 1-float64(time.Until(end))/float64(r.Duration))
	}
	return out
}

// restartAPIServer kills the API server between two batches, while the processes and the well-behaved tenant use it.
func (r *runner) restartAPIServer(ctx context.Context) error {
	r.say("the API server is killed and started again")
	r.w.killed.Store(time.Now().UnixNano())
	return r.w.cluster.RestartAPIServer(ctx)
}

// restart kills every process while objects are stored, and starts it again. After the second restart, the operator
// also writes status.bindings.
func (r *runner) restart(ctx context.Context, number int) {
	r.say("every process is killed and started again")
	if number == 2 {
		r.k.addArgs("operator", bindingGate)
		r.checker.bindings = true
	}
	for _, name := range r.k.names() {
		r.w.killed.Store(time.Now().UnixNano())
		if err := r.k.restart(ctx, name); err != nil && ctx.Err() == nil {
			r.findings.add(Finding{Kind: Ended, Process: name, Text: "it does not start again: " + err.Error() + "\n" + tail(r.w.logOf(name)), Objects: manifestsOf(r.attacker.living())})
		}
	}
}

// say writes a line with the elapsed time.
func (r *runner) say(format string, args ...any) {
	fmt.Fprintf(r.Log, "adversary %7s: "+format+"\n", append([]any{time.Since(r.began).Round(time.Second)}, args...)...)
}

func (w *environment) debug(format string, args ...any) {
	f, err := os.OpenFile(filepath.Join(w.Out, "refused.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, format+"\n", args...)
}
