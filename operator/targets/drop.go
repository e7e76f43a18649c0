package targets

import (
	"encoding/binary"
	"strings"

	"github.com/prometheus/prometheus/model/relabel"
)

// Drop is the relabel step that drops a target.
type Drop struct {
	// Step is the number of the relabel step, starting with 1.
	Step int `json:"step"`
	// Origin is the field from which the step is generated, for example "spec.endpoints[0].relabelings[1]", or a rule
	// of the operator, for example "operator: sharding".
	Origin string `json:"origin"`
	Rule   Rule   `json:"rule"`
	// Value is the value of the source labels, joined with the separator of the rule.
	Value string `json:"value"`
	// Message is a human-readable sentence with the origin, the requirement of the step and the values of the target.
	Message string `json:"message"`
	// Want is the requirement of the step, the same for all targets that it drops. It may be empty.
	Want string `json:"-"`
	// Found has the values of this target instead. It may be empty.
	Found string `json:"-"`
}

// Rule is the relabel rule of a step.
type Rule struct {
	Action       string   `json:"action"`
	SourceLabels []string `json:"sourceLabels,omitempty"`
	Regex        string   `json:"regex,omitempty"`
	TargetLabel  string   `json:"targetLabel,omitempty"` // only for keepequal and dropequal
}

// drop marks the target as dropped by a step of a shard. It repeats the relabeling up to that step,
// because intermediate values are only needed here.
func (e *evaluation) drop(r *Row, shard, step int) {
	if step < e.sieve.steps {
		e.sieve.populate(e.lb, r, shard)
		e.sieve.dropAt(e.lb, shard, 0, step)
	} else {
		c := e.shards[shard]
		populate(e.lb, c, r.own, r.shared)
		relabel.ProcessBuilder(e.lb, c.RelabelConfigs[:step]...)
	}
	e.explain(r, shard, step)
}

// maxDrops is the maximum number of drops that rows share.
const maxDrops = 10_000

// explain marks the target as dropped by a step of a shard. The builder must have its labels before
// that step.
func (e *evaluation) explain(r *Row, shard, step int) {
	rule := e.shards[shard].RelabelConfigs[step]
	key := binary.AppendUvarint(binary.AppendUvarint(e.scratch[:0], uint64(shard)), uint64(step))
	for _, name := range rule.SourceLabels {
		key = append(append(key, e.lb.Get(string(name))...), 0)
	}
	key = append(key, e.lb.Get(rule.TargetLabel)...)
	e.scratch = key
	d, known := e.drops[string(key)]
	if !known {
		d = e.newDrop(rule, step)
	}
	if !known && len(e.drops) < maxDrops {
		e.drops[string(key)] = d
	}
	r.State, r.on, r.Drop, r.Message = Dropped, shard, d, d.Message
}

func (e *evaluation) newDrop(rule *relabel.Config, step int) *Drop {
	values := make([]string, len(rule.SourceLabels))
	for i, name := range rule.SourceLabels {
		values[i] = e.lb.Get(string(name))
	}
	d := &Drop{Step: step + 1, Origin: e.Origins[step].Path, Rule: e.ruleOf(rule), Value: strings.Join(values, rule.Separator)}
	text := sentence(d, values, e.lb.Get(rule.TargetLabel))
	d.Want, d.Found, d.Message = text.want, text.found, text.message(d.Origin)
	return d
}

func (j *Job) ruleOf(c *relabel.Config) Rule {
	out := Rule{Action: string(c.Action)}
	for _, name := range c.SourceLabels {
		out.SourceLabels = append(out.SourceLabels, string(name))
	}
	switch c.Action {
	case relabel.KeepEqual, relabel.DropEqual:
		out.TargetLabel = c.TargetLabel
	default:
		out.Regex = j.regexOf(c)
	}
	return out
}
