package feed

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/balance"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// Targets are the encoded targets of a job, by group. A change of one group only costs the encoding
// of that group. It is not safe for concurrent use.
//
// The line of each shard has a limit, which the namespaces of the groups share. Groups beyond it are
// measured, and neither encoded nor kept: see [Targets.Settle].
type Targets struct {
	job    *targets.Job
	name   string
	shards int // number of lines
	reads  targets.ReadLabels
	memory *Memory
	groups map[targetset.Key]*group
	limits []int // by shard
	raw    []int // by shard: size of all groups
	used   []int // by shard: size of the groups in the line
	// unsettled is true if another choice of groups may be in the lines.
	unsettled bool
	again     map[targetset.Key]bool // groups that are to be encoded at the next Put
	unknown   int
	oversized int
	dirty     []bool // by shard: changed since the last call of Line

	// With a balancer, targets are where it has their units.
	by        *balance.Balancer
	addresses byAddress
	namespace string // of the object with the job
	placed    uint64 // version of its changes that the groups have
}

// group has the placed targets of a group.
type group struct {
	encoded   [][]byte // by target; nil for targets on no shard, and for those in no line
	shards    [][]int  // indices into encoded
	size      []int    // by shard
	in        []bool   // by shard: in the line
	unknown   int
	oversized int              // number of targets on no shard because of the size of their labels
	members   []balancedTarget // by target; nil without a balancer
}

// none represents a group that does not exist.
var none group

// NewBalanced returns the targets of a job, without groups. memory limits them together with those of other jobs.
// namespace is the namespace of the job's object. If there is a balancer, it chooses the shards of the targets' units.
func NewBalanced(j *targets.Job, memory *Memory, namespace string, by *balance.Balancer) *Targets {
	n := j.Shards()
	out := &Targets{job: j, name: j.Name, shards: n, reads: j.ReadLabels(), by: by, namespace: namespace, memory: memory, groups: map[targetset.Key]*group{}, addresses: byAddress{}, again: map[targetset.Key]bool{},
		limits: make([]int, n), raw: make([]int, n), used: make([]int, n), dirty: make([]bool, n)}
	for shard := range n {
		out.dirty[shard], out.limits[shard] = true, maxLine
	}
	if by != nil {
		out.Grow(by.Needed(n))
	}
	return out
}

// Put replaces a group of the job by another one with these outcomes; nil removes it.
func (t *Targets) Put(key targetset.Key, of *targetgroup.Group, outcomes []targets.Outcome) {
	before := t.groups[key]
	if before == nil {
		before = &none
	}
	next, labels := t.measure(of, outcomes, before)
	wanted := t.again[key]
	delete(t.again, key)
	t.choose(before, next, wanted, nil)
	t.encode(next, labels)
	t.replace(key, before, next)
	t.leave(before)
}

// choose decides which lines contain a group that replaces another one. wanted is true if the group was chosen
// before. Lines for which lacks returns true do not get it.
func (t *Targets) choose(before, next *group, wanted bool, lacks func(shard int) bool) {
	for shard := range t.shards {
		size := next.sizeOn(shard)
		room := t.limits[shard] - t.used[shard] + before.usedOn(shard)
		t.raw[shard] += size - before.sizeOn(shard)
		t.memory.give(before.usedOn(shard))
		if next.size != nil {
			next.in[shard] = size == 0 || size <= room && (wanted || t.raw[shard] <= t.limits[shard] || before.isIn(shard)) && (lacks == nil || !lacks(shard)) && t.memory.take(size)
		}
		t.used[shard] += next.usedOn(shard) - before.usedOn(shard)
		t.unsettled = t.unsettled || t.raw[shard] != t.used[shard] || before.sizeOn(shard) != before.usedOn(shard)
	}
}

// replace replaces a group by one that is encoded.
func (t *Targets) replace(key targetset.Key, before, next *group) {
	t.addresses.replace(before.members, next.members)
	t.unknown += next.unknown - before.unknown
	t.oversized += next.oversized - before.oversized
	for shard := range t.dirty {
		t.dirty[shard] = t.dirty[shard] || !slices.EqualFunc(before.on(shard), next.on(shard), bytes.Equal)
	}
	if next.count() == 0 && next.unknown == 0 && next.oversized == 0 && next.members == nil {
		delete(t.groups, key)
		return
	}
	t.groups[key] = next
}

// measure returns a group in no line, which replaces another one, and the labels of its targets on any shard.
func (t *Targets) measure(of *targetgroup.Group, outcomes []targets.Outcome, before *group) (*group, []model.LabelSet) {
	if of == nil {
		return &group{}, nil
	}
	placed := allocation.ByHash(t.job.Shards(), outcomes)
	out := &group{encoded: make([][]byte, len(of.Targets)), shards: placed.Shards, unknown: len(placed.Unknown)}
	labels, sizes := make([]model.LabelSet, len(of.Targets)), make([]int, len(of.Targets))
	for shard, on := range placed.Shards {
		out.shards[shard] = slices.DeleteFunc(on, func(i int) bool {
			if sizes[i] == 0 {
				labels[i] = t.reads.Target(of.Targets[i], of.Labels)
				if sizes[i] = length(labels[i]); sizes[i] > maxTarget {
					out.oversized++
				}
			}
			return sizes[i] > maxTarget
		})
	}
	if t.by != nil {
		out.members = t.members(of, outcomes, labels, sizes, before)
		out.shards = t.place(out.members)
	}
	out.size, out.in = make([]int, t.shards), make([]bool, t.shards)
	for shard, on := range out.shards {
		for _, i := range on {
			out.size[shard] += sizes[i] + 1
		}
	}
	return out, labels
}

// encode encodes the targets of a group that are in lines.
func (t *Targets) encode(g *group, labels []model.LabelSet) {
	for shard, in := range g.in {
		if !in {
			continue
		}
		for _, i := range g.shards[shard] {
			if g.encoded[i] == nil {
				g.encoded[i] = encode(labels[i])
			}
		}
	}
}

// Settle chooses the groups in the lines again if that may change them. It returns the groups that are
// to be put again, because their targets were not kept.
func (t *Targets) Settle() (again []targetset.Key) {
	if t.unsettled {
		t.unsettled = false
		clear(t.again)
		for shard := range t.shards {
			t.settle(shard)
		}
	}
	for key := range t.again {
		again = append(again, key)
	}
	return again
}

// settle chooses the groups in the line of a shard.
func (t *Targets) settle(shard int) {
	parts := map[string][]part{}
	for key, g := range t.groups {
		if g.sizeOn(shard) == 0 {
			continue
		}
		namespace := namespaceOf(key)
		parts[namespace] = append(parts[namespace], part{key: key.Source, size: g.size[shard], put: func(in bool) {
			switch {
			case in == g.in[shard]:
			case !in:
				t.leaveOut(g, shard)
			default:
				t.again[key] = true
			}
		}})
	}
	admit(parts, t.limits[shard])
}

// leaveOut removes a group from the line of a shard.
func (t *Targets) leaveOut(g *group, shard int) {
	g.in[shard], t.dirty[shard] = false, true
	t.used[shard] -= g.size[shard]
	t.memory.give(g.size[shard])
	g.trim()
}

// trim removes the targets that are in no line.
func (g *group) trim() {
	needed := make([]bool, len(g.encoded))
	for other, in := range g.in {
		for _, i := range g.shards[other] {
			needed[i] = needed[i] || in
		}
	}
	for i := range g.encoded {
		if !needed[i] {
			g.encoded[i] = nil
		}
	}
}

// namespaceOf returns the namespace of a group's object, "" for one that has none.
func namespaceOf(key targetset.Key) string {
	_, object, _ := strings.Cut(key.Source, "/")
	namespace, _, namespaced := strings.Cut(object, "/")
	if !namespaced {
		return ""
	}
	return namespace
}

// Pending reports whether targets may be missing only because the groups in the lines were not chosen yet.
func (t *Targets) Pending() bool {
	return len(t.again) > 0 || t.unsettled && !slices.Equal(t.raw, t.used)
}

// Close releases the memory. The Targets must not be used afterwards.
func (t *Targets) Close() {
	for _, n := range t.used {
		t.memory.give(n)
	}
	for _, g := range t.groups {
		t.leave(g)
	}
	t.used, t.raw, t.groups, t.addresses = make([]int, t.shards), make([]int, t.shards), nil, nil
	t.unknown, t.oversized = 0, 0
}

// Limit sets the size in bytes that the line of a shard may have.
func (t *Targets) Limit(shard, most int) {
	most = min(most, maxLine)
	t.unsettled = t.unsettled || most != t.limits[shard] && (t.raw[shard] > min(most, t.limits[shard]))
	t.limits[shard] = most
}

// Size returns the size of all targets of a shard in bytes, and the size of those in its line.
func (t *Targets) Size(shard int) (all, used int) { return t.raw[shard], t.used[shard] }

// LeftOut counts targets that are in no line because their namespace exceeds its share.
type LeftOut struct{ Targets, Bytes int }

// LeftOut returns the targets of each namespace that are not in the lines of their shards.
func (t *Targets) LeftOut() map[string]LeftOut {
	if slices.Equal(t.raw, t.used) {
		return nil
	}
	out := map[string]LeftOut{}
	for key, g := range t.groups {
		for shard, in := range g.in {
			if !in {
				of := out[namespaceOf(key)]
				out[namespaceOf(key)] = LeftOut{of.Targets + len(g.shards[shard]), of.Bytes + g.size[shard]}
			}
		}
	}
	return out
}

func (g *group) sizeOn(shard int) int {
	if shard >= len(g.size) {
		return 0
	}
	return g.size[shard]
}

func (g *group) isIn(shard int) bool { return shard < len(g.in) && g.in[shard] }

// usedOn returns the size in the line of a shard.
func (g *group) usedOn(shard int) int {
	if !g.isIn(shard) {
		return 0
	}
	return g.size[shard]
}

// on returns the encoded targets in the line of a shard.
func (g *group) on(shard int) [][]byte {
	if !g.isIn(shard) {
		return nil
	}
	out := make([][]byte, len(g.shards[shard]))
	for k, i := range g.shards[shard] {
		out[k] = g.encoded[i]
	}
	return out
}

func (g *group) count() (n int) {
	for _, on := range g.shards {
		n += len(on)
	}
	return n
}

// encodedGroup is a group in the form of http_sd.
type encodedGroup struct {
	Targets []string       `json:"targets"`
	Labels  model.LabelSet `json:"labels"`
}

// encode returns a target as a group of http_sd. [length] returns its length.
func encode(l model.LabelSet) []byte {
	address := string(l[model.AddressLabel])
	delete(l, model.AddressLabel)
	out, err := json.Marshal(encodedGroup{[]string{address}, l})
	if err != nil {
		panic(err) // strings can be marshaled
	}
	return out
}

// Oversized returns the number of targets that are on no shard because they have more than 128 KiB of
// labels that affect them.
func (t *Targets) Oversized() int { return t.oversized }

// Unknown returns the number of targets that are on no shard because their relabel steps are too
// expensive to evaluate.
func (t *Targets) Unknown() int { return t.unknown }

// Changed reports whether the targets of a shard changed since the last call of Line for it.
func (t *Targets) Changed(shard int) bool { return t.dirty[shard] }

// Line returns the line of the job in the list of a shard, and the number of its targets.
func (t *Targets) Line(shard int) (line []byte, n int) {
	t.dirty[shard] = false
	out := openLine(t.name, t.used[shard])
	for _, key := range slices.SortedFunc(maps.Keys(t.groups), targetset.Key.Compare) {
		g := t.groups[key]
		if !g.isIn(shard) {
			continue
		}
		for _, i := range g.shards[shard] {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			out = append(out, g.encoded[i]...)
			n++
		}
	}
	return append(out, "]}\n"...), n
}

// openLine returns the beginning of the line of a job, with room for more bytes.
func openLine(job string, more int) []byte {
	name, err := json.Marshal(job)
	if err != nil {
		panic(err) // strings can be marshaled
	}
	out := make([]byte, 0, len(name)+more+32)
	out = append(out, `{"job":`...)
	out = append(out, name...)
	return append(out, `,"groups":[`...)
}

// EmptyLine returns the line of a job without targets.
func EmptyLine(job string) []byte { return append(openLine(job, 0), "]}\n"...) }
