package previews

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/readers/overlay"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/configfile"
)

// manifestsName is the file name of the manifests in errors.
const manifestsName = "manifests"

// Preview returns the targets that would be scraped if manifests were applied. The caller needs permission to get the objects in the manifests.
// Only the jobs of these objects are evaluated, and all jobs of a workload in the manifests. If there
// are native objects such as pods, all jobs of all workloads are evaluated.
func (s *Service) Preview(ctx context.Context, r access.Rights, body []byte) (*preview.Report, error) {
	if len(body) > maxManifests {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("manifests: longer than %d bytes", maxManifests))
	}
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.mayPreview(ctx, r, body); err != nil {
		return nil, err
	}
	release, err := s.reserve(ctx, len(body))
	if err != nil {
		return nil, err
	}
	defer release()
	setups, err := s.Fresh()
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	objects, faults := manifests.Read(manifestsName, body, explain.Kinds(setups))
	if err := mayGetAll(ctx, r, objects); err != nil {
		return nil, err
	}
	if err := faultsIn(objects, faults); err != nil {
		return nil, err
	}
	p := &builder{s: s, a: access.NewChecker(ctx, r), setups: setups, used: map[catalog.Ref]bool{}, whole: len(objects.Native()) > 0, bounds: preview.Bounds{Jobs: maxJobs, Regexps: maxRegexps, Text: maxPreviewText}}
	for _, row := range slices.Concat(preview.Kinds, preview.Sources) {
		for _, o := range objects.All(row) {
			p.given = append(p.given, catalog.RefOf(row.Kind, o))
		}
	}
	for _, o := range objects.Native() {
		_, namespace := o.(*corev1.Namespace)
		p.touched, p.relabels = append(p.touched, o.GetNamespace()), p.relabels || namespace
	}
	if len(p.given) == 0 && !p.whole {
		return nil, apierrors.NewBadRequest(manifestsName + ": there is nothing among them that decides what is scraped")
	}
	if len(p.given) > maxGiven {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s: %d objects decide what is scraped, %d may at a time: send fewer, or use operator targets -f, which has no such limit", manifestsName, len(p.given), maxGiven))
	}
	over := overlay.Over(s.Reader, objects)
	workloads, err := p.workloads(ctx, over)
	if err != nil {
		return nil, unfinished(err)
	}
	return p.report(ctx, over, workloads)
}

// faultsIn returns an error with the faults in manifests, each with file, line and field.
func faultsIn(objects *manifests.Objects, faults []manifests.Fault) error {
	if len(faults) == 0 {
		return nil
	}
	var lines []string
	for _, f := range lint.Faults(objects, faults) {
		if f.Severity != lint.SeverityError {
			continue
		}
		text := f.Where() + ": "
		if f.Kind != "" {
			text += catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}.String() + ": "
		}
		if f.Field != "" {
			text += f.Field + ": "
		}
		lines = append(lines, text+f.Message)
	}
	if len(lines) == 0 {
		return nil
	}
	if more := len(lines) - maxFaults; more > 0 {
		lines = append(lines[:maxFaults], fmt.Sprintf("and %d more", more))
	}
	return apierrors.NewBadRequest(strings.Join(lines, "\n"))
}

// builder is a preview under construction.
type builder struct {
	s      *Service
	a      *access.Checker
	setups []engine.Setup
	given  []catalog.Ref // objects of our kinds in the manifests
	used   map[catalog.Ref]bool
	// touched are the namespaces of the native objects in the manifests.
	touched  []string
	relabels bool // the manifests contain namespaces
	whole    bool // evaluate all jobs of all workloads

	candidates []explain.Candidate
	cluster    engine.Cluster
	bounds     preview.Bounds
}

// workloads returns the workloads that the manifests affect.
//
// Errors: *[preview.LimitError]; the cluster cannot be read; the error of ctx.
func (p *builder) workloads(ctx context.Context, over *overlay.Cluster) (out []preview.Workload, err error) {
	objects, references, err := preview.Gather(ctx, over, p.setups, p.s.Scopes)
	if err != nil {
		return nil, apierrors.NewServiceUnavailable(err.Error())
	}
	references.References = guardedReferences{references.References, p, over}
	p.cluster = references
	for _, each := range objects.Workloads() {
		i := slices.IndexFunc(p.setups, func(s engine.Setup) bool { return s.Kind == each.Kind })
		candidate := explain.Candidate{Setup: p.setups[i], Object: each.Object}
		if !slices.Contains(preview.Kinds, each.Kind.Row) || candidate.Unmanaged() != "" {
			continue
		}
		p.candidates = append(p.candidates, candidate)
		ref := candidate.Ref()
		whole := p.whole || slices.Contains(p.given, ref)
		cluster := objects.Cluster(each)
		cluster.NamespaceLabels, cluster.References = references.NamespaceLabels, references.References
		selects := p.objectFilter(candidate)
		cluster.Objects = p.objects(cluster.Objects, selects, whole)
		object, own := configfile.WithoutAdditional(each.Kind.Copy(each.Object))
		candidate.Object = object
		w, err := p.bounds.Read(ctx, candidate, cluster, p.s.Options)
		if err != nil {
			return nil, err
		}
		used := false
		for _, given := range p.given {
			if w.Has(given) {
				used, p.used[given] = true, true
			}
		}
		switch {
		case !p.a.MayGet(ref) && used:
			out = append(out, preview.Workload{Ref: ref, Error: access.Hidden(ref)})
			continue
		case !p.a.MayGet(ref), !whole && !used:
			continue
		}
		for _, section := range own {
			if strings.HasPrefix(section.Name, configfile.ScrapeConfigs) {
				w.Notes = append(w.Notes, "the jobs of spec.additionalScrapeConfigs are not shown: they come from a Secret")
			}
		}
		w.Notes = append(w.Notes, selects.notes(p.relabels || slices.Contains(p.given, ref))...)
		out = append(out, w)
	}
	return out, nil
}

// unfinished returns the error of a failed preview.
func unfinished(err error) error {
	if over, is := errors.AsType[*preview.LimitError](err); is {
		return apierrors.NewBadRequest(manifestsName + ": " + over.Error())
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return apierrors.NewTimeoutError("the preview takes too long: send fewer objects at a time, or use operator targets -f", 1)
	}
	return apierrors.NewServiceUnavailable(err.Error())
}

// guardedReferences denies access to Secrets and ConfigMaps in the namespaces of the manifests if the caller may
// not get them. It does not even reveal whether they exist.
type guardedReferences struct {
	assets.Reader
	p    *builder
	over *overlay.Cluster
}

// Object implements [assets.Reader].
func (g guardedReferences) Object(ref assets.Ref) (assets.Object, error) {
	inside := slices.ContainsFunc(g.p.given, func(o catalog.Ref) bool { return o.Namespace == ref.Namespace })
	of := readers.Secrets.GroupResource()
	if ref.Kind == assets.ConfigMap {
		of = readers.ConfigMaps.GroupResource()
	}
	if inside && !g.over.Brings(ref) && !g.p.a.MayResource("get", of, ref.Namespace) {
		return assets.Object{}, apierrors.NewForbidden(of, ref.Name, nil)
	}
	return g.Reader.Object(ref)
}

// report evaluates the targets.
func (p *builder) report(ctx context.Context, over *overlay.Cluster, workloads []preview.Workload) (*preview.Report, error) {
	q := preview.Query{Shard: preview.AllShards, Limit: maxPreviewed}
	if p.s.Look != nil {
		q.Look = p.s.Look(ctx, p.a.Limit(over))
	}
	out, err := preview.Run(ctx, workloads, p.visible(ctx, over), q)
	if err != nil {
		return nil, unfinished(err)
	}
	for i := range out.Items {
		hideTarget(p.a, &out.Items[i])
	}
	for _, o := range out.Workloads {
		for i := range o.Objects {
			hideReasons(p.a, &o.Objects[i])
		}
	}
	for _, ref := range p.given {
		if !catalog.Of(ref.Kind).IsWorkload() && !p.used[ref] {
			p.unused(ctx, over, ref, &out)
		}
	}
	return &out, nil
}

// unused adds the reasons why no workload uses an object.
func (p *builder) unused(ctx context.Context, over *overlay.Cluster, ref catalog.Ref, out *preview.Report) {
	row := catalog.Of(ref.Kind)
	o, err := over.Get(ctx, row.GroupVersionResource(), ref.Key())
	if err != nil {
		return
	}
	q := explain.Question{Row: row, Object: o, Setups: p.setups, NamespaceLabels: p.cluster.NamespaceLabels, References: p.cluster.References}
	for _, c := range p.candidates {
		if p.a.MayGet(c.Ref()) && len(q.Workloads) < maxExplained {
			q.Workloads = append(q.Workloads, c)
		}
	}
	report, err := explain.Try(q, p.s.Scopes.For(row))
	if err != nil {
		return
	}
	message := "no workload uses it"
	for _, v := range report.Workloads {
		out.NotUsed = append(out.NotUsed, v)
		message += fmt.Sprintf("; %s: %s", v.Workload, v.Message)
	}
	out.WithoutTargets = append(out.WithoutTargets, preview.Without{Object: ref, Message: message})
}
