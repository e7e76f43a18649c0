package previews

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// hideTarget redacts a target in a namespace where the caller may list neither pods nor services.
// Only its source and its state remain.
func hideTarget(a *access.Checker, t *preview.Target) {
	namespace := t.Source.Namespace
	if a.SeesTargets(t.Source.Kind, namespace, t.Object) {
		return
	}
	t.Source.Pod, t.Source.Node = "", ""
	t.URL, t.Discovered, t.Labels, t.Winner = "", nil, nil, ""
	if t.Drop != nil {
		drop := *t.Drop
		drop.Value, drop.Found, drop.Message = "", "", ""
		t.Drop = &drop
	}
	t.Message = "its labels are hidden: you may list neither pods nor services in namespace " + namespace
}

// hideReasons removes findings about targets that the caller may not see.
func hideReasons(a *access.Checker, o *preview.Object) {
	hidden := func(source string) bool {
		kind, key, _ := strings.Cut(source, " ")
		namespace, _, namespaced := strings.Cut(key, "/")
		if !namespaced {
			namespace = ""
		}
		return !a.SeesTargets(kind, namespace, o.Ref)
	}
	for i := range o.Jobs {
		for k := range o.Jobs[i].Reasons {
			reason := &o.Jobs[i].Reasons[k]
			reason.Found = slices.DeleteFunc(slices.Clone(reason.Found), func(f preview.Finding) bool {
				return f.More && !a.MayResource("list", readers.Pods.GroupResource(), "") || slices.ContainsFunc(f.Sources, hidden)
			})
		}
	}
}
