package livetargets

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// targetResource is the resource name of targets in errors.
var targetResource = schema.GroupResource{Resource: "targets"}

// Target implements [insight.Answers].
func (s *Source) Target(ctx context.Context, r access.Rights, w insight.Object, name, id, source string) (*insight.Trace, error) {
	s.requests.Add(1)
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
	v := newView(ctx, r, w.Namespace)
	v.requested = w.Ref()
	seen, err := s.narrow([]openJob{j}, v)
	if err != nil {
		return nil, err
	}
	j = seen[0]
	key, result, row, err := find(ctx, j, id, source)
	if unread := v.visibility.Unread(); apierrors.IsNotFound(err) && len(unread) > 0 {
		return nil, apierrors.NewServiceUnavailable(unread[0])
	}
	if err != nil {
		return nil, err
	}
	t, visible := v.shown(j, key, result, row)
	switch {
	case !visible && v.unknown != nil:
		return nil, v.unknown
	case !visible:
		return nil, apierrors.NewForbidden(targetResource, id, fmt.Errorf("%s", t.Message))
	}
	out := &insight.Trace{Workload: w.Ref(), Object: j.object.Ref, Target: t}
	if out.Steps, err = stepsOf(result, row); err != nil {
		return nil, err
	}
	if !v.details(j.object.Ref) {
		for i := range out.Steps {
			out.Steps[i].Origin = withoutKey(out.Steps[i].Origin)
			out.Steps[i].Rule = "# " + access.NeedsGet(j.object.Ref) + "\n"
		}
	}
	if out.Manifest, err = s.manifest(ctx, r, j.object.Ref); err != nil {
		return nil, err
	}
	out.Also, err = s.also(o.jobs, v, j, &result.Rows[row], result.Target(row))
	return out, err
}

// prefixes maps the kind of an object to the source prefix of its target groups.
var prefixes = map[string]string{
	"Pod": "pod/", "Service": "svc/", "EndpointSlice": "endpointslice/", "Endpoints": "endpoints/", "Ingress": "ingress/", "Node": "node/",
}

// find looks up a target by its ID, in the object source if that is given.
//
// Errors: there is no such target; the source is invalid; it takes too long.
func find(ctx context.Context, j openJob, id, source string) (at targetset.Key, out targets.Result, row int, err error) {
	has := func(g *targetgroup.Group) bool { return ctx.Err() == nil && j.HasTarget(g, id) }
	found := func(key targetset.Key) {
		if r, ok := j.set.Result(key, targetset.AllShards); ok && r.Index(id) >= 0 {
			at, out, row = key, r, r.Index(id)
		}
	}
	if source == "" {
		j.set.Find(has, found)
	} else {
		kind, name, _ := strings.Cut(source, "/")
		if prefixes[kind] == "" || name == "" {
			return at, out, 0, apierrors.NewBadRequest(fmt.Sprintf("parameter \"source\": want KIND/NAMESPACE/NAME of the object in which the target was found, not %.100q", source))
		}
		j.set.Of(prefixes[kind]+name, found)
	}
	switch {
	case out.Rows != nil:
		return at, out, row, nil
	case ctx.Err() != nil:
		return at, out, 0, apierrors.NewTimeoutError("the job has too many targets to find one in time without parameter \"source\"", 1)
	}
	return at, out, 0, apierrors.NewNotFound(targetResource, id)
}

// stepsOf returns the relabel steps of a target, with credentials redacted.
func stepsOf(r targets.Result, row int) (out []insight.Step, err error) {
	steps, err := r.Trace(row)
	out = []insight.Step{}
	for _, step := range steps {
		rule, wrong := redact.Tree{}.Text(step.Rule)
		if wrong != nil { // rules are always valid YAML
			rule = "# not shown: it cannot be read as YAML\n"
		}
		one := insight.Step{Origin: step.Origin, Rule: rule, Drops: step.Drops}
		addChanges(&one, redact.Labels(step.Before), redact.Labels(step.After))
		out = append(out, one)
	}
	return out, err
}

// addChanges adds the changes of labels by a step. A step that drops the target removes none.
func addChanges(step *insight.Step, before, after map[string]string) {
	for name, value := range after {
		old, had := before[name]
		switch {
		case !had:
			step.Added = with(step.Added, name, value)
		case old != value:
			step.Changed = with(step.Changed, name, value)
		}
	}
	if step.Drops {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[name]; !has {
			step.Removed = append(step.Removed, name)
		}
	}
}

func with(m map[string]string, name, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}

// manifest returns the YAML of the object that defines a job, or "" if the caller may not get it.
func (s *Source) manifest(ctx context.Context, r access.Rights, ref catalog.Ref) (string, error) {
	row := catalog.Of(ref.Kind)
	if row == nil || row.IsWorkload() || r == nil {
		return "", nil
	}
	may, err := r.May(ctx, "get", row.GroupResource(), ref.Namespace)
	if err != nil || !may {
		return "", err
	}
	object, err := s.Reader.Get(ctx, row.GroupVersionResource(), ref.Key())
	if err != nil {
		return "", nil // deleted: the targets will disappear soon
	}
	return insight.ManifestOf(row, object)
}

// also returns the objects with other jobs that scrape the same URL.
func (s *Source) also(jobs []openJob, v *view, of openJob, row *targets.Row, t targets.Target) (out []catalog.Ref, err error) {
	if t.State != targets.Kept {
		return nil, nil
	}
	if jobs, err = s.narrow(jobs, v); err != nil {
		return nil, err
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
	return out, nil
}
