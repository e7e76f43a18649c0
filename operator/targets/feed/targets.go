package feed

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
)

// Targets are the encoded targets of a job, by group. A change of one group only costs the encoding
// of that group. It is not safe for concurrent use.
type Targets struct {
	name      string
	shards    int
	sight     targets.Sight
	groups    map[targetset.Key]group
	unknown   int
	oversized int
	dirty     []bool // by shard: changed since the last call of Line
}

// group has the placed targets of a group.
type group struct {
	encoded   [][]byte // by target; nil for targets on no shard
	shards    [][]int  // indices into encoded
	unknown   int
	oversized int // number of targets on no shard because of the size of their labels
}

// NewTargets returns the targets of a job, of which no group is known.
func NewTargets(j *targets.Job) *Targets {
	out := &Targets{name: j.Name, shards: j.Shards(), sight: j.Sight(), groups: map[targetset.Key]group{}, dirty: make([]bool, j.Shards())}
	for shard := range out.dirty {
		out.dirty[shard] = true
	}
	return out
}

// Put replaces a group of the job, of which outcomes are the outcomes; nil removes it.
func (t *Targets) Put(key targetset.Key, of *targetgroup.Group, outcomes []targets.Outcome) {
	before := t.groups[key]
	next := group{shards: make([][]int, t.shards)}
	if of != nil {
		placed := allocation.ByHash(t.shards, outcomes)
		next = group{make([][]byte, len(of.Targets)), placed.Shards, len(placed.Unknown), 0}
		large := map[int]bool{}
		for shard, on := range placed.Shards {
			next.shards[shard] = slices.DeleteFunc(on, func(i int) bool {
				if next.encoded[i] == nil && !large[i] {
					if next.encoded[i] = encode(t.sight.Target(of.Targets[i], of.Labels)); next.encoded[i] == nil {
						large[i] = true
					}
				}
				return large[i]
			})
		}
		next.oversized = len(large)
	}
	t.unknown += next.unknown - before.unknown
	t.oversized += next.oversized - before.oversized
	for shard := range t.dirty {
		t.dirty[shard] = t.dirty[shard] || !slices.EqualFunc(before.on(shard), next.on(shard), bytes.Equal)
	}
	if next.count() == 0 && next.unknown == 0 && next.oversized == 0 {
		delete(t.groups, key)
		return
	}
	t.groups[key] = next
}

// on returns the encoded targets on a shard.
func (g *group) on(shard int) [][]byte {
	if g.shards == nil {
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

// encoded is a group in the form of http_sd.
type encoded struct {
	Targets []string       `json:"targets"`
	Labels  model.LabelSet `json:"labels"`
}

// encode returns a target as a group of http_sd, nil if it is larger than maxTarget.
func encode(l model.LabelSet) []byte {
	size := 0
	for name, value := range l {
		size += len(name) + len(value)
	}
	if size > maxTarget {
		return nil
	}
	address := string(l[model.AddressLabel])
	delete(l, model.AddressLabel)
	out, err := json.Marshal(encoded{[]string{address}, l})
	if err != nil {
		panic(err) // strings can be marshaled
	}
	if len(out) > maxTarget {
		return nil
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
//
// Errors: *[TooLarge].
func (t *Targets) Line(shard int) (line []byte, n int, err error) {
	t.dirty[shard] = false
	keys := slices.SortedFunc(maps.Keys(t.groups), targetset.Key.Compare)
	size := 0
	for _, key := range keys {
		g := t.groups[key]
		for _, i := range g.shards[shard] {
			size += len(g.encoded[i]) + 1
			n++
		}
	}
	if size > maxLine {
		return nil, n, &TooLarge{Targets: n, Bytes: size}
	}
	out := openLine(t.name, size)
	for _, key := range keys {
		g := t.groups[key]
		for _, i := range g.shards[shard] {
			if out[len(out)-1] != '[' {
				out = append(out, ',')
			}
			out = append(out, g.encoded[i]...)
		}
	}
	return append(out, "]}\n"...), n, nil
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
