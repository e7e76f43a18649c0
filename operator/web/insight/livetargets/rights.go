package livetargets

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// view filters targets by the permissions of a caller, and caches the permission checks.
type view struct {
	ctx        context.Context
	rights     access.Rights
	own        string             // the namespace of the object that the caller may get
	requested  catalog.Ref        // the requested object, if it is one of ours
	known      map[string]bool    // results by verb, resource and namespace
	visibility *access.Visibility // limits discoveries to targets that the caller may see
	nothing    bool               // some discovery is entirely hidden from the caller
	limited    bool               // some targets may be hidden from the caller
	// unknown is the error of a failed check. Everything not yet checked is then hidden.
	unknown error
}

func newView(ctx context.Context, r access.Rights, own string) *view {
	return &view{ctx: ctx, rights: r, own: own, known: map[string]bool{}}
}

// may reports whether the caller may do something with a resource in a namespace, "" for all. It
// reports false if the check fails.
func (v *view) may(verb string, of schema.GroupResource, namespace string) bool {
	key := verb + " " + of.String() + " " + namespace
	if known, ok := v.known[key]; ok || v.rights == nil || v.unknown != nil {
		return known
	}
	may, err := v.rights.May(v.ctx, verb, of, namespace)
	if err != nil {
		v.unknown = err
		return false
	}
	v.known[key] = may
	return may
}

func (v *view) lists(resource, namespace string) bool {
	return v.may("list", schema.GroupResource{Resource: resource}, namespace)
}

// sees reports whether the caller may see the labels of a target of an object's job.
func (v *view) sees(source targets.Source, object catalog.Ref) bool {
	namespace := source.Namespace
	switch source.Kind {
	case "Node":
		return v.lists("nodes", "")
	case "": // a static target of the object
		namespace = object.Namespace
	}
	return namespace == v.own || v.lists("pods", namespace) || v.lists("services", namespace)
}

// details reports whether the caller may see the contents of an object.
func (v *view) details(of catalog.Ref) bool {
	row := catalog.Of(of.Kind)
	return of == v.requested || row != nil && v.may("get", row.GroupResource(), of.Namespace)
}

// hidden returns a redacted target: only its source, its state and the step that drops it.
func hidden(job string, row *targets.Row) targets.Target {
	source := row.Source()
	t := targets.Target{
		Job: job, State: row.State, Shards: append([]int{}, row.Shards...),
		Source: targets.Source{Kind: source.Kind, Namespace: source.Namespace, Name: source.Name},
	}
	if row.Drop != nil {
		t.Drop = &targets.Drop{Step: row.Drop.Step, Origin: withoutKey(row.Drop.Origin)}
	}
	switch source.Kind {
	case "Node":
		t.Message = "you need permission to list nodes to see its labels"
	case "":
		t.Message = "its labels are those of an object in another namespace, where you may list neither pods nor services"
	default:
		t.Message = fmt.Sprintf("you need permission to list pods or services in namespace %s to see its labels", source.Namespace)
	}
	return t
}

// shown returns a target as the caller may see it.
func (v *view) shown(j openJob, key targetset.Key, r targets.Result, i int) (out preview.Target, visible bool) {
	row := &r.Rows[i]
	out = preview.Target{Workload: j.of, Object: j.object.Ref}
	if j.set.Foreign(key) && !v.lists("pods", "") && !v.lists("services", "") {
		out.Target = hidden(j.Name, row)
		out.Message = "it may have labels of pods in other namespaces: you need permission to list pods or services in all namespaces to see them"
		return out, false
	}
	if !v.sees(row.Source(), j.object.Ref) {
		out.Target = hidden(j.Name, row)
		return out, false
	}
	out.Target = r.Target(i).Redacted()
	if d := out.Drop; d != nil && !v.details(j.object.Ref) {
		origin := withoutKey(d.Origin)
		out.Drop = &targets.Drop{Step: d.Step, Origin: origin}
		out.Message = fmt.Sprintf("%s drops it; what it asks for is hidden: %s", origin, access.NeedsGet(j.object.Ref))
	}
	return out, true
}

// notesOf returns the notes about a workload that the caller may see.
func (v *view) notesOf(of catalog.Ref, notes []string) []string {
	if len(notes) == 0 || v.details(of) {
		return notes
	}
	return []string{fmt.Sprintf("%s: there is more to know about it, which is hidden: %s", of, access.NeedsGet(of))}
}
