package startup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Timing of the leader election. The leader stops writing renewDeadline after its last
// renewal, before the Lease expires after leaseDuration, so that its last writes arrive
// before another operator may lead.
//
//	a leader that   | another leads after
//	----------------|----------------------------------------------
//	stops           | at most 2.2 retryPeriod (the pause has a jitter)
//	was killed      | leaseDuration + at most 4.4 retryPeriod
const (
	leaseDuration = 12 * time.Second
	renewDeadline = 8 * time.Second
	retryPeriod   = time.Second
)

// errLeadLost means that the Lease could not be renewed in time.
var errLeadLost = errors.New("lost the lead: the Lease could not be renewed in time")

// Leader decides whether this operator may write: always if it runs alone, otherwise only
// while it holds the Lease.
type Leader struct {
	log   *slog.Logger
	lock  resourcelock.Interface // nil: no election
	fence *fence                 // nil: no election

	leading chan struct{} // closed when this operator becomes the leader
	once    sync.Once
}

// Alone returns a Leader without election, which always leads.
func Alone() *Leader {
	l := &Leader{leading: make(chan struct{})}
	close(l.leading)
	return l
}

// Elected returns a Leader for one of several replicas that share a Lease. It adds the
// fence to cfg: writes of clients that are created from it afterwards are only sent while
// this operator leads.
//
// Errors: no permission to read the Lease.
func Elected(ctx context.Context, cfg *rest.Config, namespace, name string, log *slog.Logger) (*Leader, error) {
	own := rest.CopyConfig(cfg)
	own.QPS, own.RateLimiter = -1, nil // renewals must not wait for other requests
	own.Timeout = renewDeadline / 2
	client, err := coordinationv1.NewForConfig(own)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("name this operator: %w", err)
	}
	l := elected(&resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Client: client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + uuid.NewString()},
	}, log.With("lease", namespace+"/"+name))
	if err := l.readable(ctx); err != nil {
		return nil, err
	}
	cfg.Wrap(l.fence.wrap)
	return l, nil
}

func elected(lock resourcelock.Interface, log *slog.Logger) *Leader {
	l := &Leader{log: log, fence: newFence(renewDeadline), leading: make(chan struct{})}
	l.lock = observedLease{lock, l.fence}
	return l
}

// Await blocks until this operator leads. It returns false if the context ends first.
func (l *Leader) Await(ctx context.Context) bool {
	select {
	case <-l.leading:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// Leads reports whether this operator may write now.
func (l *Leader) Leads() bool {
	select {
	case <-l.leading:
		return l.fence == nil || l.fence.open()
	default:
		return false
	}
}

// Register registers a gauge that reports whether this operator leads.
func (l *Leader) Register(reg prometheus.Registerer) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "prometheus_operator_leader",
		Help: "1 while this operator reconciles and writes, 0 while it waits for the Lease of --leader-elect.",
	}, func() float64 {
		if l.Leads() {
			return 1
		}
		return 0
	}))
}

// While runs do and campaigns for the lead meanwhile. When do returns, by itself or
// because ctx has ended, it waits for in-flight writes and releases the Lease.
//
// Errors: those of do; errLeadLost, after which this process must exit, because it may
// have missed writes of the next leader.
func (l *Leader) While(ctx context.Context, do func(context.Context) error) error {
	if l.fence == nil {
		return do(ctx)
	}
	working, end := context.WithCancelCause(ctx)
	defer end(nil)
	campaign, retire := context.WithCancel(context.WithoutCancel(ctx))
	defer retire()
	elector, err := l.elector()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(l.fence.lost, func() {
		l.log.Error("stopping: another operator may lead soon", "err", errLeadLost)
		end(errLeadLost)
	})
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		elector.Run(campaign)
		if campaign.Err() == nil {
			l.fence.lose() // another operator has taken the Lease
		}
	})
	err = do(working)
	l.fence.close()
	retire()
	wg.Wait()
	if lost := context.Cause(working); errors.Is(lost, errLeadLost) {
		return lost
	}
	return err
}

// readable checks the permission to read the Lease, which need not exist.
func (l *Leader) readable(ctx context.Context) error {
	_, _, err := l.lock.Get(ctx)
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		return fmt.Errorf("read the Lease %s: %w", l.lock.Describe(), err)
	}
	return nil
}

func (l *Leader) elector() (*leaderelection.LeaderElector, error) {
	return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: l.lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				l.once.Do(func() { close(l.leading) })
				l.log.Info("leading: this replica does the work", "identity", l.lock.Identity())
			},
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				if identity != "" && identity != l.lock.Identity() {
					l.log.Info("following: another replica does the work", "leader", identity)
				}
			},
		},
	})
}
