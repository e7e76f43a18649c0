package insight

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// made is the compiled workload, with placeholders for values of Secrets.
type made struct {
	object  v1.Workload
	own     []configfile.Section // placeholders for removed parts
	results []fragments.Result
	plan    engine.Plan
	mask    *configfile.Masker
}

// compiled compiles a workload with placeholders for values of Secrets, except for certificates and
// the file with the configuration of an Alertmanager.
//
// Errors: the workload is invalid or not managed; there is not enough memory now.
func (c *Cluster) compiled(ctx context.Context, w *snapshot, e *entry) (out made, err error) {
	if e.report.Unmanaged != "" {
		return out, notWritten(e, errors.New(e.report.Unmanaged))
	}
	if c.Fresh == nil {
		return out, apierrors.NewServiceUnavailable("the configuration is not compiled here")
	}
	setups, err := c.Fresh()
	if err != nil {
		return out, apierrors.NewInternalError(err)
	}
	i := slices.IndexFunc(setups, func(s engine.Setup) bool { return s.Row == e.candidate.Setup.Row })
	if i < 0 {
		return out, apierrors.NewServiceUnavailable("the configuration is not compiled here")
	}
	release, err := c.reserve(ctx, c.compiling())
	if err != nil {
		return out, err
	}
	defer release()
	out.mask = configfile.NewMasker(e.candidate.Object)
	out.object, out.own = configfile.WithoutAdditional(setups[i].Copy(e.candidate.Object))
	made := dryrun.Run(dryrun.Workload{Kind: setups[i].Kind, Object: out.object}, c.hidden(ctx, w, e, out.mask))
	if out.results, out.plan, err = made.Results, made.Plan, made.Err; err != nil {
		return out, notWritten(e, err)
	}
	return out, nil
}

// notWritten returns the error for a workload without a configuration.
func notWritten(e *entry, why error) error {
	err := apierrors.NewConflict(e.candidate.Setup.GroupResource(), e.ref.Namespace+"/"+e.ref.Name, why)
	err.ErrStatus.Message = fmt.Sprintf("the operator does not write a configuration for %s: %v", e.ref, why) // the default message is about updates
	return err
}

// draft compiles the configuration of a workload.
//
// Errors: those of compiled.
func (c *Cluster) draft(ctx context.Context, w *snapshot, e *entry) (*configfile.File, error) {
	made, err := c.compiled(ctx, w, e)
	if err != nil {
		return nil, err
	}
	out := &configfile.File{Mask: made.mask}
	if made.plan.Withheld != nil {
		out.Unread = append(out.Unread, "the operator does not write this configuration: "+made.plan.Withheld.Error())
	}
	if err := c.split(ctx, out, e, made); err != nil {
		return nil, err
	}
	out.Sections = append(out.Sections, made.own...)
	for _, v := range made.results {
		if v.File != "" && v.Err == nil {
			out.Sections = append(out.Sections, configfile.Section{Name: "rule_files/" + v.File, Object: catalog.RefOf(v.Kind, v.Object)})
		}
	}
	return out, nil
}

// split splits a compiled configuration into the sections of a file.
//
// Errors: it cannot be written, or there is not enough memory to read it.
func (c *Cluster) split(ctx context.Context, to *configfile.File, e *entry, made made) error {
	jobs := jobsOf(e, made.results, to)
	if e.candidate.Setup.Row != catalog.Alertmanager {
		return to.Split(made.plan.WriteConfig, jobs)
	}
	text, release, err := c.tree(ctx, made.plan.WriteConfig)
	var long *longError
	if errors.As(err, &long) {
		to.Unread = append(to.Unread, long.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if len(text) == 0 {
		to.Unread = append(to.Unread, configfile.NoConfig)
	}
	to.SplitTree(made.object, string(text), becameOf(made.results))
	return nil
}

// hidden returns the cluster as the workload sees it, with placeholders for values of Secrets.
func (c *Cluster) hidden(ctx context.Context, w *snapshot, e *entry, m *configfile.Masker) engine.Cluster {
	out := manifests.New(nil).Cluster(dryrun.Workload{Kind: e.candidate.Setup.Kind, Object: e.candidate.Object})
	out.NamespaceLabels, out.References = w.namespaceLabels, m.Hide(c.Reader.References(ctx))
	out.Objects = func(kind string) iter.Seq[catalog.Object] {
		row := catalog.Of(kind)
		all := slices.DeleteFunc(slices.Clone(w.objects[row]), func(o catalog.Object) bool { return !e.facts.Configs.Has(o.GetNamespace()) })
		slices.SortFunc(all, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
		return slices.Values(all)
	}
	return out
}

// jobsOf maps jobs to their objects. Accepted objects that fail to compile here, without their
// credentials or together with the others, are noted in the file.
func jobsOf(e *entry, results []fragments.Result, note *configfile.File) map[string]catalog.Ref {
	jobs := map[string]catalog.Ref{}
	for _, v := range results {
		ref := catalog.RefOf(v.Kind, v.Object)
		if v.Err != nil && e.states[ref].state == status.Accepted {
			note.Unread = append(note.Unread, fmt.Sprintf("%s is left out: %s", ref, brief(v.Err.Error())))
		}
		for _, job := range promconfig.JobNamesOf(v.Kind, v.Object, v.Jobs) {
			jobs[job] = ref
		}
	}
	return jobs
}

// becameOf returns the compiled texts of objects.
func becameOf(results []fragments.Result) map[catalog.Ref]string {
	out := map[catalog.Ref]string{}
	for _, v := range results {
		out[catalog.RefOf(v.Kind, v.Object)] = written(textOf(v))
	}
	return out
}

// origins returns the fields that defined the relabel steps of jobs, by job.
func (c *Cluster) origins(ctx context.Context, w *snapshot, e *entry, objects []catalog.Ref) map[string][]string {
	out := map[string][]string{}
	cluster := c.hidden(ctx, w, e, configfile.NewMasker(e.candidate.Object))
	cluster.Objects = only(objects, cluster.Objects)
	object, _ := configfile.WithoutAdditional(e.candidate.Setup.Copy(e.candidate.Object))
	scrapes, err := prometheus.ScrapesOf(object, cluster, c.Options)
	if err != nil {
		return out // the page of the workload has the error
	}
	for _, s := range scrapes.Sources {
		if s.Err != nil {
			continue
		}
		for i, name := range promconfig.JobNames(s.Document.Text) {
			if i >= len(s.Document.Origins) {
				break
			}
			for _, o := range s.Document.Origins[i] {
				out[name] = append(out[name], o.Path)
			}
		}
	}
	return out
}

// only restricts the objects of each kind to some.
func only(some []catalog.Ref, all func(kind string) iter.Seq[catalog.Object]) func(kind string) iter.Seq[catalog.Object] {
	return func(kind string) iter.Seq[catalog.Object] {
		return func(yield func(catalog.Object) bool) {
			for o := range all(kind) {
				if slices.Contains(some, catalog.RefOf(kind, o)) && !yield(o) {
					return
				}
			}
		}
	}
}
