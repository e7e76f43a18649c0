package central

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/targets/autoscale"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
)

const (
	// scaleEvery is the interval at which numbers of shards are decided on, and written if they changed.
	scaleEvery = 10 * time.Second
	// decisionsFor is how long a new leader waits for the stored decisions before it places targets.
	decisionsFor = time.Minute
	// unknownFor is how long the load of a workload may be unknown before waiting periods restart.
	unknownFor = time.Minute
	// storeEvery is the interval at which the leader checks that the stored decisions are its own.
	storeEvery = time.Minute
)

// Reasons of Events about the number of shards.
const (
	reasonScaled = "ShardsScaled"
	reasonUnsent = "SamplesUnsent"
)

// Decisions stores the wanted numbers of shards of workloads.
type Decisions interface {
	// Read returns the last decisions; none if there were none.
	//
	// Errors: those of the API server; [scaling.ErrInvalid]. After the latter, Write replaces the invalid text.
	Read(ctx context.Context) (scaling.Document, error)
	// Write replaces the decisions that were read or written last.
	//
	// Errors: those of the API server, such as a conflict.
	Write(ctx context.Context, all scaling.Document) error
}

// decided are the decisions of this replica, guarded by the mutex of the Runner.
type decided struct {
	leader uint64 // that has read the last ones; 0: none
	all    scaling.Document

	waiting uint64 // leader that waits for them, since then
	since   time.Time
}

// scale decides on numbers of shards until the context ends.
func (r *Runner) scale(ctx context.Context) {
	check := time.NewTicker(every)
	defer check.Stop()
	var written storedDecisions
	var next time.Time
	problem := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-check.C:
		}
		r.mu.Lock()
		due := r.decided.leader != r.feed.Leader() && problem == ""
		r.mu.Unlock()
		if now := time.Now(); !due && now.Before(next) {
			continue
		}
		next = time.Now().Add(scaleEvery)
		err := r.decide(ctx, &written)
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); err != nil && text != problem {
			r.log.Warn("numbers of shards stay as they are", "err", err)
			problem = text
		} else if err == nil {
			problem = ""
		}
	}
}

// storedDecisions is a copy of the decisions in the store.
type storedDecisions struct {
	all scaling.Document
	at  time.Time
}

// decide reads the decisions of the last leader once, and decides. written are the decisions in the store.
func (r *Runner) decide(ctx context.Context, written *storedDecisions) error {
	leader := r.feed.Leader()
	if leader == 0 {
		return nil
	}
	r.mu.Lock()
	known, wanted := r.decided.leader == leader, r.autoscales()
	r.mu.Unlock()
	if !known {
		if !wanted {
			return nil // no workload needs it
		}
		all, err := r.Decisions.Read(ctx)
		if errors.Is(err, scaling.ErrInvalid) {
			r.log.Warn("the stored numbers of shards are replaced, all workloads keep the shards that they have", "err", err)
		} else if err != nil {
			return err
		}
		*written = storedDecisions{all, time.Now()}
		r.mu.Lock()
		r.decided.leader, r.decided.all = leader, all
		for _, w := range r.workloads {
			w.scaler = nil
		}
		r.mu.Unlock()
	}
	next, reports := r.stepScalers(time.Now())
	if isStored, err := r.isStored(ctx, next, written); isStored || err != nil {
		return err
	}
	if err := r.Decisions.Write(ctx, next); err != nil {
		r.mu.Lock()
		r.decided.leader = 0 // another replica may have written: read it again
		r.mu.Unlock()
		return err
	}
	*written = storedDecisions{next, time.Now()}
	for _, report := range reports {
		report()
	}
	return nil
}

// isStored reports whether the store has these decisions. Another client may have replaced them, for example by
// restoring a backup.
func (r *Runner) isStored(ctx context.Context, next scaling.Document, written *storedDecisions) (bool, error) {
	switch now := time.Now(); {
	case len(next)+len(written.all) == 0:
		return true, nil
	case !reflect.DeepEqual(next, written.all):
		return false, nil
	case now.Sub(written.at) < storeEvery:
		return true, nil
	}
	all, err := r.Decisions.Read(ctx)
	if err != nil && !errors.Is(err, scaling.ErrInvalid) {
		return false, err
	}
	*written = storedDecisions{next, time.Now()}
	switch {
	case err != nil:
		r.log.Warn("another client has changed the numbers of shards, they are rewritten", "err", err)
	case !sameText(next, all):
		r.log.Warn("another client has changed the numbers of shards, they are rewritten")
	default:
		return true, nil
	}
	return false, nil
}

// sameText reports whether two documents have the same text: that of a long document lacks its history.
func sameText(a, b scaling.Document) bool {
	x, errX := a.Encode()
	y, errY := b.Encode()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// autoscales reports whether a workload has autoscaling. r.mu must be held.
func (r *Runner) autoscales() bool {
	for _, w := range r.workloads {
		if _, ok := r.limitsOf(w); ok {
			return true
		}
	}
	return false
}

// limitsOf returns the limits of a workload; ok is false without autoscaling.
func (r *Runner) limitsOf(w *workload) (out autoscale.Limits, ok bool) {
	if r.Decisions == nil || w.by == nil {
		return out, false
	}
	if out.Limits, ok = prometheus.ScalingLimits(w.object); !ok {
		return out, false
	}
	zones := map[string]bool{}
	for _, s := range w.shardList {
		if s.Zone != "" {
			zones[s.Zone] = true
		}
	}
	out.Zones, out.Sends, out.Retained = len(zones), w.Kind == v1alpha1.PrometheusAgentKind, prometheus.RetainsShards(w.object, r.source.Options)
	out.Speed = r.Speed
	return out, true
}

// stepScalers decides for all workloads. It returns all decisions, and functions to report the new ones after storing them.
func (r *Runner) stepScalers(now time.Time) (next scaling.Document, reports []func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next = scaling.Document{}
	if !r.read || r.missing != "" {
		for name, before := range r.decided.all {
			next[name] = before // of workloads that could not be read
		}
	}
	for _, w := range r.workloads {
		if limits, ok := r.limitsOf(w); ok {
			reports = append(reports, r.stepScaler(now, w, limits)...)
			if state := w.scaler.State(); state.Shards > 0 { // otherwise there is no decision yet
				next[nameOf(w.Ref)] = state
			}
		} else if before, is := r.decided.all[nameOf(w.Ref)]; is && w.object.GetAnnotations()[wellknown.AnnotationMaxShards] != "" {
			next[nameOf(w.Ref)] = before // until its annotations are valid
		} else {
			w.scaler = nil
		}
	}
	r.decided.all = next
	return next, reports
}

// stepScaler decides for a workload, and returns a function to report the decision.
func (r *Runner) stepScaler(now time.Time, w *workload, limits autoscale.Limits) (reports []func()) {
	if w.scaler == nil {
		w.scaler = autoscale.New(r.decided.all[nameOf(w.Ref)])
	}
	if !w.by.Current() || w.by.Leader() != r.decided.leader || !w.complete || w.problem != "" || r.missing != "" {
		if w.unknownSince.IsZero() {
			w.unknownSince = now
		}
		if now.Sub(w.unknownSince) >= unknownFor {
			w.scaler.Unknown()
		}
		return nil
	}
	w.unknownSince = time.Time{}
	load, kept := w.load(), w.scaler.State().Shards
	step := w.scaler.Step(now, limits, load)
	object, name := w.object, w.Ref.String()
	if state := w.scaler.State(); limits.Sends && (load.Unsent > 0 || load.UnsentAt.IsZero()) && state.Shards < kept {
		reports = append(reports, func() {
			text := fmt.Sprintf("%d shards go although their agents did not report that all samples are sent, ten minutes after their last scrape: at least %d are not", kept-state.Shards, load.Unsent)
			r.log.Warn(text, "reason", reasonUnsent, "workload", name)
			if r.Events != nil {
				r.Events.Eventf(object, nil, corev1.EventTypeWarning, reasonUnsent, "Scale", "%s", text)
			}
		})
	}
	if step != nil {
		reports = append(reports, func() {
			r.log.Info("the number of shards changes", "reason", reasonScaled, "workload", name, "from", step.From, "to", step.To, "because", step.Why)
			if r.Events != nil {
				r.Events.Eventf(object, nil, corev1.EventTypeNormal, reasonScaled, "Scale", "%d → %d shards: %s", step.From, step.To, step.Why)
			}
		})
	}
	return reports
}

// load returns the series of a workload.
func (w *workload) load() autoscale.Load {
	placed := w.scaler.Placed(w.shards)
	out := autoscale.Load{Shards: w.shards, Used: w.by.Needed(placed)}
	out.Unsent, out.UnsentAt = w.by.Leaving(placed)
	status := w.by.Status()
	out.Measured = status.Measured
	out.Starting = w.object.GetWorkloadFields().Paused
	var total uint64
	zones := map[string]uint64{}
	for i, s := range status.Shards {
		total += s.Series
		if i < len(w.shardList) {
			zones[w.shardList[i].Zone] += s.Series
		}
		out.Starting = out.Starting || s.State == balance.Fresh
		if s.Alone == 0 && (s.State == "" || s.State == balance.Slow) {
			out.Fullest = max(out.Fullest, s.Series)
		}
	}
	// Targets stay in their zones, so each zone must have room for as many series as the heaviest zone.
	for _, series := range zones {
		out.Series = max(out.Series, series*uint64(len(zones)))
	}
	if out.Series = max(out.Series, total); total > 0 {
		out.Measured = uint64(float64(out.Measured) * float64(out.Series) / float64(total))
	}
	return out
}

// placed returns the number of shards of a workload that get targets. ok is false if it may still be read.
func (r *Runner) placed(now time.Time, w *workload) (shards int, ok bool) {
	if w.scaler != nil {
		return w.scaler.Placed(w.shards), true
	}
	if _, scales := r.limitsOf(w); !scales {
		return w.shards, true
	}
	leader := r.feed.Leader()
	if r.decided.leader == leader {
		return autoscale.New(r.decided.all[nameOf(w.Ref)]).Placed(w.shards), true
	}
	if r.decided.waiting != leader {
		r.decided.waiting, r.decided.since = leader, now
	}
	return w.shards, now.Sub(r.decided.since) >= decisionsFor
}

// nameOf returns the name of a workload in decisions.
func nameOf(of catalog.Ref) string { return scaling.Name(of.Kind, of.Namespace, of.Name) }

// scalingOf returns the decisions about a workload; nil without autoscaling.
func (w *workload) scalingOf() *scaling.Workload {
	if w.scaler == nil {
		return nil
	}
	return new(w.scaler.State())
}
