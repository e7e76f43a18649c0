package engine

import (
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// renewedBurst is the size of the results in a namespace that are compiled again at once because a Secret or ConfigMap
	// that they refer to has changed: the token of 5,000 monitors, or less than ten seconds for the most expensive objects.
	renewedBurst = 8 << 20
	// renewedPerSecond is the rate after that.
	renewedPerSecond = 1 << 20
	// renewedLog is the least time between two lines of the log about a workload with postponed results.
	renewedLog = time.Minute
)

// renewals limits how fast the results of unchanged objects are compiled again because of what they refer to. One small
// Secret may have many large objects that refer to it, and a reconciliation of the workload, which all namespaces wait for,
// would compile all of them after each change of it. Until there is time, the last results of that namespace are used. The
// zero value is ready to use.
type renewals struct {
	full map[string]time.Time // when a namespace has its whole burst again
	wait time.Duration        // until there is time for a result that was postponed
	last string               // the namespace of that result

	logged time.Time // when it was logged that results are postponed
}

// begin begins a reconciliation.
func (r *renewals) begin(now time.Time) {
	r.wait = 0
	for namespace, full := range r.full {
		if !full.After(now) {
			delete(r.full, namespace)
		}
	}
}

// take reports whether a result of a namespace may be compiled again now.
//
// bytes: the size of the last result.
func (r *renewals) take(namespace string, bytes int, now time.Time) bool {
	const burst = renewedBurst / renewedPerSecond * time.Second
	full := r.full[namespace]
	if full.Before(now) {
		full = now
	}
	if behind := full.Sub(now); behind >= burst {
		r.wait, r.last = max(r.wait, behind-burst+time.Second), namespace
		return false
	}
	if r.full == nil {
		r.full = map[string]time.Time{}
	}
	r.full[namespace] = full.Add(time.Duration(bytes) * time.Second / renewedPerSecond)
	return true
}

// postponed records that references of objects of a namespace were not read; "" for none.
func (r *renewals) postponed(namespace string) {
	if namespace != "" {
		r.wait, r.last = max(r.wait, time.Second), namespace
	}
}

// renewLater schedules the next reconciliation of a workload for which results were postponed.
func (c *Controller) renewLater(log *slog.Logger, key types.NamespacedName, r *renewals) {
	if r.wait == 0 {
		return
	}
	c.loop.enqueueAfter(key, r.wait)
	if now := time.Now(); now.Sub(r.logged) >= renewedLog {
		r.logged = now
		log.Info("Secrets or ConfigMaps have changed that many or large objects refer to; some are updated later", "namespace", r.last,
			"next_try", fmt.Sprint(r.wait.Round(time.Second)))
	}
}
