package evidence

import (
	"slices"
	"strings"

	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// behind reads the addresses and pods of the Services that are found.
func (l *search) behind(u nearmiss.Use, w nearmiss.Want) {
	found := l.view().Services(u)
	if len(found) > mostPlaces {
		return // a fault of one of so many does not explain a lack of targets
	}
	names, selectors := map[string][]string{}, map[string][]string{}
	for _, f := range found {
		names[f.Namespace] = append(names[f.Namespace], f.Name)
		if f.Labels != "" && !slices.Contains(selectors[f.Namespace], f.Labels) {
			selectors[f.Namespace] = append(selectors[f.Namespace], f.Labels)
		}
	}
	for namespace, services := range names {
		l.addresses(w.Addresses, namespace, services)
	}
	for _, f := range found {
		if f.Labels == "" { // its addresses may be of a kind that the job does not discover
			l.maybe("EndpointSlice", readers.Query{Namespace: f.Namespace, Limit: most})
		}
	}
	for namespace, all := range selectors {
		before := len(l.objects)
		for _, selector := range all {
			if !l.list("Pod", []string{namespace}, selector) {
				return
			}
		}
		if len(l.objects) == before { // none: read those that may be meant
			l.list("Pod", []string{namespace}, "")
			l.maybe("Service", readers.Query{Namespace: namespace, Limit: most}) // some may select the other pods
		}
	}
}

// addresses reads the addresses of Services in a namespace.
func (l *search) addresses(kind, namespace string, services []string) {
	switch kind {
	case "Endpoints":
		l.list(kind, []string{namespace}, "")
	case "EndpointSlice":
		slices.Sort(services)
		if l.list(kind, []string{namespace}, discoveryv1.LabelServiceName+" in ("+strings.Join(services, ",")+")") {
			l.extent.Whole[kind] = append(l.extent.Whole[kind], namespace) // of the relevant Services
		}
	}
}
