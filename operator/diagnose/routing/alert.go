package routing

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// RuleFile is a PrometheusRule as a workload uses it.
type RuleFile struct {
	Workload string // "Prometheus monitoring/k8s"; empty when none uses the object
	Text     []byte // of the rule file, or of the object's spec
	// externalLabels are labels that the workload adds to every alert.
	External map[string]string
	Notes    []string // other effects of the workload on labels
}

// alertLabels returns the labels of a rule's alert that are known before it fires, and notes about the
// others. The given labels override those of the rule, and select among rules of the same name.
//
// Errors: there is no such alert; there are several with different labels.
func alertLabels(name string, files []RuleFile, given Labels) (Labels, []string, error) {
	if len(files) == 0 {
		return nil, nil, errors.New("no rule file")
	}
	var sets []Labels
	var notes []string
	for _, f := range files {
		set, err := f.alert(name, given)
		if err != nil {
			return nil, nil, err
		}
		sets = append(sets, set)
		notes = append(notes, f.Notes...)
	}
	out := Labels{}
	for _, label := range slices.Sorted(maps.Keys(union(sets))) {
		values := differing(label, sets, files)
		if _, is := given[label]; !is && len(values) > 1 {
			notes = append(notes, fmt.Sprintf("label %s is left out, because it differs: %s", label, strings.Join(values, ", ")))
			continue
		}
		out[label] = sets[0][label]
	}
	maps.Copy(out, given)
	for _, label := range slices.Sorted(maps.Keys(out)) {
		switch value := string(out[label]); {
		case given[label] != "":
		case strings.Contains(value, "{{"):
			notes = append(notes, fmt.Sprintf("label %s is a template, whose value is known only when the alert fires", label))
		case strings.Contains(value, "$("):
			notes = append(notes, fmt.Sprintf("label %s has a variable, whose value is known only in the pod", label))
		}
	}
	notes = append(notes, "labels from the rule's expression, such as those of the target, are not known: add them as NAME=VALUE")
	return out, notes, nil
}

func union(sets []Labels) Labels {
	out := Labels{}
	for _, s := range sets {
		maps.Copy(out, s)
	}
	return out
}

// differing lists the values of a label by workload, reduced to one entry if all are equal.
func differing(label model.LabelName, sets []Labels, files []RuleFile) (out []string) {
	same := true
	for i, set := range sets {
		same = same && set[label] == sets[0][label]
		out = append(out, fmt.Sprintf("%q in %s", set[label], files[i].Workload))
	}
	if same {
		return out[:1]
	}
	return out
}

// ruleGroups is the part of a rule file that contains labels.
type ruleGroups struct {
	Groups []struct {
		Labels map[string]string `json:"labels"`
		Rules  []struct {
			Alert  string            `json:"alert"`
			Labels map[string]string `json:"labels"`
		} `json:"rules"`
	} `json:"groups"`
}

// alert returns the labels of the alert in one file.
func (f RuleFile) alert(name string, given Labels) (Labels, error) {
	var file ruleGroups
	if err := yaml.Unmarshal(f.Text, &file); err != nil {
		return nil, fmt.Errorf("read the rule file: %w", err)
	}
	var found []Labels
	var names []string
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			if names = append(names, r.Alert); r.Alert != name {
				continue
			}
			set := Labels{}
			for _, labels := range []map[string]string{f.External, g.Labels, r.Labels, {"alertname": name}} {
				for k, v := range labels {
					set[model.LabelName(k)] = model.LabelValue(v)
				}
			}
			maps.DeleteFunc(set, func(_ model.LabelName, v model.LabelValue) bool { return v == "" }) // as Prometheus does
			if agrees(set, given) && !slices.ContainsFunc(found, set.Equal) {
				found = append(found, set)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var texts []string
		for _, set := range found {
			texts = append(texts, labelsText(set))
		}
		return nil, fmt.Errorf("%d rules have the alert %q, with different labels; add NAME=VALUE of the one you mean: %s", len(found), name, strings.Join(texts, ", "))
	case slices.Contains(names, name):
		return nil, fmt.Errorf("no alert %q has the labels %s", name, labelsText(given))
	case len(names) == 0:
		return nil, errors.New("the PrometheusRule has no alerts")
	}
	slices.Sort(names)
	return nil, fmt.Errorf("no alert %q in the PrometheusRule; it has %s", name, strings.Join(excerpt.Names(slices.Compact(names)), ", "))
}

// agrees reports whether no label of a rule conflicts with the given ones. A template can have any
// value.
func agrees(set, given Labels) bool {
	for name, value := range given {
		if own, has := set[name]; has && own != value && !strings.Contains(string(own), "{{") {
			return false
		}
	}
	return true
}

// defaultPrometheusLabel is the default external label with the name of the Prometheus.
const defaultPrometheusLabel = "prometheus"

// externalLabels returns the labels that a workload adds to its alerts, and notes about its other effects
// on labels. The replica label is not included, since it is dropped from alerts.
func externalLabels(w v1.Workload) (set map[string]string, notes []string) {
	set = map[string]string{}
	switch w := w.(type) {
	case *v1.Prometheus:
		maps.Copy(set, w.Spec.ExternalLabels)
		own := defaultPrometheusLabel
		if w.Spec.PrometheusExternalLabelName != nil {
			own = *w.Spec.PrometheusExternalLabelName
		}
		if own != "" {
			set[own] = w.Namespace + "/" + w.Name
		}
		if w.Spec.ReplicaExternalLabelName != nil {
			delete(set, *w.Spec.ReplicaExternalLabelName)
		}
		if w.Spec.AdditionalAlertRelabelConfigs != nil {
			notes = append(notes, fmt.Sprintf("Prometheus %s/%s: spec.additionalAlertRelabelConfigs can change labels, and is not looked at", w.Namespace, w.Name))
		}
	case *v1.ThanosRuler:
		maps.Copy(set, w.Spec.Labels)
		for _, label := range w.Spec.AlertDropLabels {
			delete(set, label)
		}
		if w.Spec.AlertRelabelConfigs != nil || w.Spec.AlertRelabelConfigFile != "" {
			notes = append(notes, fmt.Sprintf("ThanosRuler %s/%s: its relabelling of alerts can change labels, and is not looked at", w.Namespace, w.Name))
		}
	}
	return set, notes
}
