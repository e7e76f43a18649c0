package targets

import (
	"fmt"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

const (
	meta        = "__meta_kubernetes_"
	labelOf     = "_label_"
	presenceOf  = "_labelpresent_"
	shardHash   = "__tmp_hash"
	topology    = "__tmp_topology"
	endedOrigin = "operator: pods that ended"
)

// objects are the kinds whose names are parts of labels. If a target has several, the first one is
// its source.
var objects = []struct {
	label, kind string
	name        model.LabelName
}{
	{"endpointslice", "EndpointSlice", meta + "endpointslice_name"}, {"endpoints", "Endpoints", meta + "endpoints_name"},
	{"service", "Service", meta + "service_name"}, {"ingress", "Ingress", meta + "ingress_name"},
	{"pod", "Pod", meta + "pod_name"}, {"node", "Node", meta + "node_name"}, {"namespace", "Namespace", meta + "namespace_name"},
}

// named are labels that users know under another name.
var named = map[string]string{
	meta + "endpointslice_port_name":   "port name of the Service",
	meta + "endpoint_port_name":        "port name of the Service",
	meta + "pod_container_port_name":   "container port name",
	meta + "pod_container_port_number": "container port number",
	meta + "pod_phase":                 "phase of the Pod",
}

// words are a sentence in two parts: the expectation of the step, which is the same for all targets
// that it drops, and the value that was found instead. Either may be empty.
type words struct{ want, found string }

// sentence returns why the step drops the target.
func sentence(d *Drop, values []string, target string) words {
	switch {
	case d.Origin == endedOrigin:
		return words{found: fmt.Sprintf("the Pod has ended (phase %s); filterRunning: false keeps such targets", d.Value)}
	case d.Origin == promconfig.ShardingOrigin:
		return words{found: shardSentence(d)}
	}
	names := make([]string, len(d.Rule.SourceLabels))
	for i, label := range d.Rule.SourceLabels {
		names[i] = describe(label)
	}
	if text, ok := presence(d, values); ok {
		return text
	}
	if len(names) == 0 {
		return words{want: d.Rule.Action + "s every target: it has no source labels"}
	}
	what := strings.Join(names, " and ")
	is := fmt.Sprintf("it is %q", d.Value)
	switch d.Rule.Action {
	case "keep":
		return words{fmt.Sprintf("keeps targets whose %s matches %q", what, d.Rule.Regex), is}
	case "drop":
		return words{fmt.Sprintf("drops targets whose %s matches %q", what, d.Rule.Regex), is}
	case "keepequal":
		return words{fmt.Sprintf("keeps targets whose %s equals %s", what, describe(d.Rule.TargetLabel)), fmt.Sprintf("they are %q and %q", d.Value, target)}
	}
	return words{fmt.Sprintf("drops targets whose %s equals %s", what, describe(d.Rule.TargetLabel)), fmt.Sprintf("both are %q", d.Value)}
}

// message returns the sentence, beginning with the field that produced the step.
func (w words) message(origin string) string {
	switch {
	case w.want == "":
		return w.found
	case w.found == "":
		return origin + " " + w.want
	}
	return origin + " " + w.want + "; " + w.found
}

// presence describes a step of a label selector, which reads a label and whether it is present.
func presence(d *Drop, values []string) (text words, ok bool) {
	source := d.Rule.SourceLabels
	if len(source) == 0 {
		return words{}, false
	}
	last := source[len(source)-1]
	if !strings.HasPrefix(last, meta) || !strings.Contains(last, presenceOf) {
		return words{}, false
	}
	name := describe(strings.Replace(last, presenceOf, labelOf, 1))
	wanted, both := strings.CutSuffix(d.Rule.Regex, ";true")
	wanted = strings.TrimSuffix(strings.TrimPrefix(wanted, "("), ")")
	there := values[len(values)-1] == "true"
	is := fmt.Sprintf("it is %q", values[0])
	switch {
	case !both && d.Rule.Action == "keep":
		return words{want: fmt.Sprintf("selects targets with the %s, which this one does not have", name)}, true
	case !both:
		return words{want: fmt.Sprintf("selects targets without the %s, which this one has", name)}, true
	case d.Rule.Action == "drop":
		return words{fmt.Sprintf("excludes targets whose %s is %s", name, wanted), is}, true
	case !there:
		is = "it is not set"
	}
	return words{fmt.Sprintf("selects targets whose %s is %s", name, wanted), is}, true
}

// shardSentence returns why no shard takes the target.
func shardSentence(d *Drop) string {
	switch d.Rule.SourceLabels[0] {
	case topology:
		zone, _, _ := strings.Cut(d.Value, ";")
		if zone == "" {
			return "no shard scrapes it: its zone is not known, and the workload shards by topology"
		}
		return fmt.Sprintf("no shard scrapes it: the workload has no shard in its zone %q", zone)
	case shardHash:
		return "no shard scrapes it: none has the number that the hash of its address gives"
	}
	return "no shard scrapes it"
}

// describe returns a human-readable name of a label: "label app of the Service".
func describe(label string) string {
	if name, ok := named[label]; ok {
		return name
	}
	rest, ok := strings.CutPrefix(label, meta)
	if !ok {
		return "label " + label
	}
	for _, o := range objects {
		if key, ok := strings.CutPrefix(rest, o.label+labelOf); ok {
			return "label " + key + " of the " + o.kind
		}
		if key, ok := strings.CutPrefix(rest, o.label+"_annotation_"); ok {
			return "annotation " + key + " of the " + o.kind
		}
	}
	return "label " + label
}

// sourceOf returns the object that the labels come from.
func sourceOf(label func(model.LabelName) string) (s Source) {
	s.Namespace = label(meta + "namespace")
	for _, o := range objects {
		if name := label(o.name); name != "" && o.label != "namespace" {
			s.Kind, s.Name = o.kind, name
			break
		}
	}
	if s.Kind == "" {
		s.Namespace = ""
		return s
	}
	s.Pod = label(meta + "pod_name")
	for _, o := range []model.LabelName{"endpointslice_address_target_", "endpoint_address_target_"} {
		if s.Pod == "" && label(meta+o+"kind") == "Pod" { // the name is set even if the pod is unknown
			s.Pod = label(meta + o + "name")
		}
	}
	for _, name := range []model.LabelName{"pod_node_name", "endpointslice_endpoint_node_name", "endpoint_node_name", "node_name"} {
		if s.Node = label(meta + name); s.Node != "" {
			break
		}
	}
	return s
}
