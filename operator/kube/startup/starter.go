package startup

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/kubernetes"
)

const (
	// crdPeriod is the pause between checks for a missing CRD, which need one request that
	// every account may make.
	crdPeriod = 10 * time.Second
	// permissionPeriod is the pause between checks for permissions, which need a request each.
	permissionPeriod = time.Minute
	// optionalPeriod is the pause between checks for optional permissions without a waiting component.
	optionalPeriod = 10 * time.Minute
)

// Starter starts components once their CRDs are installed and their permissions granted.
type Starter struct {
	kube    kubernetes.Interface
	scopes  Scopes
	log     *slog.Logger
	start   *Patience                  // for checks that the operator waits for
	missing map[*Optional][]Permission // optional permissions that are missing at least in part
	waiting []*Component
	reviews reviewer
	report  *Missing
}

// New returns a Starter that checks the operator's own account and records missing permissions in report.
func New(kube kubernetes.Interface, scopes Scopes, log *slog.Logger, report *Missing) *Starter {
	return &Starter{kube: kube, scopes: scopes, log: log, start: &Patience{Log: log}, missing: map[*Optional][]Permission{}, reviews: reviewer{kube: kube}, report: report}
}

// CheckOptional checks optional permissions and logs all missing ones in one warning.
func (s *Starter) CheckOptional(ctx context.Context, all []*Optional) error {
	var texts []string
	for _, p := range all {
		if p.Instead != nil && !s.Lacks(p.Instead) {
			continue
		}
		missing, err := denied(ctx, server{s.kube, s.start}, p.permissions(s.scopes))
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			s.missing[p] = missing
			s.report.set(p.reportKey(), missing)
			texts = append(texts, summary(missing)+": "+p.Cost)
		}
	}
	if len(texts) > 0 {
		s.log.Warn("some permissions are missing; the operator works without them", "no_permission_to", strings.Join(texts, "; "))
	}
	return nil
}

// Recheck checks periodically, until the context ends, whether missing optional permissions
// have been granted.
func (s *Starter) Recheck(ctx context.Context) {
	left := slices.Collect(maps.Keys(s.missing))
	tick := time.NewTicker(optionalPeriod)
	defer tick.Stop()
	for len(left) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		left = slices.DeleteFunc(left, func(p *Optional) bool {
			missing, err := denied(ctx, server{Interface: s.kube}, p.permissions(s.scopes))
			if err != nil {
				return false // retried by the next check
			}
			s.report.set(p.reportKey(), missing)
			return len(missing) == 0
		})
	}
}

// reportKey returns the key of an optional permission in Missing.
func (p *Optional) reportKey() string { return p.Cost }

// Lacks reports whether CheckOptional found permissions of p missing.
func (s *Starter) Lacks(p *Optional) bool { return len(s.missing[p]) > 0 }

// WhenGranted makes Await call start once the missing optional permissions of p are granted.
func (s *Starter) WhenGranted(p *Optional, name string, start func() error) {
	needs := p.permissions(s.scopes)
	s.waiting = append(s.waiting, &Component{
		Name: name, Permissions: needs, Start: start, reportKey: p.reportKey(),
		logged: lackOf(needs, s.missing[p]).String(), // has been logged by CheckOptional
		next:   time.Now().Add(permissionPeriod),
	})
}

// Check reports whether a component can start. If it cannot, Check logs the missing
// requirements and leaves the component to Await.
func (s *Starter) Check(ctx context.Context, c *Component) (ready bool, err error) {
	lacking, err := c.lacks(ctx, server{s.kube, s.start})
	if err != nil {
		return false, err
	}
	c.found(lacking)
	if lacking == nil {
		return true, nil
	}
	s.wait(c, lacking)
	s.waiting = append(s.waiting, c)
	return false, nil
}

// Await starts each waiting component with run once its CRDs and permissions exist. It
// returns when no component is waiting or the context has ended.
func (s *Starter) Await(ctx context.Context, run func(start func() error)) {
	tick := time.NewTicker(crdPeriod)
	defer tick.Stop()
	for len(s.waiting) > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.waiting = slices.DeleteFunc(s.waiting, func(c *Component) bool {
			if time.Now().Before(c.next.Add(-crdPeriod/2)) || !s.again(ctx, c) {
				return false
			}
			s.log.Info("controller started", "component", c.Name)
			s.report.set(cmp.Or(c.reportKey, c.Name), nil)
			run(c.Start)
			return true
		})
	}
}

// again checks a waiting component and reports whether it can start.
func (s *Starter) again(ctx context.Context, c *Component) bool {
	lacking, err := c.lacks(ctx, server{Interface: s.kube})
	if err != nil {
		if ctx.Err() == nil && !c.failed {
			c.failed = true
			s.log.Warn("cannot check for CRDs and permissions, retrying", "component", c.Name, "err", err)
		}
		return false
	}
	c.failed = false
	c.found(lacking)
	if lacking != nil {
		s.wait(c, lacking)
	}
	return lacking == nil
}

// wait schedules the next check and logs the missing requirements if they have changed.
func (s *Starter) wait(c *Component, l *lack) {
	period := crdPeriod
	if len(l.resources) == 0 {
		period = permissionPeriod
	}
	c.next = time.Now().Add(period)
	s.report.set(cmp.Or(c.reportKey, c.Name), l.all)
	if text := l.String(); text != c.logged {
		c.logged = text
		s.log.Warn("controller not started: CRDs or permissions missing", "component", c.Name, "reason", text)
	}
}
