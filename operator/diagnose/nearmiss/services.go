package nearmiss

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// forThings returns hints about a search for objects by labels only.
func (v *View) forThings(s *Search, all []candidate) []Hint {
	inside, _ := split(s.Namespaces, all, func(t candidate) candidate { return t })
	kind := strings.TrimSuffix(roleWords[s.Role], "s")
	if s.Role == roleIngress {
		kind = "Ingress"
	}
	known := len(all) > 0 && s.selector != nil || v.whole(kind, s.Namespaces)
	if !known || slices.ContainsFunc(inside, func(t candidate) bool { return s.selector == nil || t.matches(s.selector) }) {
		return nil
	}
	if hints := v.unmatched(s, all); hints != nil {
		return hints
	}
	return v.absent(s, kind, all)
}

// forServices returns hints about a search for Services: first the labels, then the port, then the
// pods.
func (v *View) forServices(s *Search) []Hint {
	selected := v.selected(s)
	switch {
	case len(selected) == 0 && s.name == nil && onlyMade(v.services, ofService) && !v.whole("Service", s.Namespaces):
		return v.podsAlone(s)
	case len(selected) == 0:
		return v.noService(s)
	case s.Role == roleService || s.everything() && onlyMade(selected, ofService) && !v.whole("Service", s.Namespaces):
		return nil
	}
	if hints := v.addresses(s, selected); hints != nil {
		return hints
	}
	if hints := v.noPort(s, selected); hints != nil {
		return s.unsure(hints)
	}
	if hints := v.notRunning(s, selected); hints != nil {
		return hints
	}
	out := append(v.twice(s, selected), v.unready(s, selected)...)
	found, behind := candidates(selected, ofService), v.behindAll(selected)
	return slices.Concat(out, jobLabel(s, found, behind), targetLabels(s, found, behind), podLabels(s, behind), kept(s, found, behind), v.answers(s))
}

// everything reports whether the search selects all objects of its namespaces, or all but those with some labels.
func (s *Search) everything() bool {
	if s.name != nil {
		return false
	}
	if s.selector == nil {
		return true
	}
	requirements, selectable := s.selector.Requirements()
	return selectable && !slices.ContainsFunc(requirements, func(q labels.Requirement) bool {
		return q.Operator() != selection.DoesNotExist && q.Operator() != selection.NotIn && q.Operator() != selection.NotEquals
	})
}

// unsure turns hints of a search that selects everything into notes: it may be meant for objects
// that are not in the view.
func (s *Search) unsure(hints []Hint) []Hint {
	for i := range hints {
		hints[i].Note = hints[i].Note || s.everything()
	}
	return hints
}

// selected returns the Services that the search finds.
func (v *View) selected(s *Search) (out []service) {
	inside, _ := v.servicesIn.in(s.Namespaces, v.services, ofService)
	for _, svc := range inside {
		if s.finds(svc) {
			out = append(out, svc)
		}
	}
	return out
}

func (s *Search) finds(svc service) bool {
	if s.name != nil && !s.name.matches(svc.name) {
		return false
	}
	return s.selector == nil || s.selector.Matches(svc.labels)
}

// noService returns hints if no Service has the labels. The most frequent cause is using the labels
// of pods.
func (v *View) noService(s *Search) []Hint {
	if s.name != nil {
		return v.noServiceNamed(s)
	}
	if s.selector == nil || s.selector.Empty() {
		return v.absent(s, "Service", candidates(v.services, ofService))
	}
	inside, _ := v.servicesIn.in(s.Namespaces, v.services, ofService)
	for _, svc := range inside {
		if svc.made || v.claimed(svc.candidate, s) {
			continue
		}
		byPods := s.selector.Matches(labels.Set(svc.spec.Selector)) ||
			slices.ContainsFunc(v.behind(svc), func(p pods) bool { return p.matches(s.selector) })
		if !byPods {
			continue
		}
		missing, _ := misses(s.selector, svc.candidate)
		if slices.ContainsFunc(missing, func(m miss) bool { return m.want == "" }) { // no single value makes it match
			return []Hint{s.differs(svc.candidate, missing)}
		}
		var add []string
		for _, m := range missing {
			add = append(add, m.key+": "+m.want)
		}
		return []Hint{{Code: NoTarget, Field: s.labelField(missing[0].key), Message: fmt.Sprintf(
			"no Service%s has %s; the pods of %s have, but it compares labels of Services: add %s to metadata.labels of the Service",
			s.where(), s.labels(), svc, and(add))}}
	}
	if hints := v.unmatched(s, candidates(v.services, ofService)); hints != nil {
		return hints
	}
	if hints := v.podsAlone(s); hints != nil {
		return hints
	}
	return v.absent(s, "Service", candidates(v.services, ofService))
}

// podsAlone returns a hint if pods have the labels of a search for Services, and no Service selects the pods.
func (v *View) podsAlone(s *Search) []Hint {
	if s.everything() {
		return nil
	}
	inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
	for _, p := range inside {
		if p.matches(s.selector) && !p.made && len(v.before(p)) == 0 && !v.claimed(p.candidate, s) {
			return []Hint{{Code: NoTarget, Note: !v.whole("Service", []string{p.namespace}), Field: s.selectorField, Message: fmt.Sprintf(
				"no Service%s has %s; the pods of %s have, but no Service%s selects them: create one, or use a PodMonitor",
				s.where(), s.labels(), p, v.place("Service", []string{p.namespace}))}}
		}
	}
	return v.podsAlike(s, inside)
}

// podsAlike returns a note if pods have almost the labels of a search for Services, and no Service selects the pods.
func (v *View) podsAlike(s *Search, inside []pods) []Hint {
	if tooLong(s.selector) {
		return nil
	}
	for _, p := range inside {
		if p.made || len(v.before(p)) > 0 || v.claimed(p.candidate, s) {
			continue
		}
		missing, near := misses(s.selector, p.candidate)
		if near = near && !slices.ContainsFunc(missing, func(m miss) bool { return !strings.Contains(m.has, "=") }); near && len(missing) > 0 {
			place := v.place("Service", []string{p.namespace})
			return []Hint{{Code: NoTarget, Note: place != "", Field: s.selectorField, Message: fmt.Sprintf(
				"no Service%s%s has %s; %s has %s, and no Service leads to it: create one with %[3]s in its metadata.labels and %[5]s in its spec.selector",
				s.where(), place, s.labels(), p, missing[0].has)}}
		}
	}
	return nil
}

// addresses returns a hint if none of the Services has addresses.
func (v *View) addresses(s *Search, selected []service) []Hint {
	var out []Hint
	for _, svc := range selected {
		h := Hint{Code: NoTarget, Field: s.objectField()}
		switch {
		case svc.spec.Type == corev1.ServiceTypeExternalName:
			h.Message = fmt.Sprintf("%s has type ExternalName and therefore no endpoints: use a ScrapeConfig or a Probe with %s as static target", svc, svc.spec.ExternalName)
		case len(svc.spec.Selector) == 0 && svc.addresses == nil:
			h.Note = !v.wholeAddresses(svc)
			h.Message = fmt.Sprintf("%s has no selector, and no Endpoints or EndpointSlice of it are among the manifests: without them there is no target", svc)
			if !h.Note {
				h.Message = fmt.Sprintf("%s has no selector, and there are no Endpoints or EndpointSlice of it: without them there is no target", svc)
			}
			if slice, ok := v.orphan(svc); ok {
				h.Note = false
				h.Message = fmt.Sprintf("%s has no selector, and %s belongs to no Service, because its name is that of none: call it %s", svc, slice, svc.name)
				if slice.kind == "Endpoints" {
					break
				}
				h.Message = fmt.Sprintf("%s has no selector, and %s belongs to no Service, because it has no label %s: add %s: %s to its metadata.labels",
					svc, slice, discoveryv1.LabelServiceName, discoveryv1.LabelServiceName, svc.name)
			}
		case len(svc.spec.Selector) == 0 && s.Role == roleEndpoints && svc.onlySlices:
			h.Field, h.Note = "spec.serviceDiscoveryRole", !v.whole("Endpoints", []string{svc.namespace})
			h.Message = fmt.Sprintf("the job discovers Endpoints, the default, and of %s there is an EndpointSlice only, which nothing copies into Endpoints: write serviceDiscoveryRole: EndpointSlice here or in the Prometheus", svc)
		case len(svc.spec.Selector) > 0 && len(svc.spec.Ports) == 0:
			h.Message = fmt.Sprintf("%s has no ports, so its endpoints have none: add them to spec.ports of the Service", svc)
		case len(svc.spec.Selector) > 0 && len(v.behind(svc)) == 0:
			p, ok := v.podsMeant(svc)
			switch {
			case ok:
				h.Message = fmt.Sprintf("%s selects pods with %s; the pods of %s have %s, so it has no endpoints: correct spec.selector of the Service",
					svc, labels.Set(svc.spec.Selector), p, shared(p.labels, svc.spec.Selector))
			case v.whole("Pod", []string{svc.namespace}):
				h.Message = fmt.Sprintf("%s selects pods with %s, and there are none, so it has no endpoints", svc, labels.Set(svc.spec.Selector))
			default:
				return nil
			}
		default:
			return nil
		}
		out = append(out, h)
	}
	return out[:min(1, len(out))]
}

// orphan returns the EndpointSlice or Endpoints without a Service that is probably meant for one: by its name or
// labels, or because it is the only one.
func (v *View) orphan(svc service) (candidate, bool) {
	var here []candidate
	for _, o := range v.orphans {
		if o.namespace != svc.namespace {
			continue
		}
		if o.name == svc.name || strings.HasPrefix(o.name, svc.name+"-") {
			return o, true
		}
		here = append(here, o)
	}
	for _, o := range here {
		if len(svc.labels) > 0 && labels.SelectorFromSet(svc.labels).Matches(o.labels) {
			return o, true
		}
	}
	if len(here) == 1 {
		return here[0], true
	}
	return candidate{}, false
}

// wholeAddresses reports whether all addresses of a Service are known.
func (v *View) wholeAddresses(svc service) bool {
	own := []string{svc.namespace}
	return v.whole("EndpointSlice", own) || v.whole("Endpoints", own)
}

// notRunning returns a hint for Services without addresses, because none of their pods runs.
func (v *View) notRunning(s *Search, selected []service) []Hint {
	var all []pods
	for _, svc := range selected {
		behind := v.behind(svc)
		if !v.wholeAddresses(svc) || svc.ready+svc.unready > 0 || len(behind) == 0 || slices.ContainsFunc(behind, pods.mayRun) {
			return nil
		}
		all = append(all, behind...)
	}
	verb := "has"
	if len(selected) > 1 {
		verb = "have"
	}
	return []Hint{{Code: NoTarget, Field: s.objectField(), Message: fmt.Sprintf("%s %s no endpoints: the pods of %s do not run: %s",
		names(candidates(selected, ofService)), verb, names(candidates(all, ofPods)), phasesOf(all))}}
}

// unready returns a note for Services without ready addresses.
func (v *View) unready(s *Search, selected []service) []Hint {
	n := 0
	for _, svc := range selected {
		if svc.ready > 0 || !v.wholeAddresses(svc) {
			return nil
		}
		n += svc.unready
	}
	if n == 0 {
		return nil
	}
	which := fmt.Sprintf("none of the %d addresses of %s is ready", n, names(candidates(selected, ofService)))
	if n == 1 {
		which = fmt.Sprintf("the only address of %s is not ready", names(candidates(selected, ofService)))
	}
	return []Hint{{Code: Remark, Note: true, Field: s.objectField(), Message: which + ": Prometheus scrapes pods that are not ready too, and may find them down"}}
}

// objectField returns the field that selects the objects.
func (s *Search) objectField() string {
	if s.name != nil {
		return s.nameField
	}
	if s.selectorField == "" {
		return s.port.field
	}
	return s.selectorField
}

// podsMeant returns the pods that a Service without pods is probably meant to select: pods without
// a Service that have similar labels, or its name.
func (v *View) podsMeant(svc service) (pods, bool) {
	selector := labels.SelectorFromSet(svc.spec.Selector)
	for _, named := range []bool{false, true} {
		for _, p := range v.pods {
			if p.namespace != svc.namespace || len(v.before(p)) > 0 {
				continue
			}
			if _, near := misses(selector, p.candidate); near || named && p.name == svc.name {
				return p, true
			}
		}
	}
	return pods{}, false
}

// shared returns the labels whose keys are in others; all labels if there are none.
func shared(all labels.Set, others map[string]string) labels.Set {
	out := labels.Set{}
	for key, value := range all {
		if _, has := others[key]; has {
			out[key] = value
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// jobLabel returns a hint if none of the candidates has the label that provides the job name. The pods behind Services may
// have it.
func jobLabel(s *Search, found, behind []candidate) []Hint {
	if s.jobLabel == "" || slices.ContainsFunc(found, func(t candidate) bool { _, has := t.labels[s.jobLabel]; return has }) {
		return nil
	}
	h := Hint{Code: Remark, Field: "spec.jobLabel", Message: fmt.Sprintf("is the name of a label, and %s %s no label %s, so it has no effect",
		names(found), map[bool]string{true: "has", false: "have"}[len(found) == 1], s.jobLabel)}
	for _, t := range found {
		for _, key := range slices.Sorted(maps.Keys(t.labels)) {
			if t.labels[key] == s.jobLabel || alike(key, s.jobLabel) {
				h.Message += fmt.Sprintf(": did you mean %q?", key)
				return []Hint{h}
			}
		}
	}
	if len(behind) > 0 && has(behind, s.jobLabel) {
		h.Message += fmt.Sprintf("; the pods of %s have it, but it is looked up on the Service: add it to metadata.labels of the Service", names(behind))
	}
	return []Hint{h}
}
