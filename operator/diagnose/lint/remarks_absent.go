package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"k8s.io/utils/ptr"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
)

// stepsOfClass returns the relabeling steps that the scrape class of an object adds before its own; known reports whether
// they are known.
func stepsOfClass(f *v1.CommonPrometheusFields, name string) (steps []v1.RelabelConfig, known bool) {
	if f == nil {
		return nil, name == ""
	}
	for _, c := range f.ScrapeClasses {
		if c.Name == name || name == "" && ptr.Deref(c.Default, false) {
			return c.RelabelConfigs, true
		}
	}
	return nil, true
}

// copiesInstance reports whether the label instance of Services or pods becomes one of targets.
func copiesInstance(f *v1.CommonPrometheusFields, lists ...[]string) bool {
	if f != nil {
		lists = append(lists, f.PodTargetLabels)
	}
	return slices.ContainsFunc(lists, func(names []string) bool { return slices.Contains(names, model.InstanceLabel) })
}

// mayHaveInstance reports whether a discovery of a ScrapeConfig may give targets the label instance.
func mayHaveInstance(m *v1alpha1.ScrapeConfig) bool {
	return len(m.Spec.HTTPSDConfigs)+len(m.Spec.FileSDConfigs) > 0 || slices.ContainsFunc(m.Spec.StaticConfigs, func(s v1alpha1.StaticConfig) bool {
		_, has := s.Labels[model.InstanceLabel]
		return has
	})
}

// instanceRemarks reports steps of targets that read the label instance, which Prometheus sets after them, unless earlier
// steps set it. before are the steps of the scrape class, discovered is set if targets may have it from the start.
func instanceRemarks(say says, path string, steps, before []v1.RelabelConfig, discovered bool) {
	set := nearmiss.LabelsSetBy(before)
	for i := range steps {
		s := &steps[i]
		if discovered || set.Has(model.InstanceLabel) {
			return
		}
		j := slices.Index(s.SourceLabels, model.InstanceLabel)
		if action := strings.ToLower(s.Action); j >= 0 && !guards(s) {
			effect := emptySource(s, action, targets)
			if action == "hashmod" && len(s.SourceLabels) == 1 {
				effect = ", so that every target gets the same hash"
			}
			say(fmt.Sprintf("%s[%d].sourceLabels[%d]", path, i, j), "targets have no label instance yet, because Prometheus sets it from __address__ after these steps%s; use __address__, or metricRelabelings", effect)
		}
		set.Add(s)
	}
}

// guards reports whether a step may be meant for targets without the value of a source label.
func guards(s *v1.RelabelConfig) bool {
	if len(s.SourceLabels) > 1 {
		return s.Regex != "" && s.Regex != "(.*)"
	}
	return !slices.ContainsFunc(shapesOf(parsed(s.Regex)), func(is shape) bool { return !is.whole || is.text != "" })
}

// goneRemarks reports source labels that only targets have, in steps for what is scraped from them, unless earlier steps
// set them.
func goneRemarks(say says, path string, steps []v1.RelabelConfig, what relabelled) {
	set := nearmiss.SetLabels{}
	for i := range steps {
		goneRemark(say, set, fmt.Sprintf("%s[%d]", path, i), &steps[i], what)
		set.Add(&steps[i])
	}
}

// goneRemark reports the source labels of one step that only targets have, and that no earlier step sets.
func goneRemark(say says, set nearmiss.SetLabels, field string, s *v1.RelabelConfig, what relabelled) {
	for i, label := range s.SourceLabels {
		name := string(label)
		use := "copy it into another label by relabelings"
		if what != samples {
			use += " of the monitor"
		}
		switch {
		case name == model.AddressLabel, name == targetParam:
			use += ", or use instance"
		case name == model.SchemeLabel, name == model.MetricsPathLabel, strings.HasPrefix(name, model.ParamLabelPrefix):
		default:
			continue
		}
		if set.Has(name) {
			continue
		}
		say(fmt.Sprintf("%s.sourceLabels[%d]", field, i), "%s is gone after the scrape%s; %s", name, emptySource(s, strings.ToLower(s.Action), what), use)
	}
}
