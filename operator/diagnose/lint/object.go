package lint

import (
	"encoding/json"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Object checks a single object of an API server in isolation. The findings are in the order in
// which they were found.
//
// A workload is checked in its own version. Other objects are checked against a Prometheus
// of the default version that selects everything and restricts nothing, so a setting that
// depends on the spec of a workload, such as its scrape interval or its scrape classes, is
// never an error. Secrets, ConfigMaps and other objects to which the object refers are assumed
// to exist and to be valid.
//
// text is the object as JSON. The caller must not share kinds, because an object that was not
// stored has no resource version that identifies it in caches.
func Object(kinds []*engine.Kind, row *catalog.Row, object catalog.Object, text []byte) []Finding {
	l := newLinter(manifests.Alone(kinds, row, object, text), Options{})
	l.objects.References.Otherwise = manifests.Assumed(object)
	l.alone(kinds, row, object, text)
	return slices.DeleteFunc(l.findings, func(f Finding) bool { return f.Kind != row.Kind || f.Name != object.GetName() })
}

// alone reports the findings about the only object.
func (l *linter) alone(kinds []*engine.Kind, row *catalog.Row, object catalog.Object, text []byte) {
	if i := slices.IndexFunc(kinds, func(k *engine.Kind) bool { return k.Row == row }); i >= 0 {
		w := dryrun.Workload{Kind: kinds[i], Object: object.(v1.Workload)}
		l.assumeNamed(w)
		l.workload(w)
		return
	}
	w, ok := lenient(kinds, text)
	if !ok {
		return
	}
	l.standIns = []string{w.String()}
	results, err := dryrun.Select(w, l.objects.Cluster(w))
	if err != nil {
		panic(err) // impossible: the stand-in is valid, and nothing is read
	}
	l.results(w, results)
}

// unlimited is a scrape interval that no timeout exceeds.
const unlimited = "200y"

// lenient returns a Prometheus that selects everything and has the scrape class to which the
// object in text refers. ok is false if Prometheus is not among the kinds.
func lenient(kinds []*engine.Kind, text []byte) (dryrun.Workload, bool) {
	w, ok := standIn(kinds, nil, "")
	if !ok {
		return w, false
	}
	p := w.Object.(*v1.Prometheus)
	p.Spec.ScrapeInterval = unlimited
	var names struct {
		Spec struct {
			ScrapeClass string `json:"scrapeClass"`
		} `json:"spec"`
	}
	if json.Unmarshal(text, &names) == nil && names.Spec.ScrapeClass != "" {
		p.Spec.ScrapeClasses = []v1.ScrapeClass{{Name: names.Spec.ScrapeClass}}
	}
	return w, true
}

// assumeNamed adds valid placeholders for the objects to which a workload refers by name.
func (l *linter) assumeNamed(w dryrun.Workload) {
	for _, s := range w.Kind.Selects {
		if s.Named == nil {
			continue
		}
		for _, name := range s.Named(w.Object) {
			object := s.New()
			object.SetNamespace(name.Namespace)
			object.SetName(name.Name)
			if config, is := object.(*v1alpha1.AlertmanagerConfig); is {
				config.Spec.Receivers = []v1alpha1.Receiver{{Name: "any"}}
				config.Spec.Route = &v1alpha1.Route{Receiver: "any"}
			}
			l.objects.Add(s.Row, object)
		}
	}
}
