package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// The targets of the Prometheus k8s, as JSON and as a page.
const (
	targetsPath = "/apis/monitoring.coreos.com/v1/namespaces/" + demo + "/prometheuses/k8s/targets?state=kept&limit=100"
	targetsPage = "/prometheuses/" + demo + "/k8s?tab=targets"
)

// following is the time between two changes. It is longer than the five seconds after which the targets of a changed job
// are found again at the earliest, so that each change is measured alone.
const following = 6 * time.Second

// follow measures the command ui, which keeps targets current.
func (w *whole) follow(ctx context.Context, b *controlPlane, pods int) (out []float64, err error) {
	address, err := ports.Address()
	if err != nil {
		return nil, err
	}
	p, err := w.command(b, address, "ui")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w; the end of its log:\n%s", err, p.tail())
		}
		err = errors.Join(err, p.stop())
	}()
	if err := p.answering(ctx, "/"); err != nil {
		return nil, err
	}
	before, err := p.kernelUsage()
	if err != nil {
		return nil, err
	}
	complete, err := p.complete(ctx, pods/selectedShare)
	if err != nil {
		return nil, err
	}
	after, err := p.kernelUsage()
	if err != nil {
		return nil, err
	}
	w.say("operator ui: targets complete after %s, CPU %s, memory %s before and %s after", ms(complete), ms(after.cpu-before.cpu), mb(before.rss), mb(after.rss))
	out = []float64{envelope.Of(complete), envelope.Of(after.cpu - before.cpu)}
	for _, path := range []string{targetsPage, targetsPath} {
		took, err := p.answers(ctx, path, w.samples)
		if err != nil {
			return nil, err
		}
		w.say("%s: %s", path, changes{took: took}.quantiles())
		out = append(out, envelope.Of(quantile(took, 0.5)), envelope.Of(quantile(took, 0.99)))
	}
	changed, err := w.changeEndpoints(ctx, b, p, pods)
	if err != nil {
		return nil, err
	}
	end, err := p.kernelUsage()
	if err != nil {
		return nil, err
	}
	return append(out, envelope.Of(quantile(changed.took, 0.5)), envelope.Of(changed.each()),
		float64(end.rss), float64(end.top)), nil
}

// complete requests the targets until all are found, and returns the time that this took.
func (p *process) complete(ctx context.Context, want int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for began := time.Now(); ; {
		now, err := p.targets(ctx)
		if err != nil {
			return 0, err
		}
		if now.Synced && now.Counts.Kept != want {
			return 0, fmt.Errorf("%d targets are found, not %d: %v", now.Counts.Kept, want, now.Notes)
		}
		if now.Synced {
			return time.Since(began), nil
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// answer is a part of the answer about targets.
type answer struct {
	Synced bool
	Counts struct{ Kept int }
	Notes  []string
}

func (p *process) targets(ctx context.Context) (out answer, err error) {
	body, err := p.get(ctx, targetsPath)
	if err != nil {
		return out, err
	}
	return out, errors.Join(json.NewDecoder(body).Decode(&out), body.Close())
}

// answers returns how long answers to a question take.
func (p *process) answers(ctx context.Context, path string, samples int) ([]time.Duration, error) {
	var took []time.Duration
	for range samples {
		began := time.Now()
		body, err := p.get(ctx, path)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, body)
		if err := errors.Join(err, body.Close()); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// changeEndpoints takes single addresses out of EndpointSlices and times until the number of targets is the lower one.
func (w *whole) changeEndpoints(ctx context.Context, b *controlPlane, p *process, pods int) (out changes, err error) {
	services := pods / podsOfService
	before, err := p.kernelUsage()
	if err != nil {
		return out, err
	}
	left := pods / selectedShare
	for i := range min(w.samples, services/selectedShare, 12) {
		if err := wait(ctx, following); err != nil {
			return out, err
		}
		_, slice := discoverytest.TypicalService(i*selectedShare + 3) // those with the label that is selected
		began := time.Now()
		if _, err := b.kube.DiscoveryV1().EndpointSlices(demo).Patch(ctx, slice.Name, types.JSONPatchType,
			[]byte(`[{"op":"remove","path":"/endpoints/0"}]`), metav1.PatchOptions{}); err != nil {
			return out, err
		}
		for {
			now, err := p.targets(ctx)
			if err != nil {
				return out, err
			}
			if now.Counts.Kept == left-i-1 {
				break
			}
			if time.Since(began) > patience {
				return out, fmt.Errorf("%d targets after %d of %d were taken out: %v", now.Counts.Kept, i+1, left, now.Notes)
			}
			if err := wait(ctx, 5*time.Millisecond); err != nil {
				return out, err
			}
		}
		out.took = append(out.took, time.Since(began))
	}
	after, err := p.kernelUsage()
	out.spent = after.since(before)
	w.say("operator ui: one changed endpoint: %s, CPU %s each", out.quantiles(), ms(out.each()))
	return out, err
}
