package followed

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// view is what a caller may see.
type view struct {
	ctx    context.Context
	rights insight.Rights
	own    string          // the namespace whose object the caller may get
	known  map[string]bool // by resource and namespace
}

func newView(ctx context.Context, r insight.Rights, own string) *view {
	return &view{ctx, r, own, map[string]bool{}}
}

// may reports whether the caller may list a resource in a namespace, "" for all.
func (v *view) may(resource, namespace string) (bool, error) {
	key := resource + " " + namespace
	if known, ok := v.known[key]; ok || v.rights == nil {
		return known, nil
	}
	may, err := v.rights.May(v.ctx, "list", schema.GroupResource{Resource: resource}, namespace)
	if err == nil {
		v.known[key] = may
	}
	return may, err
}

// sees reports whether the caller may see the labels of a target of an object's job.
//
// Errors: nobody can say.
func (v *view) sees(source targets.Source, object explain.Ref) (bool, error) {
	namespace := source.Namespace
	switch source.Kind {
	case "Node":
		return v.may("nodes", "")
	case "": // it is written in the object
		namespace = object.Namespace
	}
	if namespace == v.own {
		return true, nil
	}
	may, err := v.may("pods", namespace)
	if err != nil || may {
		return may, err
	}
	return v.may("services", namespace)
}

// hidden is a target of which the caller may know where it was found, and what became of it.
func hidden(job string, row *targets.Row) targets.Target {
	source := row.Source()
	t := targets.Target{
		Job: job, State: row.State, Shards: append([]int{}, row.Shards...),
		Source: targets.Source{Kind: source.Kind, Namespace: source.Namespace, Name: source.Name},
	}
	if row.Drop != nil {
		t.Drop = &targets.Drop{Step: row.Drop.Step, Origin: row.Drop.Origin}
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

// shown is a target as the caller may see it.
func (v *view) shown(j openJob, r targets.Result, i int) (out preview.Target, visible bool, err error) {
	row := &r.Rows[i]
	out = preview.Target{Owner: j.of, Object: j.object.Ref}
	if visible, err = v.sees(row.Source(), j.object.Ref); err != nil {
		return out, false, err
	}
	if !visible {
		out.Target = hidden(j.Name, row)
		return out, false, nil
	}
	out.Target = preview.Masked(r.Target(i))
	return out, true, nil
}
