package followed

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/insight"
	"github.com/firekeeper-dev/firekeeper/operator/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targetset"
)

// targetResource is what a target is called in errors.
var targetResource = schema.GroupResource{Resource: "targets"}

// Target implements [insight.Answers].
func (s *Source) Target(ctx context.Context, r insight.Rights, w insight.Object, name, id, source string) (*insight.Trace, error) {
	s.questions.Add(1)
	o, err := s.of(w.Ref()).open(ctx, func(*job) bool { return true })
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(o.jobs, func(j openJob) bool { return j.Name == name })
	if at < 0 {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "jobs"}, name)
	}
	j := o.jobs[at]
	settle(ctx, o.jobs[at:at+1])
	result, row, err := find(ctx, j, id, source)
	if err != nil {
		return nil, err
	}
	v := newView(ctx, r, w.Namespace)
	t, visible, err := v.shown(j, result, row)
	switch {
	case err != nil:
		return nil, err
	case !visible:
		return nil, apierrors.NewForbidden(targetResource, id, fmt.Errorf("%s", t.Message))
	}
	out := &insight.Trace{Workload: w.Ref(), Object: j.object.Ref, Target: t}
	if out.Steps, err = stepsOf(result, row); err != nil {
		return nil, err
	}
	if out.Manifest, err = s.manifest(ctx, r, j.object.Ref); err != nil {
		return nil, err
	}
	out.Also = also(o.jobs, j, &result.Rows[row], result.Target(row))
	return out, nil
}

// prefixes of the groups of an object, by its kind.
var prefixes = map[string]string{
	"Pod": "pod/", "Service": "svc/", "EndpointSlice": "endpointslice/", "Endpoints": "endpoints/", "Ingress": "ingress/", "Node": "node/",
}

// find looks for a target by its ID, in an object if that is known.
//
// Errors: there is none; the source is none; it takes too long.
func find(ctx context.Context, j openJob, id, source string) (out targets.Result, row int, err error) {
	has := func(g *targetgroup.Group) bool { return ctx.Err() == nil && j.HasTarget(g, id) }
	found := func(key targetset.Key) {
		if r, ok := j.set.Result(key, targetset.AllShards); ok && r.Index(id) >= 0 {
			out, row = r, r.Index(id)
		}
	}
	if source == "" {
		j.set.Find(has, found)
	} else {
		kind, name, _ := strings.Cut(source, "/")
		if prefixes[kind] == "" || name == "" {
			return out, 0, apierrors.NewBadRequest(fmt.Sprintf("parameter \"source\": want KIND/NAMESPACE/NAME of the object in which the target was found, not %.100q", source))
		}
		j.set.Of(prefixes[kind]+name, found)
	}
	switch {
	case out.Rows != nil:
		return out, row, nil
	case ctx.Err() != nil:
		return out, 0, apierrors.NewTimeoutError("the job has too many targets to find one in time without parameter \"source\"", 1)
	}
	return out, 0, apierrors.NewNotFound(targetResource, id)
}

// stepsOf are the relabel steps of a target, without values that let somebody in.
func stepsOf(r targets.Result, row int) (out []insight.Step, err error) {
	steps, err := r.Trace(row)
	out = []insight.Step{}
	for _, step := range steps {
		before, after := preview.MaskedLabels(step.Before), preview.MaskedLabels(step.After)
		one := insight.Step{Origin: step.Origin, Rule: ruleOf(step), Drops: step.Drops}
		for name, value := range after {
			old, had := before[name]
			switch {
			case !had:
				one.Added = with(one.Added, name, value)
			case old != value:
				one.Changed = with(one.Changed, name, value)
			}
		}
		if !step.Drops {
			for _, name := range slices.Sorted(maps.Keys(before)) {
				if _, has := after[name]; !has {
					one.Removed = append(one.Removed, name)
				}
			}
		}
		out = append(out, one)
	}
	return out, err
}

func with(m map[string]string, name, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}

// ruleOf is the text of a step, without a value that lets somebody in.
func ruleOf(step targets.Step) string {
	if name, is := strings.CutPrefix(step.Target, "__param_"); !is || !targets.IsCredential(name) {
		return step.Rule
	}
	lines := strings.Split(step.Rule, "\n")
	for i, line := range lines {
		if name, _, _ := strings.Cut(line, ":"); name == "replacement" || name == "regex" {
			lines[i] = name + ": <hidden>"
		}
	}
	return strings.Join(lines, "\n")
}

// manifest is the object that made a job, if the caller may get it.
func (s *Source) manifest(ctx context.Context, r insight.Rights, ref explain.Ref) (string, error) {
	row := catalog.Of(ref.Kind)
	if row == nil || row.IsWorkload() || r == nil {
		return "", nil
	}
	may, err := r.May(ctx, "get", schema.GroupResource{Group: row.Group, Resource: row.Resource}, ref.Namespace)
	if err != nil || !may {
		return "", err
	}
	object, err := s.Reader.Get(ctx, row.GroupVersionResource(), types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return "", nil // it has gone, which the target shows soon
	}
	text, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	var spec struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return "", err
	}
	metadata := map[string]any{"name": ref.Name, "namespace": ref.Namespace}
	if l := object.GetLabels(); len(l) > 0 {
		metadata["labels"] = l
	}
	out, err := yaml.Marshal(map[string]any{"apiVersion": row.GroupVersion().String(), "kind": row.Kind, "metadata": metadata, "spec": spec.Spec})
	return string(out), err
}

// also are the objects whose other jobs scrape the same URL.
func also(jobs []openJob, of openJob, row *targets.Row, t targets.Target) (out []explain.Ref) {
	if t.State != targets.Kept {
		return nil
	}
	memo, address := targetset.Memo{}, row.Label("__address__")
	has := func(g *targetgroup.Group) bool {
		return string(g.Labels["__address__"]) == address || slices.ContainsFunc(g.Targets, func(l model.LabelSet) bool {
			return string(l["__address__"]) == address
		})
	}
	for _, j := range jobs {
		if j.job == of.job || slices.Contains(out, j.object.Ref) {
			continue
		}
		j.set.In(row.Source().Namespace, memo, has, func(key targetset.Key) {
			r, ok := j.set.Result(key, targetset.AllShards)
			for i := 0; ok && i < len(r.Rows); i++ {
				other := &r.Rows[i]
				if other.State == targets.Kept && other.Label("__address__") == address && r.Target(i).URL == t.URL && !slices.Contains(out, j.object.Ref) {
					out = append(out, j.object.Ref)
				}
			}
		})
	}
	return out
}
