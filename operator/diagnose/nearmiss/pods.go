package nearmiss

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// forPods returns hints about a search for pods: first the labels, then the port.
func (v *View) forPods(s *Search) []Hint {
	inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
	selected := v.selectedPods(s)
	switch {
	case len(selected) == 0 && onlyMade(v.pods, ofPods) && !v.whole("Pod", s.Namespaces):
		return nil
	case len(selected) == 0:
		return v.noPods(s, inside)
	case s.everything() && onlyMade(selected, ofPods) && !v.whole("Pod", s.Namespaces):
		return nil
	case s.port.of != everyPort && !slices.ContainsFunc(selected, s.port.declares):
		return s.unsure([]Hint{v.noPodPort(s, selected)})
	case !slices.ContainsFunc(selected, pods.mayRun):
		return []Hint{{Code: NoTarget, Field: s.objectField(), Message: fmt.Sprintf("the pods of %s do not run: %s", names(candidates(selected, ofPods)), phasesOf(selected))}}
	}
	known := candidates(selected, ofPods)
	return slices.Concat(jobLabel(s, known, nil), podLabels(s, known), kept(s, nil, known), ended(s, selected), v.answers(s))
}

// noPods returns hints if no pods have the labels. A Service or the workload itself may have them.
func (v *View) noPods(s *Search, inside []pods) []Hint {
	if s.selector == nil || s.selector.Empty() {
		return v.absent(s, "Pod", candidates(v.pods, ofPods))
	}
	for _, p := range inside {
		if p.kind != "Pod" && s.selector.Matches(p.own) && !v.claimed(p.candidate, s) {
			return []Hint{{Code: NoTarget, Field: s.selectorField, Message: fmt.Sprintf(
				"no Pod%s has %s; %s itself has, but not its pods: add them to spec.template.metadata.labels", s.where(), s.labels(), p)}}
		}
	}
	services, _ := v.servicesIn.in(s.Namespaces, v.services, ofService)
	for _, svc := range services {
		behind := v.behind(svc)
		if !s.selector.Matches(svc.labels) || len(behind) == 0 || v.claimed(behind[0].candidate, s) {
			continue
		}
		return []Hint{{Code: NoTarget, Field: s.selectorField, Message: fmt.Sprintf(
			"no Pod%s has %s; %s has, but it compares labels of pods, and those of %s have %s: select one of these, or use a ServiceMonitor",
			s.where(), s.labels(), svc, behind[0], behind[0].labels)}}
	}
	if hints := v.unmatched(s, candidates(v.pods, ofPods)); hints != nil {
		return hints
	}
	return v.absent(s, "Pod", candidates(v.pods, ofPods))
}

// noPodPort returns a hint if no selected pod declares the port.
func (v *View) noPodPort(s *Search, selected []pods) Hint {
	h := Hint{Code: NoTarget, Field: s.port.field}
	what := "is the name of a container port"
	if s.port.of == containerNumber {
		what = "matches ports that containers declare"
	}
	h.Message = fmt.Sprintf("%s %s; the pods of %s declare %s", s.port.word(), what, selected[0], containerPorts(selected[0].ports))
	for _, svc := range v.before(selected[0]) {
		for _, p := range svc.spec.Ports {
			named := s.port.of == containerName && p.Name != "" && s.port.want.matches(p.Name)
			if !named && (s.port.of != containerNumber || p.Port != s.port.n) {
				continue
			}
			c, ok := containerPort(selected[0], p)
			switch {
			case ok && c.Name != "":
				h.Message += fmt.Sprintf("; %s is a port of %s, which the container calls %s: write port: %s", s.port.word(), svc, c.Name, c.Name)
				return h
			case ok:
				h.Message += fmt.Sprintf("; %s is a port of %s, which leads to container port %d: write portNumber: %d", s.port.word(), svc, c.ContainerPort, c.ContainerPort)
				return h
			}
		}
	}
	word := "port"
	if s.port.of == containerNumber {
		word = "portNumber"
	}
	if n := s.port.want.text; len(selected[0].ports) == 0 {
		h.Message += ": declare it in the container"
		if _, err := strconv.Atoi(n); s.port.of == containerName && err == nil {
			h.Message += ", and write portNumber: " + n
		}
		return h
	}
	h.Message += s.meantPort(word, selected[0].ports)
	return h
}

// ended returns a hint if only init containers declare the port. Discovery finds it, but nothing listens there any more.
func ended(s *Search, selected []pods) []Hint {
	if s.port.of == everyPort || slices.ContainsFunc(selected, func(p pods) bool { return slices.ContainsFunc(p.ports, p.mayServe(s.port)) }) {
		return nil
	}
	remedy := "declare it in the container that serves the metrics"
	if others := selected[0].lasting; len(others) > 0 {
		remedy = fmt.Sprintf("the other containers declare %s", containerPorts(others))
	}
	return []Hint{{Code: Remark, Field: s.port.field, Message: fmt.Sprintf(
		"only an init container of %s declares %s, and it ends before the others start, so each scrape fails: %s; a sidecar needs restartPolicy: Always", selected[0], s.port.word(), remedy)}}
}

// mayServe returns whether a declared port is the wanted one, and a container that lasts declares its number.
func (p pods) mayServe(want port) func(corev1.ContainerPort) bool {
	return func(c corev1.ContainerPort) bool {
		return want.wants(c) && slices.ContainsFunc(p.lasting, func(other corev1.ContainerPort) bool { return other.ContainerPort == c.ContainerPort })
	}
}
