package prometheus

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// asking is how one reconciliation of an owner asks for Secrets and ConfigMaps. Each
// is remembered as a reference of the owner before it is looked at: an event comes
// after its object is in the store, so either the event finds the owner, or the
// owner finds the object.
type asking struct {
	c     *Controller
	state *ownerState
	next  assets.Reader
}

func (c *Controller) asking(ctx context.Context, state *ownerState) asking {
	return asking{c, state, c.assets.Reader(ctx)}
}

// Object implements assets.Reader.
func (a asking) Object(ref assets.Ref) (assets.Object, error) {
	a.note(ref)
	return a.next.Object(ref)
}

// current reports whether what was compiled before, for this owner or another, stands.
func (a asking) current(deps []assets.Dependency) bool {
	refs := make([]assets.Ref, len(deps))
	for i, d := range deps {
		refs[i] = d.Ref
	}
	a.note(refs...)
	return a.c.assets.Current(deps)
}

func (a asking) note(refs ...assets.Ref) {
	if len(refs) == 0 {
		return
	}
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.state.references == nil {
		a.state.references = map[assets.Ref]bool{}
	}
	for _, ref := range refs {
		a.state.references[ref] = true
	}
}

// remember drops the references that the owner no longer has. After a failed
// reconciliation all are kept: it may have ended before it asked for them.
func (c *Controller) remember(state *ownerState, in Inputs, failed error) {
	if failed != nil {
		return
	}
	refs := make(map[assets.Ref]bool, len(in.References))
	for _, r := range in.References {
		refs[r] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	state.references = refs
}

// referencing returns the owners that asked for an object.
func (c *Controller) referencing(ref assets.Ref) []types.NamespacedName {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []types.NamespacedName
	for key, s := range c.owners {
		if s.references[ref] {
			out = append(out, key)
		}
	}
	return out
}

// recheckPeriod is the pause between checks for references that are due for another
// read.
const recheckPeriod = 15 * time.Second

// recheck wakes the owners of references that no event tells about.
func (c *Controller) recheck() {
	for _, ref := range c.assets.Due() {
		for _, key := range c.referencing(ref) {
			c.loop.Enqueue(key)
		}
	}
}
