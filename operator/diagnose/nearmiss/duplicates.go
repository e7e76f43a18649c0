package nearmiss

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// twice returns a hint for Services that target the same port of the same pods.
func (v *View) twice(s *Search, selected []service) []Hint {
	if s.point.filtered || s.name != nil {
		return nil
	}
	by := map[string][]service{}
	for _, svc := range selected {
		for _, e := range v.ends(s, svc) {
			if list := by[e]; len(list) == 0 || list[len(list)-1].String() != svc.String() {
				by[e] = append(by[e], svc)
			}
		}
	}
	for _, e := range slices.Sorted(maps.Keys(by)) {
		all := by[e]
		if len(all) < 2 {
			continue
		}
		field := s.selectorField
		if field == "" {
			field = s.port.field
		}
		what := "every port"
		switch s.port.of {
		case servicePort:
			what = "port " + s.port.want.text
		case containerName, containerNumber:
			what = "container port " + s.port.word()
		}
		return []Hint{{Code: DuplicateTarget, Field: field, Message: fmt.Sprintf(
			"%s have the selected labels, lead to the same pods and have %s, so each pod is scraped %s: give one of them a label that the others do not have, and select it",
			names(candidates(all, ofService)), what, times(len(all)))}}
	}
	return nil
}

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// ends returns keys of the pods and ports that a search reaches through a Service. If the pods are
// unknown, the selector of the Service identifies them.
func (v *View) ends(s *Search, svc service) (out []string) {
	behind := v.behind(svc)
	for _, p := range svc.spec.Ports {
		if s.port.of == servicePort && !s.port.want.matches(p.Name) {
			continue
		}
		if len(svc.spec.Selector) == 0 {
			out = append(out, svc.String()+" "+p.Name)
			continue
		}
		if len(behind) == 0 && (s.port.of == servicePort || s.port.of == everyPort) {
			out = append(out, svc.namespace+" "+labels.Set(svc.spec.Selector).String()+" "+targetOf(p))
		}
		for _, b := range behind {
			number := targetOf(p)
			c, ok := containerPort(b, p)
			if ok {
				number = strconv.Itoa(int(c.ContainerPort))
			}
			if s.port.of != servicePort && s.port.of != everyPort && (!ok || !s.port.declares(pods{ports: []corev1.ContainerPort{c}})) {
				continue
			}
			out = append(out, b.String()+" "+number)
		}
	}
	return out
}

// repeated returns hints about identical endpoints of one object.
func repeated(searches []Search) (out []Hint) {
	type end struct {
		of    portKind
		text  string
		n     int32
		point point
	}
	first := map[end]*Search{}
	for i := range searches {
		s := &searches[i]
		if s.point.filtered {
			continue
		}
		at := end{s.port.of, s.port.want.text, s.port.n, s.point}
		other, there := first[at]
		switch {
		case there:
			out = append(out, Hint{Code: DuplicateTarget, Field: s.port.field, Message: fmt.Sprintf(
				"is the same as %s, at the same path %s: each target is scraped twice", other.port.field, s.point.path)})
		case s.selectorField == "spec.selector":
			first[at] = s
		}
	}
	return out
}

// scraper is a search of an object that a workload uses.
type scraper struct {
	Use
	search *Search
}

// overlaps returns hints about objects that scrape the same targets as another object of the same
// workload.
func (v *View) overlaps(uses []Use) (out []Found) {
	first := map[string]scraper{}
	for _, u := range uses {
		reported := map[string]bool{}
		for i := range u.Searches {
			this := scraper{u, &u.Searches[i]}
			if at := this.search.point; at.filtered || at.path == "" || v.Crowded() {
				continue
			}
			for _, e := range v.allEnds(this.search) {
				key := e + " " + this.search.point.path + " " + this.search.point.params
				other, taken := first[key]
				if !taken {
					first[key] = this
					continue
				}
				about := other.String()
				if about == u.String() {
					about = this.search.port.field
				}
				if !reported[about] {
					found := scrapedTwice(other, this)
					reported[about] = len(found) > 0
					out = append(out, found...)
				}
			}
		}
	}
	return out
}

// scrapedTwice returns the hints about two searches that reach the same port of a pod. Those of two objects each get one.
func scrapedTwice(a, b scraper) []Found {
	if a.String() == b.String() {
		if h, twice := sameContainerPort(a.search, b.search); twice {
			return []Found{{b.Use, h}}
		}
		return nil
	}
	hint := func(of *Search, other Use) Hint {
		return Hint{Code: DuplicateTarget, Field: of.port.field, Message: fmt.Sprintf(
			"%s scrapes the same port of the same pods at %s: each pod is scraped twice; remove one of the two", other, b.search.point.path)}
	}
	counterpart := hint(a.search, b.Use)
	counterpart.Counterpart = true
	return []Found{{b.Use, hint(b.search, a.Use)}, {a.Use, counterpart}}
}

// sameContainerPort returns a hint about two endpoints of one object that name different ports and
// reach the same one of a container.
func sameContainerPort(a, b *Search) (h Hint, twice bool) {
	named := func(s *Search) bool { return s.port.of != everyPort && s.selectorField == "spec.selector" }
	same := a.port.of == b.port.of && a.port.want.text == b.port.want.text && a.port.n == b.port.n // reported by repeated
	if a == b || same || !named(a) || !named(b) {
		return Hint{}, false
	}
	return Hint{Code: DuplicateTarget, Field: b.port.field, Message: fmt.Sprintf(
		"leads to the same container port as %s, at the same path %s: each pod is scraped twice; remove one of the two", a.port.field, b.point.path)}, true
}

// allEnds returns keys of the pods and ports that a search reaches.
func (v *View) allEnds(s *Search) (out []string) {
	switch {
	case !s.usesKubernetes():
	case s.Role == rolePod:
		inside, _ := v.podsIn.in(s.Namespaces, v.pods, ofPods)
		for _, p := range inside {
			if s.selector == nil || !p.matches(s.selector) {
				continue
			}
			for _, c := range p.ports {
				if s.port.of == everyPort || s.port.declares(pods{ports: []corev1.ContainerPort{c}}) {
					out = append(out, p.String()+" "+strconv.Itoa(int(c.ContainerPort)))
				}
			}
		}
	case s.forServices():
		for _, svc := range v.selected(s) {
			out = append(out, v.ends(s, svc)...)
		}
	}
	return compact(out)
}
