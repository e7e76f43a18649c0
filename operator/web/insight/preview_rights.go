package insight

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// sees reports whether the caller may see the labels of targets that an object of a kind and
// namespace provides. Both are empty for static targets of the object "of" itself.
func (a *asker) sees(kind, namespace string, of catalog.Ref) bool {
	if kind == "Node" {
		return a.listsNodes()
	}
	if namespace == "" {
		namespace = of.Namespace
	}
	return namespace == of.Namespace && a.details(of) || a.listsTargets(namespace)
}

// listsTargets reports whether the caller may list pods or services of a namespace, "" for all.
func (a *asker) listsTargets(namespace string) bool {
	return a.mayAny("list", readers.Pods.GroupResource(), namespace) || a.mayAny("list", readers.Services.GroupResource(), namespace)
}

func (a *asker) listsNodes() bool { return a.mayAny("list", readers.Nodes.GroupResource(), "") }

// hideTarget redacts a target in a namespace where the caller may list neither pods nor services.
// Only its source and its state remain.
func (a *asker) hideTarget(t *preview.Target) {
	namespace := t.Source.Namespace
	if a.sees(t.Source.Kind, namespace, t.Object) {
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
func (a *asker) hideReasons(o *preview.Object) {
	for i := range o.Jobs {
		for k := range o.Jobs[i].Reasons {
			reason := &o.Jobs[i].Reasons[k]
			reason.Found = slices.DeleteFunc(slices.Clone(reason.Found), func(f preview.Finding) bool {
				return f.More && !a.mayAny("list", readers.Pods.GroupResource(), "") || slices.ContainsFunc(f.Sources, func(s string) bool {
					kind, key, _ := strings.Cut(s, " ")
					namespace, _, namespaced := strings.Cut(key, "/")
					if !namespaced {
						namespace = ""
					}
					return !a.sees(kind, namespace, o.Ref)
				})
			})
		}
	}
}
