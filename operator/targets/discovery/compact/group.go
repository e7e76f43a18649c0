package compact

import (
	"cmp"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// pair is a label: the indices of its name and value.
type pair struct{ name, value uint32 }

func (a pair) compare(b pair) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.value, b.value))
}

// Group is a target group. It can only be read through its table.
type Group struct {
	source string
	pairs  []pair   // shared labels of the group, then those of each target
	ends   []uint32 // end of the shared labels and of those of each target
	own    names    // of the labels of targets
}

// names is a Bloom filter of the names of labels.
type names [2]uint64

func (n *names) add(name uint32) { n[name/64%2] |= 1 << (name % 64) }

// mayHave is true for names that were added, and for few others.
func (n *names) mayHave(name uint32) bool { return n[name/64%2]&(1<<(name%64)) != 0 }

// index fills own.
func (g *Group) index() {
	g.own = names{}
	for _, p := range g.pairs[g.ends[0]:] {
		g.own.add(p.name)
	}
}

// Source returns the name of the group.
func (g *Group) Source() string { return g.source }

// Len returns the number of targets.
func (g *Group) Len() int { return len(g.ends) - 1 }

// Put stores a group. Its targets are sorted by their labels, because builders send them in random
// order.
func (t *Table) Put(group *targetgroup.Group) *Group {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ids == nil {
		t.ids, t.groups = map[string]uint32{}, map[*Group]struct{}{}
	}
	n := len(group.Labels)
	for _, target := range group.Targets {
		n += len(target)
	}
	out := &Group{source: group.Source, pairs: make([]pair, 0, n), ends: make([]uint32, 0, len(group.Targets)+1)}
	t.add(out, group.Labels)
	for _, target := range group.Targets {
		t.add(out, target)
	}
	out.sort()
	out.index()
	t.groups[out] = struct{}{}
	t.tidy()
	return out
}

// add adds the labels of a target.
func (t *Table) add(g *Group, labels model.LabelSet) {
	from := len(g.pairs)
	for name, value := range labels {
		g.pairs = append(g.pairs, pair{t.use(string(name)), t.use(string(value))})
	}
	slices.SortFunc(g.pairs[from:], pair.compare)
	g.ends = append(g.ends, uint32(len(g.pairs)))
}

// sort sorts the targets.
func (g *Group) sort() {
	if g.Len() < 2 {
		return
	}
	targets := make([][]pair, g.Len())
	for i := range targets {
		targets[i] = g.target(i)
	}
	compare := func(a, b []pair) int { return slices.CompareFunc(a, b, pair.compare) }
	if slices.IsSortedFunc(targets, compare) {
		return
	}
	slices.SortFunc(targets, compare)
	shared := g.pairs[:g.ends[0]]
	pairs := append(make([]pair, 0, len(g.pairs)), shared...)
	for i, target := range targets {
		pairs = append(pairs, target...)
		g.ends[i+1] = uint32(len(pairs))
	}
	g.pairs = pairs
}

// target returns the labels of a target.
func (g *Group) target(i int) []pair { return g.pairs[g.ends[i]:g.ends[i+1]] }

// Drop removes a group, which must not be used afterwards. It is a no-op for nil.
func (t *Table) Drop(g *Group) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, has := t.groups[g]; !has {
		return
	}
	delete(t.groups, g)
	for _, p := range g.pairs {
		t.free(p.name)
		t.free(p.value)
	}
	t.tidy()
}

// Equal reports whether two groups have the same labels.
func (t *Table) Equal(a, b *Group) bool {
	if a == nil || b == nil {
		return a == b
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Equal(a.ends, b.ends) && slices.Equal(a.pairs, b.pairs)
}

// Expand converts a group back; nil if it was dropped.
func (t *Table) Expand(g *Group) *targetgroup.Group {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if _, has := t.groups[g]; !has {
		return nil
	}
	out := &targetgroup.Group{Source: g.source, Labels: t.labels(g.pairs[:g.ends[0]])}
	for i := range g.Len() {
		out.Targets = append(out.Targets, t.labels(g.target(i)))
	}
	return out
}

func (t *Table) labels(pairs []pair) model.LabelSet {
	out := make(model.LabelSet, len(pairs))
	for _, p := range pairs {
		out[model.LabelName(t.strings[p.name])] = model.LabelValue(t.strings[p.value])
	}
	return out
}

// Outline reads some labels of a group without converting it. It reuses the memory of o and returns false if the group
// was dropped.
func (t *Table) Outline(g *Group, names []model.LabelName, o *targets.Outline) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if _, has := t.groups[g]; !has {
		return false
	}
	o.Targets, o.Shared, o.Own = g.Len(), o.Shared[:0], o.Own[:0]
	for _, name := range names {
		value, own := "", false
		if id, used := t.ids[string(name)]; used {
			if at, has := find(g.pairs[:g.ends[0]], id); has {
				value = t.strings[g.pairs[at].value]
			}
			own = g.anyHas(id)
		}
		o.Shared, o.Own = append(o.Shared, value), append(o.Own, own)
	}
	return true
}

// anyHas reports whether a target has a label of its own with this name.
func (g *Group) anyHas(name uint32) bool {
	if !g.own.mayHave(name) {
		return false
	}
	for i := range g.Len() {
		if _, has := find(g.target(i), name); has {
			return true
		}
	}
	return false
}

// find returns the position of the label with this name among the sorted labels of a target.
func find(pairs []pair, name uint32) (at int, has bool) {
	return slices.BinarySearchFunc(pairs, name, func(p pair, name uint32) int { return cmp.Compare(p.name, name) })
}
