package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// Webhooks sends hostile requests to the webhooks alone, without a cluster, until the duration is over. Two of three
// requests have objects that are too large for etcd.
//
// Errors: [NoCgroupError]; the webhooks do not start.
func Webhooks(ctx context.Context, o Options) (Result, error) {
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
	r.w = &environment{Options: o}
	if r.w.ports, err = ports.Take(4); err != nil {
		return Result{}, err
	}
	err = r.webhooks(ctx)
	err = errors.Join(err, r.k.stop())
	result := r.result()
	return result, errors.Join(err, r.w.stop())
}

func (r *runner) webhooks(ctx context.Context) error {
	if _, err := r.w.startWebhooks(ctx, r.k); err != nil {
		return err
	}
	source, err := hostile.New(hostile.Options{Seed: r.Seed, Namespace: hostileNS, Beta: true})
	if err != nil {
		return err
	}
	r.callers = &callers{w: r.w, source: source, found: r.findings.add, count: requestCounts{codes: map[string]int{}}, hooksOnly: true}
	logs := &checker{w: r.w, k: r.k, found: r.findings.add, logs: map[string]int64{}}
	before := r.k.usage("webhook").RSS
	ctx, cancel := context.WithTimeout(ctx, r.Duration)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.callers.run(ctx)
	}()
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-tick.C:
		}
		logs.fromLogs()
		u := r.k.usage("webhook")
		n := r.callers.counted()
		r.say("%d requests, answers by code %v; webhook %d/%d MiB; found %d", n.total, n.codes, u.RSS>>20, r.k.peakOf("webhook")>>20, r.findings.count())
		if err := r.k.revive(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return eventually(context.WithoutCancel(ctx), time.Minute, func() error {
		if now := r.k.usage("webhook").RSS; now > before+margins["webhook"] {
			return fmt.Errorf("webhook: %d MiB resident, before %d MiB", now>>20, before>>20)
		}
		return nil
	})
}
