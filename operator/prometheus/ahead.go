package prometheus

import (
	"context"
	"fmt"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
)

// compileAhead compiles the rules of all servers at the start. They are the dearest
// objects and mostly there before the monitors: while these are still coming, the
// API server has the work. Errors show in the reconciliations, which follow.
func (c *Controller) compileAhead(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("precompilation panicked", "panic", fmt.Sprint(p))
		}
	}()
	for _, s := range []informer.Syncer{c.stores.namespaces, c.stores.owners, c.stores.rules} {
		if s.Wait(ctx) != nil {
			return // so does the start, which reports it
		}
	}
	g := gatherer{cluster: c.cluster(c.assets.Reader(ctx)), compilers: c.compilers}
	g.cluster.PrometheusRules = c.stores.rules.All()
	for o := range c.stores.owners.All() {
		if ctx.Err() == nil && c.mine(o) && !o.Fields.Paused && o.GetDeletionTimestamp() == nil {
			g.ahead(o)
		}
	}
}

// ahead compiles the rules of one owner into the cache.
func (g *gatherer) ahead(o Owner) {
	selectors, err := selectionRules(o)
	if err != nil {
		return
	}
	version, err := promconfig.ParseVersion(o.Fields.Version)
	if err != nil {
		return
	}
	s := rules.PrometheusSettings(o.Server, version)
	g.compilers.Rules.Use(o.fragments(), s.Key())
	forgetful := *g
	forgetful.ruleFiles = nil
	forgetful.compileRules(selected(selectors[v1.PrometheusRuleKind], g.cluster.PrometheusRules, g.cluster.NamespaceLabels), s.Key(), s)
}
