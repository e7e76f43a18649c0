package startup

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"
)

const (
	// refusedPeriod is the pause between checks for permissions of forbidden calls.
	refusedPeriod = time.Minute
	// maxRefused is the maximum number of missing permissions that are recorded from
	// forbidden calls.
	maxRefused = 1000
	// perCheck is the maximum number of them per check.
	perCheck = 60
)

// Missing records the permissions that the operator lacks: those that startup checks found
// missing and those for which a call was forbidden. It is the collector of
// prometheus_operator_missing_permissions.
type Missing struct {
	log *slog.Logger

	mu      sync.Mutex
	byNeed  map[string][]Permission // from startup checks, by component or feature
	refused map[Permission]*refusal // from forbidden calls, except those in byNeed
	onGrant func(Permission)        // optional; called with each permission that is granted later
}

// refusal is the state of a permission for which calls are forbidden.
type refusal struct {
	name    string // of the last such object, because a Role may grant access to single objects
	checked time.Time
}

// NewMissing returns an empty Missing.
func NewMissing(log *slog.Logger) *Missing {
	return &Missing{log: log, byNeed: map[string][]Permission{}, refused: map[Permission]*refusal{}}
}

// OnGrant sets the function that is called with each permission whose calls were forbidden
// once it is granted.
func (m *Missing) OnGrant(do func(Permission)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onGrant = do
}

// set replaces the missing permissions of a component or feature.
func (m *Missing) set(key string, missing []Permission) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(missing) == 0 {
		delete(m.byNeed, key)
		return
	}
	m.byNeed[key] = missing
}

// note records a forbidden call and logs the first one of each permission.
func (m *Missing) note(p Permission, name string) {
	m.mu.Lock()
	if r := m.refused[p]; r != nil {
		r.name = name
		m.mu.Unlock()
		return
	}
	known := m.needed(p) || len(m.refused) >= maxRefused
	if !known {
		m.refused[p] = &refusal{name: name, checked: time.Now()}
	}
	m.mu.Unlock()
	if !known {
		m.log.Warn("a call was refused", "no_permission_to", summary([]Permission{p}))
	}
}

// needed reports whether a startup check found p missing. m.mu must be held.
func (m *Missing) needed(p Permission) bool {
	for _, all := range m.byNeed {
		if slices.Contains(all, p) || slices.Contains(all, p.everywhere()) {
			return true
		}
	}
	return false
}

// Run checks periodically, until the context ends, whether the permissions of forbidden
// calls have been granted.
func (m *Missing) Run(ctx context.Context, kube kubernetes.Interface) {
	tick := time.NewTicker(refusedPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.check(ctx, kube)
		}
	}
}

// check checks the perCheck permissions that have not been checked for the longest time.
func (m *Missing) check(ctx context.Context, kube kubernetes.Interface) {
	m.mu.Lock()
	all := map[Permission]refusal{}
	for p, r := range m.refused {
		all[p] = *r
	}
	onGrant := m.onGrant
	m.mu.Unlock()
	turn := slices.SortedFunc(maps.Keys(all), func(a, b Permission) int {
		return cmp.Or(all[a].checked.Compare(all[b].checked), a.compare(b))
	})
	for _, p := range turn[:min(len(turn), perCheck)] {
		granted, err := mayNamed(ctx, kube, p, all[p].name)
		if err != nil {
			return // retried by the next check
		}
		m.mu.Lock()
		if granted {
			delete(m.refused, p)
		} else if r := m.refused[p]; r != nil {
			r.checked = time.Now()
		}
		m.mu.Unlock()
		if granted {
			m.log.Info("permission granted", "to", summary([]Permission{p}))
			if onGrant != nil {
				onGrant(p)
			}
		}
	}
}

func (a Permission) compare(b Permission) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Group, b.Group),
		strings.Compare(a.Resource, b.Resource), strings.Compare(a.Verb, b.Verb))
}

var missingDesc = prometheus.NewDesc("prometheus_operator_missing_permissions",
	"Permissions that the operator's account lacks, 1 for each; namespace is empty for the whole cluster.",
	[]string{"verb", "group", "resource", "namespace"}, nil)

// Describe implements prometheus.Collector.
func (m *Missing) Describe(ch chan<- *prometheus.Desc) { ch <- missingDesc }

// Collect implements prometheus.Collector.
func (m *Missing) Collect(ch chan<- prometheus.Metric) {
	m.mu.Lock()
	all := map[Permission]bool{}
	for p := range m.refused {
		all[p] = true
	}
	for _, some := range m.byNeed {
		for _, p := range some {
			all[p] = true
		}
	}
	m.mu.Unlock()
	for p := range all {
		ch <- prometheus.MustNewConstMetric(missingDesc, prometheus.GaugeValue, 1, p.Verb, p.Group, p.Resource, p.Namespace)
	}
}
