package insight

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// draft is the configuration of a workload as the operator compiles it, with placeholders for
// values of Secrets. It is redacted when it is shown. The text of a Prometheus may be long. It is
// kept compressed and decompressed for the sections that are shown.
type draft struct {
	sections []draftSection
	unread   []string
	mask     *masker
	file     []byte // the compressed text; empty if the sections have it
	stale    bool   // the workload has changed since
}

// draftSection is a section of the file.
type draftSection struct {
	name   string
	job    string // if the section is a job
	object catalog.Ref
	text   string // empty until it is read from the file
	at     int    // offset in the file, in bytes
	size   int    // length of the text, in bytes
}

// scrapeConfigs is the key of jobs.
const scrapeConfigs = "scrape_configs"

// made is the compiled workload, with placeholders for values of Secrets.
type made struct {
	object  v1.Workload
	own     []draftSection // placeholders for removed parts
	results []fragments.Result
	plan    engine.Plan
	mask    *masker
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
	out.mask = newMasker(e.candidate.Object)
	out.object, out.own = withoutOwn(setups[i].Copy(e.candidate.Object))
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
func (c *Cluster) draft(ctx context.Context, w *snapshot, e *entry) (*draft, error) {
	made, err := c.compiled(ctx, w, e)
	if err != nil {
		return nil, err
	}
	out := &draft{mask: made.mask}
	if made.plan.Withheld != nil {
		out.unread = append(out.unread, "the operator does not write this configuration: "+made.plan.Withheld.Error())
	}
	if err := out.read(ctx, c, e, made); err != nil {
		return nil, err
	}
	out.sections = append(out.sections, made.own...)
	for _, v := range made.results {
		if v.File != "" && v.Err == nil {
			out.sections = append(out.sections, draftSection{name: "rule_files/" + v.File, object: catalog.RefOf(v.Kind, v.Object)})
		}
	}
	return out, nil
}

// noConfig is the note for a configuration without sections.
const noConfig = "the operator writes no configuration: it is left to you, or there is nothing to write"

// read splits the configuration into sections.
//
// Errors: it cannot be written, or there is not enough memory to read it.
func (d *draft) read(ctx context.Context, c *Cluster, e *entry, made made) error {
	jobs := d.of(e, made.results)
	if e.candidate.Setup.Row != catalog.Alertmanager {
		return d.cut(made.plan.WriteConfig, jobs)
	}
	text, release, err := c.tree(ctx, made.plan.WriteConfig)
	var long *longError
	if errors.As(err, &long) {
		d.unread = append(d.unread, long.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if len(text) == 0 {
		d.unread = append(d.unread, noConfig)
	}
	d.cutTree(made.object, string(text), becameOf(made.results))
	return nil
}

// hidden returns the cluster as the workload sees it, with placeholders for values of Secrets.
func (c *Cluster) hidden(ctx context.Context, w *snapshot, e *entry, m *masker) engine.Cluster {
	out := manifests.New(nil).Cluster(dryrun.Workload{Kind: e.candidate.Setup.Kind, Object: e.candidate.Object})
	out.NamespaceLabels, out.References = w.namespaceLabels, m.reading(c.Reader.References(ctx))
	out.Objects = func(kind string) iter.Seq[catalog.Object] {
		row := catalog.Of(kind)
		all := slices.DeleteFunc(slices.Clone(w.objects[row]), func(o catalog.Object) bool { return !e.facts.Configs.Has(o.GetNamespace()) })
		slices.SortFunc(all, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
		return slices.Values(all)
	}
	return out
}

// withoutOwn removes the references of w to additional configuration, which would be copied
// verbatim from Secrets. It returns sections that name these Secrets.
func withoutOwn(w v1.Workload) (v1.Workload, []draftSection) {
	var out []draftSection
	take := func(field, name string, from **corev1.SecretKeySelector) {
		if s := *from; s != nil {
			out = append(out, draftSection{name: name, text: fmt.Sprintf("# from key %s of Secret %s (%s), not shown\n", s.Key, s.Name, field)}.sized())
			*from = nil
		}
	}
	switch w := w.(type) {
	case *v1.Prometheus:
		take("spec.additionalScrapeConfigs", scrapeConfigs+" (additional)", &w.Spec.AdditionalScrapeConfigs)
		take("spec.additionalAlertManagerConfigs", "alerting.alertmanagers (additional)", &w.Spec.AdditionalAlertManagerConfigs)
		take("spec.additionalAlertRelabelConfigs", "alerting.alert_relabel_configs (additional)", &w.Spec.AdditionalAlertRelabelConfigs)
	case *v1alpha1.PrometheusAgent:
		take("spec.additionalScrapeConfigs", scrapeConfigs+" (additional)", &w.Spec.AdditionalScrapeConfigs)
	}
	return w, out
}

// of maps jobs to their objects. Accepted objects that fail to compile here, without their
// credentials or together with the others, are noted in d.unread.
func (d *draft) of(e *entry, results []fragments.Result) map[string]catalog.Ref {
	jobs := map[string]catalog.Ref{}
	for _, v := range results {
		ref := catalog.RefOf(v.Kind, v.Object)
		if v.Err != nil && e.states[ref].state == status.Accepted {
			d.unread = append(d.unread, fmt.Sprintf("%s is left out: %s", ref, brief(v.Err.Error())))
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
	cluster := c.hidden(ctx, w, e, newMasker(e.candidate.Object))
	all := cluster.Objects
	cluster.Objects = func(kind string) iter.Seq[catalog.Object] {
		return func(yield func(catalog.Object) bool) {
			for o := range all(kind) {
				if slices.Contains(objects, catalog.RefOf(kind, o)) && !yield(o) {
					return
				}
			}
		}
	}
	object, _ := withoutOwn(e.candidate.Setup.Copy(e.candidate.Object))
	scrapes, err := prometheus.ScrapesOf(object, cluster, c.Options)
	if err != nil {
		return out // the page of the workload has the error
	}
	for _, s := range scrapes.Sources {
		if s.Err != nil {
			continue
		}
		for i, name := range promconfig.JobNames(s.Document.Text) {
			if i < len(s.Document.Origins) {
				for _, o := range s.Document.Origins[i] {
					out[name] = append(out[name], o.Path)
				}
			}
		}
	}
	return out
}
