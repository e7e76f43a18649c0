package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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
