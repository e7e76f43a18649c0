package explain

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/render"
)

// subject is a kind that can be asked about.
type subject struct {
	kind, resource, short string
	alpha                 bool // in v1alpha1
	empty                 func() informer.Object
	given                 func(*render.Objects) []informer.Object
}

var subjects = []subject{
	{v1.ServiceMonitorKind, v1.ServiceMonitorResource, "smon", false, func() informer.Object { return &v1.ServiceMonitor{} },
		func(o *render.Objects) []informer.Object { return objects(o.ServiceMonitors) }},
	{v1.PodMonitorKind, v1.PodMonitorResource, "pmon", false, func() informer.Object { return &v1.PodMonitor{} },
		func(o *render.Objects) []informer.Object { return objects(o.PodMonitors) }},
	{v1.ProbeKind, v1.ProbeResource, "prb", false, func() informer.Object { return &v1.Probe{} },
		func(o *render.Objects) []informer.Object { return objects(o.Probes) }},
	{v1alpha1.ScrapeConfigKind, v1alpha1.ScrapeConfigResource, "scfg", true, func() informer.Object { return &v1alpha1.ScrapeConfig{} },
		func(o *render.Objects) []informer.Object { return objects(o.ScrapeConfigs) }},
	{v1.PrometheusRuleKind, v1.PrometheusRuleResource, "promrule", false, func() informer.Object { return &v1.PrometheusRule{} },
		func(o *render.Objects) []informer.Object { return objects(o.PrometheusRules) }},
}

func objects[T informer.Object](in []T) []informer.Object {
	out := make([]informer.Object, len(in))
	for i, o := range in {
		out[i] = o
	}
	return out
}

// Name is what is asked about.
type Name struct {
	subject         subject
	Namespace, Name string
}

// ParseName reads a kind as kubectl takes it ("servicemonitor", "smon",
// "servicemonitors.monitoring.coreos.com") and NAMESPACE/NAME.
//
// Errors: neither is one.
func ParseName(kind, name string) (Name, error) {
	word := strings.ToLower(kind)
	for _, suffix := range []string{"." + v1.GroupName, ".v1." + v1.GroupName, ".v1alpha1." + v1.GroupName} {
		word = strings.TrimSuffix(word, suffix)
	}
	word = strings.TrimSuffix(strings.TrimSuffix(word, ".v1"), ".v1alpha1")
	i := slices.IndexFunc(subjects, func(s subject) bool {
		return word == strings.ToLower(s.kind) || word == s.resource || word == s.short
	})
	if i < 0 {
		var known []string
		for _, s := range subjects {
			known = append(known, fmt.Sprintf("%s (%s)", strings.ToLower(s.kind), s.short))
		}
		return Name{}, fmt.Errorf("%q is not a kind that can be explained: known are %s", kind, strings.Join(known, ", "))
	}
	namespace, rest, ok := strings.Cut(name, "/")
	if !ok || namespace == "" || rest == "" || strings.Contains(rest, "/") {
		return Name{}, fmt.Errorf("%q: want NAMESPACE/NAME", name)
	}
	return Name{subjects[i], namespace, rest}, nil
}

// String is for people: "ServiceMonitor demo/web".
func (n Name) String() string { return n.subject.kind + " " + n.Namespace + "/" + n.Name }
