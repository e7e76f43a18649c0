package targets

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/relabel"
)

// ReadLabels are the discovered labels that affect the targets of a job: those that its relabel steps
// read. Servers drop all other labels __meta_... unread. It is immutable.
type ReadLabels struct {
	names map[model.LabelName]bool
	maps  []relabel.Regexp // of labelmap steps: the names that they copy
}

// ReadLabels returns the labels that the relabel steps of a job read on any shard.
func (j *Job) ReadLabels() ReadLabels {
	out := ReadLabels{names: map[model.LabelName]bool{}}
	for _, c := range j.shards {
		for _, step := range c.RelabelConfigs {
			for _, name := range step.SourceLabels {
				out.names[name] = true
			}
			switch step.Action {
			case relabel.KeepEqual, relabel.DropEqual:
				out.names[model.LabelName(step.TargetLabel)] = true
			case relabel.LabelMap:
				same := func(r relabel.Regexp) bool { return r.String() == step.Regex.String() }
				if !slices.ContainsFunc(out.maps, same) {
					out.maps = append(out.maps, step.Regex)
				}
			}
			// labeldrop and labelkeep only remove labels, the others read the labels that they name.
		}
	}
	return out
}

// has reports whether a label affects the job's targets.
func (s *ReadLabels) has(name model.LabelName) bool {
	return !strings.HasPrefix(string(name), model.MetaLabelPrefix) || s.names[name] ||
		slices.ContainsFunc(s.maps, func(r relabel.Regexp) bool { return r.MatchString(string(name)) })
}

// Target returns a discovered target without the labels that do not affect it, and without labels
// that are empty. own are the labels of the target and take precedence over shared, those of its
// group.
func (s *ReadLabels) Target(own, shared model.LabelSet) model.LabelSet {
	out := make(model.LabelSet, 16)
	for name, value := range shared {
		if _, hidden := own[name]; !hidden && value != "" && s.has(name) {
			out[name] = value
		}
	}
	for name, value := range own {
		if value != "" && s.has(name) {
			out[name] = value
		}
	}
	return out
}
