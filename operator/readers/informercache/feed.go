package informercache

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// feed counts all changes and broadcasts those that [kinds] lists.
type feed struct {
	readers.Broadcaster

	start   int64 // start time of the process, which makes versions unique across restarts
	version atomic.Uint64
}

func (f *feed) init() { f.start = time.Now().UnixNano() }

// bump changes the version without notifying listeners.
func (f *feed) bump() { f.version.Add(1) }

var kinds = map[engine.ChangeAbout]readers.ChangeKind{
	engine.AboutWorkload: readers.WorkloadChanged, engine.AboutConfig: readers.ObjectChanged, engine.AboutPods: readers.RolloutChanged,
}

// Changed records a change in the caches of a controller. It never blocks.
func (c *Cluster) Changed(of engine.Change) {
	c.feed.bump()
	if kind, ok := kinds[of.About]; ok {
		c.feed.Send(readers.Change{Kind: kind, Object: catalog.Ref{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}})
	}
}

// Version implements [readers.Versioned].
func (c *Cluster) Version() string {
	references := uint64(0)
	for _, s := range c.controllers() {
		_, changes := s.References()
		references += changes
	}
	return fmt.Sprintf("%x-%x-%x", c.feed.start, c.feed.version.Load(), references)
}

// Changes implements [readers.Feed].
func (c *Cluster) Changes(ctx context.Context, each func(readers.Change)) error {
	return c.feed.Changes(ctx, each)
}
