package targets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

var errTooExpensive = errors.New("the relabel steps of the target are too expensive to evaluate")

// Step is a relabel step with the labels of a target that it changes: before it, without those that it adds, and
// after it, without those that it removes.
type Step struct {
	Origin        string // field that produced it
	Rule          string // as YAML
	Before, After map[string]string
	Drops         bool // if it drops the target: it changes nothing, and it is the last step
}

// Index returns the row of the target with an ID, -1 if there is none.
func (r Result) Index(id string) int {
	for i := range r.Rows {
		if row := &r.Rows[i]; !row.isGap() && idOf(r.job.Name, r.discovered(row)) == id {
			return i
		}
	}
	return -1
}

// HasTarget reports whether a group has a target with this ID. It is cheaper than an evaluation.
func (j *Job) HasTarget(group *targetgroup.Group, id string) bool {
	r := Result{job: j}
	return slices.ContainsFunc(group.Targets, func(own model.LabelSet) bool {
		return idOf(j.Name, r.discovered(&Row{own: own, shared: group.Labels})) == id
	})
}

// Trace returns the relabel steps of a target, up to the step that drops it, on the shard that scrapes it or that drops
// it last.
//
// Errors: a step cannot be marshaled, the target is too expensive to evaluate.
func (r Result) Trace(i int) ([]Step, error) {
	row := &r.Rows[i]
	if !r.job.mayFollow(row) {
		return nil, errTooExpensive
	}
	c, lb := r.job.shards[row.on], labels.NewBuilder(labels.EmptyLabels())
	populate(lb, c, row.own, row.shared)
	var out []Step
	before := lb.Labels()
	if before.Len()*len(c.RelabelConfigs) > budget.MatchSteps {
		return nil, errTooExpensive
	}
	size := 0
	for k, rule := range c.RelabelConfigs {
		text, err := yaml.Marshal(rule)
		if err != nil {
			return nil, fmt.Errorf("relabel step %d: %w", k+1, err)
		}
		step := Step{Origin: r.job.Origins[k].Path, Rule: string(text)}
		if step.Drops = !relabel.ProcessBuilder(lb, rule); step.Drops {
			return append(out, step), nil
		}
		after := lb.Labels()
		step.Before, step.After = differing(before, after)
		for _, of := range []map[string]string{step.Before, step.After} {
			for name, value := range of {
				size += len(name) + len(value)
			}
		}
		if size > mostTraced {
			return nil, errTooExpensive
		}
		out, before = append(out, step), after
	}
	return out, nil
}

// mostTraced is the maximum size of all labels that the steps of a target change.
const mostTraced = 16 * budget.LabelBytes

// differing returns the labels that are only before a step, or have another value, and those only after it.
func differing(before, after labels.Labels) (gone, come map[string]string) {
	if labels.Equal(before, after) {
		return nil, nil
	}
	gone, come = map[string]string{}, map[string]string{}
	put := func(m map[string]string, l labels.Label) {
		m[strings.Clone(l.Name)] = strings.Clone(l.Value) // they are parts of the text of all labels
	}
	old, now := list(before), list(after)
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(old) > 0 && old[0].Name < now[0].Name:
			put(gone, old[0])
			old = old[1:]
		case len(old) == 0 || now[0].Name < old[0].Name:
			put(come, now[0])
			now = now[1:]
		default:
			if old[0].Value != now[0].Value {
				put(gone, old[0])
				put(come, now[0])
			}
			old, now = old[1:], now[1:]
		}
	}
	return gone, come
}

// list returns labels in order.
func list(of labels.Labels) (out []labels.Label) {
	of.Range(func(l labels.Label) { out = append(out, l) })
	return out
}
