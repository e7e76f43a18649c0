package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// possibleValues are the values that discovery gives to labels.
type possibleValues struct {
	label  *lazyregexp.Regexp // matches their names
	values string             // a regular expression
	such   string             // the values in words; the list of values if empty
}

// possible are the labels with few values.
var possible = []possibleValues{
	{label: lazyregexp.New(`^__meta_kubernetes_pod_phase$`), values: "Pending|Running|Succeeded|Failed|Unknown"},
	{label: lazyregexp.New(`^__meta_kubernetes_(pod|endpoint)_ready$`), values: "true|false|unknown"},
	{label: lazyregexp.New(`^__meta_kubernetes_(pod_container_init|endpointslice_endpoint_conditions_\w+)$`), values: "true|false"},
	{label: lazyregexp.New(`^__meta_kubernetes_\w+_(label|annotation)present_\w+$`), values: "true", such: "true where it is there"},
	{label: lazyregexp.New(`^__meta_kubernetes_service_type$`), values: "ClusterIP|NodePort|LoadBalancer|ExternalName"},
	{label: lazyregexp.New(`^__meta_kubernetes_\w+_port_protocol$`), values: "TCP|UDP|SCTP"},
	{label: lazyregexp.New(`^__meta_kubernetes_(pod_container|service)_port_number$`), values: "[0-9]+", such: "a number"},
	{label: lazyregexp.New(`^__scheme__$`), values: "https?", such: "http or https"},
	{label: lazyregexp.New(`^__metrics_path__$`), values: "/.*", such: "a path, which begins with a slash"},
}

// ownerOf are the kinds of the owners of pods, for kinds that own none directly.
var ownerOf = map[string]string{"Deployment": "ReplicaSet", "CronJob": "Job"}

// valueRemark reports a step of targets that compares a label of discovery with a value that the label never has.
// before are the steps before it.
func valueRemark(say says, field string, s *v1.RelabelConfig, action string, before []v1.RelabelConfig) {
	effect := map[string]string{"keep": "drops every target", "drop": "drops no target", "replace": "has no effect", "": "has no effect"}[action]
	if effect == "" || len(s.SourceLabels) != 1 || s.Regex == "" || slices.ContainsFunc(before, func(b v1.RelabelConfig) bool {
		return b.TargetLabel == string(s.SourceLabels[0]) || strings.EqualFold(b.Action, "labelmap")
	}) {
		return
	}
	label, shapes := string(s.SourceLabels[0]), shapesOf(parsed(s.Regex))
	if label == "__meta_kubernetes_pod_controller_kind" && len(shapes) == 1 && shapes[0].whole && ownerOf[shapes[0].text] != "" {
		say(field+".regex", "the controller of the pods of a %s is its %s, so the step %s: write %[2]s", shapes[0].text, ownerOf[shapes[0].text], effect)
		return
	}
	for _, p := range possible {
		if p.label.MatchString(label) && apart(shapes, append(shapesOf(parsed(p.values)), shape{"", true})) {
			such := p.such
			if such == "" {
				such = "one of " + strings.ReplaceAll(p.values, "|", ", ")
			}
			say(field+".regex", "matches no value of %s, which is %s, so the step %s%s", label, such, effect, spelled(s.Regex, p.values))
		}
	}
}

// spelled suggests the value that differs from a text in its case only.
func spelled(text, values string) string {
	for value := range strings.SplitSeq(values, "|") {
		if strings.EqualFold(value, text) {
			return fmt.Sprintf(": write %q", value)
		}
	}
	return ""
}

// phaseRemarks reports steps that keep finished pods, which the operator drops unless filterRunning is false, or that
// drop running ones beside them.
func phaseRemarks(say says, path string, filterRunning *bool, steps []v1.RelabelConfig, pods bool) {
	if filterRunning != nil && !*filterRunning {
		return
	}
	for i := range steps {
		s := &steps[i]
		if s.TargetLabel == phaseLabel || strings.EqualFold(s.Action, "labelmap") {
			return
		}
		re, err := regexcost.Whole(s.Regex)
		if err != nil || s.Regex == "" || !slices.Equal(s.SourceLabels, []v1.LabelName{phaseLabel}) {
			continue
		}
		finished := re.MatchString("Succeeded") || re.MatchString("Failed")
		others := slices.ContainsFunc([]string{"Running", "Pending", "Unknown", ""}, re.MatchString)
		switch action := strings.ToLower(s.Action); {
		case action == "keep" && finished && !others:
			say(fmt.Sprintf("%s[%d].regex", path, i), "keeps finished pods only, and the operator drops these before, unless filterRunning is false, so no target is left; set filterRunning: false, or keep Running")
		case action == "drop" && pods && re.MatchString("Running"):
			say(fmt.Sprintf("%s[%d].regex", path, i), "drops running pods, and the operator drops finished ones before, unless filterRunning is false, so only pods are left that do not answer yet; remove the step")
		}
	}
}

// phaseLabel is the label of discovery for the phase of a pod.
const phaseLabel = "__meta_kubernetes_pod_phase"

// plainPort matches a name of a port that is no regular expression.
var plainPort = lazyregexp.New(`^[a-z0-9-]+$`)

// portNameLabel are the labels of discovery for the name of a port by which the operator selects targets, by role.
var portNameLabel = map[string]string{
	"endpoints": "__meta_kubernetes_endpoint_port_name", "endpointslice": "__meta_kubernetes_endpointslice_port_name", "pod": "__meta_kubernetes_pod_container_port_name",
}

// portNameRemark reports a step that drops every target, because it compares the name of their port with another one than
// the port of the endpoint. label is the one of discovery for that name.
func portNameRemark(say says, path, port string, steps []v1.RelabelConfig, label string) {
	if !plainPort.MatchString(port) {
		return
	}
	for i := range steps {
		s := &steps[i]
		if s.TargetLabel == label || strings.EqualFold(s.Action, "labelmap") {
			return
		}
		if s.Regex == "" || !slices.Equal(s.SourceLabels, []v1.LabelName{v1.LabelName(label)}) {
			continue
		}
		re, err := regexcost.Whole(s.Regex)
		if action := strings.ToLower(s.Action); err == nil && (action == "keep" || action == "drop") && re.MatchString(port) == (action == "drop") {
			say(fmt.Sprintf("%s[%d].regex", path, i), "%s drops every target, because their port is called %s, by port of the endpoint: remove the step, or set port to another name", action, port)
		}
	}
}
