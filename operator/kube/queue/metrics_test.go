package queue

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// updates counts how often the metrics of work in progress are set, and keeps the last value.
type updates struct {
	workqueue.MetricsProvider
	n    atomic.Int64
	last atomic.Value
}

type none struct{}

func (none) Inc()            {}
func (none) Dec()            {}
func (none) Set(float64)     {}
func (none) Observe(float64) {}

func (u *updates) Set(v float64) { u.n.Add(1); u.last.Store(v) }

func (u *updates) NewDepthMetric(string) workqueue.GaugeMetric                         { return none{} }
func (u *updates) NewAddsMetric(string) workqueue.CounterMetric                        { return none{} }
func (u *updates) NewLatencyMetric(string) workqueue.HistogramMetric                   { return none{} }
func (u *updates) NewWorkDurationMetric(string) workqueue.HistogramMetric              { return none{} }
func (u *updates) NewUnfinishedWorkSecondsMetric(string) workqueue.SettableGaugeMetric { return u }
func (u *updates) NewRetriesMetric(string) workqueue.CounterMetric                     { return none{} }
func (u *updates) NewLongestRunningProcessorSecondsMetric(string) workqueue.SettableGaugeMetric {
	return none{}
}

// An idle operator has a dozen queues, and must not wake up for each of them twice a second.
func TestMetricsOfAnIdleQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u updates
		q := New(Options{First: time.Second, Last: time.Minute, Name: "idle", Metrics: &u})
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			q.Run(ctx, 1, func(context.Context, types.NamespacedName) { <-release })
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := u.n.Load(); n > int64(time.Hour/metricsPeriod) || n == 0 {
			t.Errorf("%d updates in an idle hour", n)
		}
		q.Add(key("slow"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if busy, _ := u.last.Load().(float64); busy < 50 || busy > 60 {
			t.Errorf("after a minute of work in progress, the metric says %v s", busy)
		}
		close(release)
		cancel()
		<-done
	})
}
