package nearmiss

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// ofMeshes matches labels that the webhooks of Kubernetes and of service meshes add to pods.
var ofMeshes = lazyregexp.New(`^(topology\.kubernetes|.*istio|linkerd)\.io/`)

// addedLater reports whether a label is one that is added to single pods, and is in no template.
func addedLater(label string) bool {
	return slices.Contains(ofControllers, label) || ofMeshes.MatchString(label)
}

// behindAll returns the pods behind Services; none if those of one of them are unknown.
func (v *View) behindAll(services []service) (out []candidate) {
	for _, svc := range services {
		behind := v.behind(svc)
		if len(behind) == 0 {
			return nil
		}
		out = append(out, candidates(behind, ofPods)...)
	}
	return out
}

// has reports whether one of the candidates has a label, or may get it later.
func has(found []candidate, label string) bool {
	return len(found) == 0 || addedLater(label) || slices.ContainsFunc(found, func(t candidate) bool {
		_, own := t.labels[label]
		return own || slices.ContainsFunc(t.others, func(set labels.Set) bool { _, one := set[label]; return one })
	})
}

// targetLabels returns a hint for each of the labels of Services that none of them has.
func targetLabels(s *Search, found, behind []candidate) (out []Hint) {
	for i, label := range s.targetLabels {
		if has(found, label) || len(out) == maxListed {
			continue
		}
		remedy := meantLabel(found, label)
		if len(behind) > 0 && has(behind, label) && !addedLater(label) {
			remedy = "; the pods have it: write it into podTargetLabels"
		}
		out = append(out, carried(fmt.Sprintf("spec.targetLabels[%d]", i), found, label, remedy))
	}
	return out
}

// podLabels is like targetLabels for labels of pods.
func podLabels(s *Search, behind []candidate) (out []Hint) {
	for i, label := range s.podLabels {
		if !has(behind, label) && len(out) < maxListed {
			out = append(out, carried(fmt.Sprintf("spec.podTargetLabels[%d]", i), behind, label, meantLabel(behind, label)))
		}
	}
	return out
}

// carried returns a hint about a label that no target gets.
func carried(field string, found []candidate, label, remedy string) Hint {
	verb := "have"
	if len(found) == 1 && found[0].kind == "Service" {
		verb = "has"
	}
	whose := names(found)
	if found[0].kind != "Service" {
		whose = "the pods of " + whose
	}
	return Hint{Code: Remark, Field: field, Message: fmt.Sprintf("is the name of a label, and %s %s no label %s, so no target gets it%s", whose, verb, label, remedy)}
}

// meantLabel returns a suggestion for a label that the candidates have, as the end of a message.
func meantLabel(found []candidate, label string) string {
	if name, value, is := strings.Cut(label, "="); is && value != "" {
		return fmt.Sprintf(": write %s alone, without a value", name)
	}
	for _, t := range found {
		for key := range t.labels {
			if alike(key, label) {
				return fmt.Sprintf(": did you mean %q?", key)
			}
		}
	}
	return ""
}

// keep is a relabel step that keeps targets by a label or an annotation of their Service or pod.
type keep struct {
	field string
	of    string // "service" or "pod"
	what  string // "label", "annotation", "name", "namespace" or [namesOfPorts]
	name  string // of a label or annotation, as discovery writes it
	text  string // of the regex
	regex *regexp.Regexp
}

// ofObject are labels of discovery for what every Service has.
var ofObject = map[v1.LabelName]string{"__meta_kubernetes_service_name": "name", "__meta_kubernetes_namespace": "namespace"}

// podName is the label of discovery for the name of a pod.
const podName = "__meta_kubernetes_pod_name"

// containerPortName is the label of discovery for the name of a port of a container.
const containerPortName = "__meta_kubernetes_pod_container_port_name"

// namesOfPorts is the what of a [keep] by [containerPortName].
const namesOfPorts = "names of ports"

// metaOf matches labels of discovery for a label or annotation.
var metaOf = lazyregexp.New(`^__meta_kubernetes_(service|pod)_(label|annotation)_(\w+)$`)

// keepsOf returns the steps that keep targets by labels or annotations, one for each of them, unless earlier ones set it.
func keepsOf(field string, steps []v1.RelabelConfig) (out []keep) {
	for i, s := range steps {
		if !strings.EqualFold(s.Action, "keep") {
			continue
		}
		for j, regex := range partsOf(&s) {
			source := s.SourceLabels[j]
			part := metaOf.FindStringSubmatch(string(source))
			if what := ofObject[source]; what != "" {
				part = []string{"", "service", what, ""}
			} else if source == podName {
				part = []string{"", "pod", "name", ""}
			} else if source == containerPortName {
				part = []string{"", "pod", namesOfPorts, ""}
			}
			if part == nil || slices.ContainsFunc(steps[:i], func(b v1.RelabelConfig) bool {
				return b.TargetLabel == string(source) || strings.EqualFold(b.Action, "labelmap")
			}) {
				continue
			}
			re, err := regexcost.Whole(regex)
			if err == nil && regex != "" && !re.MatchString("") {
				out = append(out, keep{fmt.Sprintf("%s[%d]", field, i), part[1], part[2], part[3], regex, re})
			}
		}
	}
	return out
}

// partsOf returns the expression for each of the source labels of a step; none if its regex is not simply their sequence.
// Values of labels and names have no separator in them, so that each separator of the regex is one between values.
func partsOf(s *v1.RelabelConfig) []string {
	if len(s.SourceLabels) == 1 {
		return []string{s.Regex}
	}
	separator := ";"
	if s.Separator != nil {
		separator = *s.Separator
	}
	if separator != ";" || strings.Contains(s.Regex, "(?") {
		return nil // it may be a part of a value, or of the syntax of regular expressions; flags apply to later parts, too
	}
	parts := strings.Split(s.Regex, separator)
	if len(parts) != len(s.SourceLabels) {
		return nil
	}
	for i, part := range parts {
		tree, err := regexcost.Parse(part)
		if err != nil || tree.Op == syntax.OpAlternate || strings.Contains(string(s.SourceLabels[i]), "_annotation_") {
			return nil
		}
	}
	return parts
}

// notInName matches characters that discovery writes as _.
var notInName = lazyregexp.New(`[^a-zA-Z0-9_]`)

// kept returns a hint for each step that keeps no target, because neither Services nor pods have the label or
// annotation with such a value. Either of them may be unknown.
func kept(s *Search, services, behind []candidate) (out []Hint) {
	for _, k := range s.keeps {
		all := services
		if k.of == "pod" {
			all = behind
		}
		if len(all) == 0 || len(out) == maxListed || k.of == "pod" && slices.ContainsFunc(all, func(t candidate) bool { return len(t.others) > 0 }) {
			continue
		}
		result := ""
		if k.of == "pod" && k.what == "name" {
			result = k.dropsNames(all)
		} else if k.what == namesOfPorts {
			result = k.dropsPorts(all)
		} else {
			result = k.drops(all)
		}
		if result != "" {
			out = append(out, Hint{Code: NoTarget, Field: k.field, Message: result})
		}
	}
	return out
}

// drops returns why a step keeps none of the candidates; empty if it keeps one.
func (k keep) drops(all []candidate) string {
	value, shown := "", ""
	for _, t := range all {
		if own := map[string]string{"name": t.name, "namespace": t.namespace}[k.what]; own != "" {
			if k.regex.MatchString(own) {
				return ""
			}
			value, shown = own, k.what
			continue
		}
		set := map[string]string(t.labels)
		if k.what == "annotation" {
			set = t.annotations
		}
		for key, text := range set {
			if notInName.ReplaceAllString(key, "_") != k.name {
				continue
			}
			if k.regex.MatchString(text) || len(text) > maxAnnotation || addedLater(key) {
				return ""
			}
			value, shown = text, key
		}
	}
	whose, verb := names(all), "have"
	if all[0].kind != "Service" {
		whose = "the pods of " + whose
	} else if len(all) == 1 {
		verb = "has"
	}
	if shown == k.what {
		return fmt.Sprintf("keep drops every target: the %s of %s is %s, which the regex does not match%s", k.what, whose, value, k.asWhole(value))
	}
	if shown != "" {
		return fmt.Sprintf("keep drops every target: %s %s the %s %s: %s, which the regex does not match%s", whose, verb, k.what, shown, value, k.asWhole(value))
	}
	return fmt.Sprintf("keep drops every target: %s %s no %s that discovery calls %s; remove the step, or add the %s", whose, verb, k.what, k.name, k.what)
}

// dropsPorts returns why a step keeps no port of a container: it compares names of ports that none of them has. Empty if it
// may keep one.
func (k keep) dropsPorts(all []candidate) string {
	var declared []string
	for _, t := range all {
		if len(t.portNames) == 0 || slices.ContainsFunc(t.portNames, k.regex.MatchString) {
			return ""
		}
		declared = append(declared, t.portNames...)
	}
	declared = slices.DeleteFunc(declared, func(name string) bool { return name == "" })
	slices.Sort(declared)
	if declared = slices.Compact(declared); len(declared) == 0 {
		return fmt.Sprintf("keep drops every target: the ports of the pods of %s have no names; name them in the containers, or remove the step", names(all))
	}
	return fmt.Sprintf("keep drops every target: the ports of the pods of %s are called %s, which the regex does not match", names(all), strings.Join(declared[:min(len(declared), maxListed)], ", "))
}

// maxPodPrefix is the length in bytes up to which names of workloads are never shortened in the names of their pods.
const maxPodPrefix = 46

// dropsNames returns why a step keeps no pod: it compares their names with texts, and each name has a generated end.
// Empty if it may keep one.
func (k keep) dropsNames(all []candidate) string {
	texts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(k.text, "("), ")"), "|")
	for _, t := range all {
		if t.kind == "Pod" || len(t.name) > maxPodPrefix || slices.ContainsFunc(texts, func(text string) bool { return regexp.QuoteMeta(text) != text || strings.HasPrefix(text, t.name+"-") }) {
			return ""
		}
	}
	return fmt.Sprintf("keep drops every target: the pods of %s are called %s-…, and a regex matches the whole name: write %s-.*", names(all), all[0].name, all[0].name)
}

// asWhole returns advice if the regex matches a part of a value, as the end of a message.
func (k keep) asWhole(value string) string {
	part, err := regexcost.Compile("(?s:" + k.text + ")")
	if err != nil || len(value) > maxAnnotation {
		return ""
	}
	switch at := part.FindStringIndex(value); {
	case at == nil || at[0] == at[1]:
		return ""
	case at[0] == 0:
		return ", because it must match the whole value: write " + grouped(k.text) + ".*"
	default:
		return ", because it must match the whole value: write .*" + grouped(k.text) + ".*"
	}
}

// grouped returns a regex in parentheses if it has alternatives.
func grouped(regex string) string {
	if strings.Contains(regex, "|") && !strings.HasPrefix(regex, "(") {
		return "(" + regex + ")"
	}
	return regex
}
