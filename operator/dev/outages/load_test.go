package outages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/scaling"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// With four times the series, agents get more shards, and fewer again when the series are as before: no target misses a
// scrape, and the receiver of their samples, which is down whenever a shard is drained, has each sample of each scrape.
//
// Autoscaling is twelve times faster than usual, so the hour that it takes is half a day.
func TestLoad(t *testing.T) {
	if os.Getenv("FIREKEEPER_AUTOSCALE") == "" {
		t.Skip("takes an hour: make autoscale")
	}
	n, _ := seed(t)
	r := newReceiver(t)
	w := newEnvironment(t, n, setup{
		mode: "central", agent: true, interval: 5 * time.Second, applies: time.Second, inventories: 15 * time.Second, speed: 12, remoteWrite: r.url,
		annotations: fmt.Sprintf(`%s, %s: "8", %s: "1000"`, weighted, wellknown.AnnotationMaxShards, wellknown.AnnotationSeriesPerShard),
		numShards:   2, numReplicas: 1, numTargets: 24,
	})
	l := &load{environment: w, receiver: r, limits: scaling.Limits{Floor: 2, Max: 8}}
	l.report()
	l.series(45)
	l.until("targets on both shards", 10*time.Minute, 2)
	l.series(180)
	l.until("four times the series", 20*time.Minute, 5)
	l.check("with four times the series")
	l.series(45)
	l.until("series as before", 100*time.Minute, 2)
	l.check("with the series as before")
}

// load is a test with another number of series.
type load struct {
	*environment
	receiver *receiver
	limits   scaling.Limits
	wanted   scaling.Workload
}

// series sets the number of series of each target.
func (l *load) series(n int) {
	for _, one := range l.targets {
		one.SetSeries(n)
	}
}

// until waits until the workload has this number of shards, each target is on one of them, and nothing else is wanted.
func (l *load) until(what string, patience time.Duration, shards int) {
	l.t.Helper()
	began := time.Now()
	poll(l.t, time.Second, patience, what, func() error {
		if err := l.operate(); err != nil {
			return err
		}
		if l.numShards != shards || l.wanted.Target != shards || l.wanted.Shards != shards {
			return fmt.Errorf("%d shards, wanted are %+v", l.numShards, l.wanted)
		}
		return l.single()
	})
	l.t.Logf("%s: %d shards after %s", what, shards, time.Since(began).Round(time.Second))
}

// single returns an error unless each target is on one shard and each shard has targets.
func (l *load) single() error {
	on := map[string][]string{}
	for _, s := range l.shards {
		active, err := s.active()
		if err != nil {
			return err
		}
		if len(active) == 0 {
			return errors.New(s.pod() + " has no targets")
		}
		for _, one := range active {
			on[one] = append(on[one], s.pod())
		}
	}
	for _, one := range l.targets {
		if len(on[one.Address]) != 1 {
			return fmt.Errorf("%s is on %v", one.Name, on[one.Address])
		}
	}
	return nil
}

// operate acts as the operator: it runs the shards that the discovery service has decided on, and reports their number.
func (l *load) operate() error {
	ctx, cancel := context.WithTimeout(l.t.Context(), 10*time.Second)
	defer cancel()
	stored, err := l.kube.CoreV1().ConfigMaps("firekeeper").Get(ctx, "firekeeper-discovery-shards", metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			err = nil // nothing is decided yet
		}
		return err
	}
	all, err := scaling.Decode([]byte(stored.Data[scaling.Key]))
	if err != nil {
		return err
	}
	before, draining := len(l.wanted.Steps), l.wanted.Target < l.wanted.Shards
	l.wanted = all[scaling.Name(v1alpha1.PrometheusAgentKind, "demo", "main")]
	if l.wanted.Shards == 0 {
		return nil
	}
	if len(l.wanted.Steps) > before {
		step := l.wanted.Steps[len(l.wanted.Steps)-1]
		l.t.Logf("%s: %d → %d shards: %s", step.At.Format(time.TimeOnly), step.From, step.To, step.Why)
	}
	if !draining && l.wanted.Target < l.wanted.Shards {
		l.receiver.outage(90 * time.Second) // longer than a drained shard stays without samples to send
	}
	shards := l.limits.Clamp(l.wanted.Shards, l.numShards)
	if shards == l.numShards {
		return nil
	}
	for number := l.numShards; number < shards; number++ {
		l.startReplicas(number)
	}
	l.numShards = shards
	l.shards = slices.DeleteFunc(l.shards, func(s *shard) bool {
		if s.number >= shards {
			s.stop()
		}
		return s.number >= shards
	})
	return l.report()
}

// report writes the status of the workload.
func (l *load) report() error {
	status := fmt.Sprintf(`{"status":{"paused":false,"replicas":%[1]d,"updatedReplicas":%[1]d,"availableReplicas":%[1]d,"unavailableReplicas":0,"shards":%[1]d}}`, l.numShards)
	_, err := l.cluster.Kubectl(l.t.Context(), "-n", "demo", "patch", l.resource(), "main", "--subresource=status", "--type=merge", "-p", status)
	return err
}

// check checks the scrapes of all targets, that all samples were received, and that no shard was removed with unsent ones.
func (l *load) check(when string) {
	l.t.Helper()
	all := l.scraped(when, time.Second)
	samples, before := 0, time.Now()
	within(l.t, 2*time.Minute, "samples "+when, func() (err error) {
		samples, err = l.receiver.complete(l.targets, before.Add(-5*time.Second))
		return err
	})
	for _, r := range l.replicas {
		if strings.Contains(r.Log.String(), "SamplesUnsent") {
			l.t.Errorf("%s: %s", r.Name, r.Log.Brief(20))
		}
	}
	l.t.Logf("%s: the longest time between scrapes is %s, %d moves, %d scrapes more, all %d samples are received", when, all.worst.Round(time.Millisecond), all.moves, all.extra, samples)
}
