package engine

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Outside describes what reconciliations of a kind read besides the cluster, such as a file of the
// operator. Its changes trigger no event.
type Outside struct {
	// Version returns a text that changes with the content. It is called every recheckPeriod.
	Version func() string
	// Reads reports whether reconciliations of a workload read it.
	Reads func(w v1.Workload) bool
}

// outsideVersion returns the version of the source that the kind reads besides the cluster.
func (c *Controller) outsideVersion() string {
	if c.kind.Outside == nil {
		return ""
	}
	return c.kind.Outside.Version()
}

// wakeReaders wakes the workloads that read it if its version is no longer last, and returns the
// current one.
func (c *Controller) wakeReaders(last string) string {
	now := c.outsideVersion()
	if now == last {
		return now
	}
	for w := range c.managed() {
		c.guarded("find what "+catalog.KeyOf(w).String()+" reads", func() {
			if c.kind.Outside.Reads(w) {
				c.loop.enqueue(catalog.KeyOf(w))
			}
		})
	}
	return now
}
