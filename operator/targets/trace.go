package targets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"
)

var errTooExpensive = errors.New("the relabel steps of the target are too expensive to evaluate")

// Step is a relabel step with the labels of a target before and after it.
type Step struct {
	Origin        string // field that produced it
	Rule          string // as YAML
	Before, After map[string]string
	Drops         bool // if it drops the target: After is nil, and it is the last step
}

// Index returns the row of the target with an ID; -1 if there is none.
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

// Trace returns the steps that a target goes through, up to the step that drops it, on the shard
// that scrapes it or gets furthest with it.
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
	for k, rule := range c.RelabelConfigs {
		text, err := yaml.Marshal(rule)
		if err != nil {
			return nil, fmt.Errorf("relabel step %d: %w", k+1, err)
		}
		step := Step{Origin: r.job.Origins[k].Path, Rule: string(text), Before: lb.Labels().Map()}
		step.Drops = !relabel.ProcessBuilder(lb, rule)
		if !step.Drops {
			step.After = lb.Labels().Map()
		}
		if out = append(out, step); step.Drops {
			break
		}
	}
	return out, nil
}
