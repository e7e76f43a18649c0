package soak

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// fault is a disturbance for a while.
type fault struct {
	name  string
	kills bool // a process of ours, so that its memory starts from nothing
	begin func(r *run) (end func())
}

// some applies a fault to a part of the requests that match.
func (r *run) some(part float64, match faultproxy.Match, f faultproxy.Fault) faultproxy.Fault {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(r.seed, r.rand.Uint64()))
	return func(w http.ResponseWriter, q *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
		mu.Lock()
		hit := random.Float64() < part
		mu.Unlock()
		if hit && match(call) {
			f(w, q, call, forward)
			return
		}
		forward(w, q)
	}
}

func notWatch(c faultproxy.Call) bool { return c.Verb != "watch" }

// requests returns a fault of requests.
func requests(name string, disturb func(r *run) faultproxy.Fault) fault {
	return fault{name: name, begin: func(r *run) func() {
		r.operator.Proxy.Disturb(disturb(r))
		return func() { r.operator.Proxy.Disturb(nil) }
	}}
}

// killed kills a process, which starts again at the end.
func killed(name string, which func(r *run) *trial.Process) fault {
	return fault{name: name, kills: true, begin: func(r *run) func() {
		p := which(r)
		p.Kill()
		return func() { p.Start(r.t) }
	}}
}

var faults = []fault{
	killed("operator killed", func(r *run) *trial.Process { return &r.operator.Process }),
	killed("config-reloader of Prometheus killed", func(r *run) *trial.Process { return &r.prometheus.config }),
	killed("rules-reloader killed", func(r *run) *trial.Process { return &r.prometheus.rules }),
	killed("config-reloader of Alertmanager killed", func(r *run) *trial.Process { return &r.alertmanager.config }),
	requests("slow", func(*run) faultproxy.Fault { return faultproxy.Slow(300 * time.Millisecond) }),
	requests("too many requests", func(r *run) faultproxy.Fault {
		return r.some(0.5, notWatch, faultproxy.Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1))
	}),
	requests("internal errors", func(r *run) faultproxy.Fault {
		return r.some(0.7, faultproxy.Call.Writes, faultproxy.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0))
	}),
	requests("conflicts", func(r *run) faultproxy.Fault {
		return r.some(0.7, faultproxy.Call.Changes, faultproxy.Refuse(http.StatusConflict, metav1.StatusReasonConflict, 0))
	}),
	requests("answers cut", func(r *run) faultproxy.Fault { return r.some(0.3, notWatch, faultproxy.Cut) }),
	requests("writes without answer", func(r *run) faultproxy.Fault { return r.some(0.5, faultproxy.Call.Writes, faultproxy.Unanswered) }),
	{name: "unavailable", begin: func(r *run) func() {
		r.operator.Proxy.Disturb(faultproxy.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0))
		r.operator.Proxy.EndWatches()
		return func() { r.operator.Proxy.Disturb(nil) }
	}},
	{name: "watches end", begin: func(r *run) func() {
		r.operator.Proxy.EndWatches()
		return func() { r.operator.Proxy.EndWatches() }
	}},
	{name: "watches expire", begin: func(r *run) func() {
		watch := func(c faultproxy.Call) bool { return c.Verb == "watch" }
		r.operator.Proxy.Disturb(faultproxy.Only(watch, faultproxy.Times(1, faultproxy.NewTally(0), faultproxy.Refuse(http.StatusGone, metav1.StatusReasonExpired, 0))))
		r.operator.Proxy.EndWatches()
		return func() { r.operator.Proxy.Disturb(nil) }
	}},
	{name: "watches stall", begin: func(r *run) func() {
		deliver := r.operator.Proxy.HoldWatches()
		return func() { r.operator.Proxy.EndConnections(); deliver() }
	}},
	{name: "no permissions", begin: func(r *run) func() {
		r.insist(func(ctx context.Context) error {
			return ignoreNotFound(r.environment.Kube.RbacV1().ClusterRoleBindings().Delete(ctx, id, metav1.DeleteOptions{}))
		})
		r.operator.Proxy.EndWatches()
		return func() {
			r.insist(func(ctx context.Context) error { return r.environment.TryApply(ctx, r.operator.Binding()) })
		}
	}},
	{name: "kube-apiserver paused", begin: func(r *run) func() {
		pid := r.environment.Cluster.Processes()["kube-apiserver"]
		must(r.t, syscall.Kill(pid, syscall.SIGSTOP))
		return func() { must(r.t, syscall.Kill(pid, syscall.SIGCONT)) }
	}},
	{name: "kube-apiserver killed", begin: func(r *run) func() {
		restart, err := r.environment.Cluster.Crash("kube-apiserver")
		must(r.t, err)
		return func() { r.revive(restart) }
	}},
}

// revive restarts the API server until it responds, as a kubelet would: on a busy machine it exits if its start takes a minute.
func (r *run) revive(restart func(context.Context) error) {
	for err := restart(r.t.Context()); err != nil && r.t.Context().Err() == nil; err = restart(r.t.Context()) {
		r.t.Logf("it starts slowly, so that the fault lasts longer: %v", err)
		again, err := r.environment.Cluster.Crash("kube-apiserver")
		must(r.t, err)
		restart = again
	}
}

// beginFault begins the next fault, for some seconds: each once in random order, then again.
func (r *run) beginFault(kills bool) {
	for {
		if len(r.order) == 0 {
			r.order = r.rand.Perm(len(faults))
		}
		f := faults[r.order[0]]
		r.order = r.order[1:]
		if f.kills && !kills {
			continue
		}
		r.disturbed[f.name]++
		r.until = time.Now().Add(time.Second + time.Duration(r.rand.IntN(5000))*time.Millisecond)
		end := f.begin(r)
		r.fault, r.end = f.name, end
		return
	}
}

// endFault ends the current fault if it is its time.
func (r *run) endFault() {
	if r.end != nil && time.Now().After(r.until) {
		r.heal()
	}
}

// heal ends the current fault.
func (r *run) heal() {
	if end := r.end; end != nil {
		r.end, r.fault = nil, ""
		end()
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
