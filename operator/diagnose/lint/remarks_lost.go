package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// removes returns what a labeldrop or labelkeep step takes away; it removes nothing for other actions.
func removes(s *v1.RelabelConfig) func(label string) bool {
	action := strings.ToLower(s.Action)
	if s.Regex == "" || action != "labeldrop" && action != "labelkeep" {
		return func(string) bool { return false }
	}
	re, err := regexcost.Whole(s.Regex)
	return func(label string) bool { return err == nil && re.MatchString(label) == (action == "labeldrop") }
}

// emptySource returns the effect of a step whose only source label is always empty; empty if it is not certain.
func emptySource(s *v1.RelabelConfig, action string, what relabelled) string {
	matches, known := matchesNothing(s.Regex)
	switch {
	case !known || len(s.SourceLabels) != 1:
	case action == "keep" && !matches, action == "drop" && matches:
		return ", so the step drops every " + string(what)
	case action == "keep", action == "drop":
		return ", so the step drops no " + string(what)
	case (action == "" || action == "replace") && !matches:
		return ", so the step has no effect"
	}
	return ""
}

// namelessRemark reports steps that remove the names of metrics, and labels that do not exist after the scrape.
func namelessRemark(say says, field string, s *v1.RelabelConfig, action string, what relabelled) {
	if what != targets && action == "labelmap" && strings.HasPrefix(s.Regex, metaPrefix) {
		say(field+".regex", "labels __meta_… are gone after the scrape, so the step has no effect; use relabelings")
	}
	if !what.metrics() || !removes(s)(model.MetricNameLabel) {
		return
	}
	remedy := "keep it with regex: __name__|" + s.Regex
	if action == "labeldrop" {
		remedy = "write a regex that does not match __name__"
	}
	effect := "then each scrape fails"
	if what == sentSamples {
		effect = "receivers refuse such samples"
	}
	say(field, "%s takes the name of the metric (__name__) away from every sample, and %s; %s", action, effect, remedy)
}

// onlyPort matches an expression for a port alone.
var onlyPort = lazyregexp.New(`^:?[0-9]+$`)

// portlessRemark reports an expression for a port that is compared with addresses.
func portlessRemark(say says, field string, s *v1.RelabelConfig, action string) {
	effect := map[string]string{"keep": "drops every target", "drop": "drops no target", "replace": "has no effect", "": "has no effect"}[action]
	if effect == "" || !slices.Equal(s.SourceLabels, []v1.LabelName{model.AddressLabel}) {
		return
	}
	shapes := shapesOf(parsed(s.Regex))
	if !slices.ContainsFunc(shapes, func(a shape) bool { return !a.whole || !onlyPort.MatchString(a.text) }) {
		say(field+".regex", "a regex matches the whole address, host:port, so the step %s: write .+:%s", effect, strings.TrimPrefix(s.Regex, ":"))
	}
}

// hostLabels matches labels of discovery for an address or the name of a host, without a port.
var hostLabels = lazyregexp.New(`^__meta_kubernetes_(pod_ip|pod_host_ip|pod_node_name|node_name|node_address_\w+|service_cluster_ip|endpoint_hostname|endpointslice_endpoint_hostname)$`)

// bareAddress reports the last step that replaces the address of targets if it leaves out their port.
func bareAddress(note says, path string, steps []v1.RelabelConfig) {
	for i := len(steps) - 1; i >= 0; i-- {
		s := &steps[i]
		if begin, _, open := strings.Cut(s.TargetLabel, "$"); s.TargetLabel != model.AddressLabel && !(open && strings.HasPrefix(begin, "__")) {
			continue
		}
		action, whole := strings.ToLower(s.Action), s.Replacement == nil || *s.Replacement == "$1" || *s.Replacement == "${1}" || *s.Replacement == "$0"
		if (action == "" || action == "replace") && whole && len(s.SourceLabels) == 1 && hostLabels.MatchString(string(s.SourceLabels[0])) && slices.Contains([]string{"", "(.*)", "(.+)"}, s.Regex) {
			note(fmt.Sprintf("%s[%d]", path, i), "the address has no port then, so Prometheus connects to port 80, or 443 for https: append the port, such as replacement: $1:8080")
		}
		return
	}
}

// identityRemarks reports steps of the job of a monitor without which its targets have the same series. distinct are
// the labels by which they differ.
func identityRemarks(note says, path string, before, after []v1.RelabelConfig, distinct ...string) {
	set := false
	for i := range before {
		s := &before[i]
		set = set || s.TargetLabel == model.InstanceLabel
		if takes := removes(s); !set && strings.EqualFold(s.Action, "labeldrop") && takes(model.InstanceLabel) && !takes(model.AddressLabel) {
			note(fmt.Sprintf("%s.relabelings[%d].regex", path, i), "instance is set from __address__ after relabelings, so it stays; to remove it use metricRelabelings, or set targetLabel: instance to another value here")
		}
	}
	if slices.ContainsFunc(before, setsAnother) {
		return // by which targets may differ
	}
	gone := map[string]bool{}
	for i := range after {
		takes := removes(&after[i])
		field := fmt.Sprintf("%s.metricRelabelings[%d]", path, i)
		for _, label := range distinct {
			gone[label] = gone[label] || takes(label)
		}
		switch action := strings.ToLower(after[i].Action); {
		case takes(model.MetricNameLabel): // reported by namelessRemark
			return
		case !slices.ContainsFunc(distinct, takes):
		case !slices.ContainsFunc(distinct, func(label string) bool { return !gone[label] }):
			note(field, "%s takes %s away, by which the targets of a job differ: if it has several, their samples are the same series, and the server rejects all but one of them as duplicates; keep one of these labels", action, labelsJoined(distinct))
			return
		case takes(model.JobLabel) && takes(model.InstanceLabel):
			note(field, "%s takes job and instance away from the samples, while up and the other series of each scrape keep them, so queries that join or select by these labels find nothing; keep them, or set them to other values in relabelings", action)
			return
		}
	}
}

// bucketRemark reports a step that takes away the labels by which the series of a histogram or summary differ, if no step
// chooses by these or by the name of the metric.
func bucketRemark(note says, path string, steps []v1.RelabelConfig) {
	lost := -1
	for i := range steps {
		s := &steps[i]
		for _, label := range s.SourceLabels {
			if name := string(label); name == model.MetricNameLabel || name == model.BucketLabel || name == model.QuantileLabel {
				return
			}
		}
		if s.Action != "" && strings.EqualFold(s.Action, "labeldrop") && bucketLabels.MatchString(s.Regex) && lost < 0 {
			lost = i
		}
	}
	if lost < 0 {
		return
	}
	label := bucketLabels.FindStringSubmatch(steps[lost].Regex)[1]
	of, end := "buckets of a histogram", ".+_bucket"
	if label == model.QuantileLabel {
		of, end = "quantiles of a summary", ".+"
	}
	note(fmt.Sprintf("%s[%d].regex", path, lost), "takes %[1]s away, by which the %[2]s differ, so that they are one series, and all but one of each scrape are rejected as duplicates; to drop them write {action: drop, sourceLabels: [__name__, %[1]s], regex: %[3]s;.+}", label, of, end)
}

// bucketLabels matches an expression for the label of buckets or quantiles, as it is.
var bucketLabels = lazyregexp.New(`(?:^|\|)(le|quantile)(?:$|\|)`)

// identityOfProbe is like identityRemarks for a Probe, whose targets differ by instance alone.
func identityOfProbe(note says, m *v1.Probe) {
	if s := m.Spec.Targets.StaticConfig; s != nil && len(s.Static) > 1 {
		identityRemarks(note, "spec", s.RelabelConfigs, m.Spec.MetricRelabelConfigs, model.InstanceLabel)
	}
}

// identityOfScrapeConfig is like identityRemarks for a ScrapeConfig, unless its targets differ by static labels.
func identityOfScrapeConfig(note says, m *v1alpha1.ScrapeConfig) {
	if !slices.ContainsFunc(m.Spec.StaticConfigs, func(s v1alpha1.StaticConfig) bool { return len(s.Labels) > 0 }) {
		identityRemarks(note, "spec", m.Spec.RelabelConfigs, m.Spec.MetricRelabelConfigs, model.InstanceLabel)
	}
}

// setsAnother reports whether a step gives targets a label that stays, other than job and instance.
func setsAnother(s v1.RelabelConfig) bool {
	return strings.EqualFold(s.Action, "labelmap") ||
		s.TargetLabel != "" && !strings.HasPrefix(s.TargetLabel, "__") && s.TargetLabel != model.JobLabel && s.TargetLabel != model.InstanceLabel
}

// labelsJoined lists names of labels.
func labelsJoined(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
