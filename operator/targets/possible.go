package targets

import (
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

// Possible describes targets that may exist, of which only some labels are known.
type Possible struct {
	// Labels are the known labels, one set for each kind of target.
	Labels []model.LabelSet
	// Known are the names of discovered labels that are not set unless they are in Labels; those
	// that end in "_" are prefixes.
	Known []string
}

// mayScrape reports whether the relabel steps of a shard may keep one of the targets: it is false
// only if known labels decide that all are dropped.
func (j *Job) mayScrape(p *Possible) bool {
	return slices.ContainsFunc(p.Labels, func(set model.LabelSet) bool {
		return slices.ContainsFunc(j.shards, func(c *config.ScrapeConfig) bool { return p.mayPass(set, c) })
	})
}

// mayPass reports whether the steps of a job may keep a target with these labels.
func (p *Possible) mayPass(set model.LabelSet, c *config.ScrapeConfig) bool {
	lb := labels.NewBuilder(labels.EmptyLabels())
	populate(lb, c, set, nil)
	written := map[string]bool{} // labels with unknown values
	known := func(name string) bool { return !written[name] && p.knows(name) }
	for _, step := range c.RelabelConfigs {
		reads := !slices.ContainsFunc(step.SourceLabels, func(name model.LabelName) bool { return !known(string(name)) })
		switch step.Action {
		case relabel.Keep, relabel.Drop:
		case relabel.KeepEqual, relabel.DropEqual:
			reads = reads && known(step.TargetLabel)
		case relabel.Replace, relabel.Lowercase, relabel.Uppercase, relabel.HashMod:
			if strings.Contains(step.TargetLabel, "$") {
				return true // it may write any label
			}
			if !reads {
				written[step.TargetLabel] = true
			}
		default:
			return true // it reads all labels
		}
		if reads && !relabel.ProcessBuilder(lb, step) {
			return false
		}
	}
	return true
}

// knows reports whether the value of a discovered label is known. The value may be empty.
func (p *Possible) knows(name string) bool {
	if name != model.AddressLabel && !strings.HasPrefix(name, model.MetaLabelPrefix) {
		return true // discovery does not set it
	}
	return slices.ContainsFunc(p.Known, func(k string) bool { return k == name || strings.HasSuffix(k, "_") && strings.HasPrefix(name, k) })
}
