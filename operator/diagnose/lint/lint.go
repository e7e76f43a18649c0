package lint

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Severity is the severity of a finding.
type Severity string

const (
	// SeverityError is the severity of a rejected value or object.
	SeverityError Severity = "error"
	// SeverityWarning is the severity of a value that is accepted but not used as written.
	SeverityWarning Severity = "warning"
	// SeverityNote is the severity of an informational remark.
	SeverityNote Severity = "note"
)

// Codes of findings.
const (
	CodeUnreadable       = "unreadable"        // a file or document that is not a manifest
	CodeField            = "field"             // an unknown or duplicate field, a value of the wrong type
	CodeInvalid          = "invalid"           // a value that the API server rejects
	CodeRejected         = "rejected"          // an object that its workload rejects
	CodeMissingReference = "missing-reference" // an object that its workload rejects because of a missing Secret or ConfigMap
	CodeWorkload         = "workload"          // a workload that cannot be rendered
	CodeDropped          = "dropped"           // a field that the workload's version does not support
	CodeRemark           = "remark"            // a value that is not used as written
	CodeDuplicate        = "duplicate"         // an object that was already defined
	CodeNotSelected      = "not-selected"      // an object that no workload selects
	CodeNoTarget         = "no-target"         // a job without targets, although something similar exists
	CodeDuplicateTarget  = "duplicate-target"  // a pod that is scraped twice
	CodePermission       = "permission"        // a missing permission of the ServiceAccount of a workload
)

// Finding is a finding about one object or file.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"` // from 1; 0 when not known
	// Kind, Namespace and Name are empty for faults of whole files.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Field is the path as the user wrote it: "spec.endpoints[0].interval".
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	// Workloads are the workloads that the finding holds for; empty when it does not depend on one.
	Workloads []string `json:"workloads,omitempty"`
}

// Report is the result of a run. Findings are sorted by file, line and object.
type Report struct {
	Findings []Finding
	// Objects is the number of objects checked.
	Objects int
	// Skipped is the number of documents in folders that are not meant to be manifests.
	Skipped int
	// SkippedAt are the files of the skipped documents.
	SkippedAt []string
	// Unbuilt are kustomizations whose changes are not applied to the objects.
	Unbuilt []string
	// Withheld is the number of findings that they may change.
	Withheld int
}

// Count returns the number of findings of a severity.
func (r Report) Count(s Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Options are the lint options, as set by flags.
type Options struct {
	// Version of the stand-in Prometheus; empty for the default. See [Check].
	Version string
	// MissingReferences reports Secrets and ConfigMaps that are not among the manifests
	// as warnings instead of errors.
	MissingReferences bool
}

// Check checks manifests with the code that renders every workload of the kinds. faults are the faults that were found when
// they were read. Objects that none of the workloads can select are checked against a stand-in that selects them all: a
// Prometheus for all monitors and rules if there is no workload, for the rules if there are only agents, and an Alertmanager
// for AlertmanagerConfigs.
func Check(o *manifests.Objects, faults []manifests.Fault, opts Options) Report {
	e := Examine(o, faults, o.Kinds, opts)
	findings, withheld := built(e.Findings(), slices.Sorted(slices.Values(o.Changed)))
	return Report{Findings: findings, Objects: o.Len(), Skipped: o.Skipped, SkippedAt: o.SkippedAt, Unbuilt: o.Unbuilt, Withheld: withheld}
}

type linter struct {
	objects  *manifests.Objects
	opts     Options
	standIns []string // names of the workloads that are not among the manifests
	advises  bool     // report valid settings with a probably unintended effect
	lonely   bool     // findings are shown without the place of their object
	findings []Finding
	// counterparts are findings about the other of two objects, which are shown for that object only.
	counterparts []Finding
	seen         map[string]*recorded // each finding, by its other fields than Workloads
	remarked     map[string]bool      // fields with a remark, by object
	owners       owners
	capturing    *capture // nil: findings are not captured
	alike        map[[sha256.Size]byte]*alike
	reader       static.Reader
	trees        map[string]*tree
	documents    map[string]*yaml.Node // by place or reference, see parsed
	made         []made                // in the order of the workloads
	kept         int                   // results in made
	faultyFields map[string][]string   // fields with an error in the manifest, by object
	undecoded    undecoded
	blackboxes   map[string][]blackbox     // by namespace, see blackboxesIn
	fastest      time.Duration             // see [linter.fastestMonitor]; 0 until it is needed
	labels       map[string]*labelValues   // see alertLabels; nil until it is needed
	recorded     []string                  // see recordedNames; nil until it is needed
	likeRecorded similarNames              // of names in expressions
	likeAlert    similarNames              // of names in ALERTS
	likeValue    similarNames              // of values in routes
	matching     int                       // instructions, see affords
	native       *bool                     // see scrapesNative; nil until it is needed
	places       map[string]*place         // see placeless; nil until it is needed
	templates    map[string]*templateFiles // by Alertmanager, see templatesOf
}

func newLinter(o *manifests.Objects, opts Options) *linter {
	return &linter{objects: o, opts: opts, seen: map[string]*recorded{}, remarked: map[string]bool{}, alike: map[[sha256.Size]byte]*alike{}, trees: map[string]*tree{}, faultyFields: map[string][]string{}}
}

// add records a finding and deduplicates it: a finding that applies to several workloads is
// recorded once, with all of them as owners.
func (l *linter) add(f Finding, owner string) {
	if l.standsIn(owner) {
		owner = ""
	}
	if l.isConsequence(f) {
		return
	}
	if f.File == "" && l.placeOf(f).File != "" {
		f.File, f.Line = l.locate(f)
	}
	f.Message = excerpt.Of(f.Message, budget.MessageBytes) // it may quote a value of any length
	l.record(&l.findings, f, owner)
}

// record adds a finding to a list, or the workload to the same finding there.
func (l *linter) record(to *[]Finding, f Finding, owner string) {
	id := fmt.Sprintf("%t\x00%s\x00%s\x00%s\x00%s %s/%s\x00%s\x00%s", to == &l.counterparts, f.Severity, f.Code, f.File, f.Kind, f.Namespace, f.Name, f.Field, f.Message)
	r := l.seen[id]
	if r == nil {
		r = &recorded{list: to, at: len(*to)}
		l.seen[id] = r
		*to = append(*to, f)
		if f.Code == CodeRemark && to == &l.findings {
			l.remarked[f.object()+" "+f.Field] = true
		}
	}
	if owner != "" {
		l.owners.own(r, owner)
	}
	if l.capturing != nil {
		*l.capturing = append(*l.capturing, captured{r, owner != ""})
	}
}

// object returns kind, namespace and name of the object of a finding.
func (f Finding) object() string { return f.Kind + " " + f.Namespace + "/" + f.Name }

// manifestFault reports the errors of a manifest, one finding per field.
func (l *linter) manifestFault(f manifests.Fault) {
	base := Finding{Severity: SeverityError, Code: CodeUnreadable, File: f.Place.File, Line: l.tree(f.Place).line(""), Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}
	if f.Native {
		base.Severity = SeverityWarning // the operator works without it
		if !l.objects.HasNative(catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}) {
			l.undecoded.add(f)
		}
	}
	fields := 0
	for _, err := range f.Errors() {
		one := base
		if at, ok := errors.AsType[*manifest.FieldError](err); ok {
			one.Code = CodeField
			one.Field, one.Message = at.Located()
			l.faultyFields[one.object()] = append(l.faultyFields[one.object()], cmp.Or(misplaced(at), at.Meant(), advised(at), at.Path))
		} else if at, ok := errors.AsType[*manifests.DuplicateError](err); ok {
			one = l.duplicate(one, at)
		} else if at, ok := errors.AsType[*manifests.InvalidError](err); ok {
			one.Code = CodeInvalid
			one.Field, one.Message = at.Located()
			l.faultyFields[one.object()] = append(l.faultyFields[one.object()], at.Path)
		} else if at, ok := errors.AsType[*manifests.SyntaxError](err); ok {
			fields++
			one.Message = at.Reason
			if one.Line > 0 && at.Line > 0 {
				one.Line += at.Line - 1
			}
			l.add(one, "")
			continue
		} else {
			continue
		}
		fields++
		one.Line = l.tree(f.Place).line(one.Field)
		one.Field = l.tree(f.Place).written(one.Field)
		l.add(one, "")
	}
	if fields == 0 {
		base.Message = f.Err.Error()
		if at, ok := errors.AsType[*manifests.FileError](f.Err); ok {
			base.Message = at.Err.Error()
		} else if _, ok := errors.AsType[*budget.Error](f.Err); ok {
			base.Code = CodeRejected
		}
		l.add(base, "")
	}
}

// duplicate fills in a finding about an object that was already read. It is a note if the other
// manifest is in another folder, because folders often hold variants for several environments.
func (l *linter) duplicate(f Finding, err *manifests.DuplicateError) Finding {
	first := err.First.File
	if line := l.tree(err.First).line("metadata.name"); line > 0 {
		first = fmt.Sprintf("%s:%d", first, line)
	}
	f.Code, f.Field = CodeDuplicate, "metadata.name"
	f.Message = fmt.Sprintf("this object is also in %s; the one that is applied last wins, and this one is not checked", first)
	if err.Apart {
		f.Severity = SeverityNote
	}
	return f
}

// about returns an empty finding about an object.
func about(ref catalog.Ref) Finding {
	return Finding{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
}

// workload reconciles one workload and reports the findings about it and its objects.
func (l *linter) workload(w dryrun.Workload) {
	self := about(w.Ref())
	made, like := l.reconcile(w)
	l.selected(w, made, like)
	if made.Err != nil {
		l.rejected(self, CodeWorkload, l.located(w, made.Err), "")
		return
	}
	l.dropped(self, fragments.Unsupported(w.Object, w.Kind.Program, made.Plan.Dropped), "")
	missing := l.missing(self, w, made)
	for _, f := range made.Plan.Warnings {
		if !slices.ContainsFunc(missing, func(m string) bool { return within(m, f.Field) }) {
			l.remark(self, f, "")
		}
	}
	if !l.advises || l.standsIn(w.String()) {
		return
	}
	for _, f := range made.Plan.Deprecated {
		l.remark(self, faults.Remark(f.Field, "is deprecated, use %s%s", f.Use, unusedBeside(w, f)), "")
	}
	if r := made.Plan.Reason; r != "" && r != engine.ReasonDeprecated && r != engine.ReasonAnnotationIgnored && r != engine.ReasonVersionTooOld { // reported above
		l.remark(self, faults.Finding{Reason: made.Plan.Message}, "")
	}
	l.unsentAlerts(self, w, made.Results)
	l.shardedRules(self, w, made.Results)
	l.baseRemarks(w)
	l.inheritedCredentials(self, w, made.Results)
	l.strayContainers(self, w, made)
	l.generatedRemarks(self, w, made)
	l.paused(self, w)
	l.stopped(self, w)
	l.externalPath(self, w)
	l.workloadRemarks(self, w)
}

// results reports the findings about the objects that a workload selects.
func (l *linter) results(w dryrun.Workload, all []fragments.Result) {
	for _, v := range all {
		at := about(catalog.RefOf(v.Kind, v.Object))
		if _, left := errors.AsType[*share.LeftOutError](v.Err); left && l.standsIn(w.String()) {
			v.Err = nil // no workload of the cluster selects all of this, as far as the manifests tell
		}
		if v.Err != nil {
			l.rejected(at, CodeRejected, v.Err, w.String())
			continue
		}
		l.dropped(at, v.Unsupported(w.Kind.Program), w.String())
		for _, f := range v.Remarks {
			l.remark(at, f, w.String())
		}
		if l.advises {
			l.remarks(w, v.Kind, v.Object)
		}
	}
}

// remark reports a value that is not used as written.
func (l *linter) remark(at Finding, f faults.Finding, owner string) {
	at.Severity, at.Code, at.Message = SeverityWarning, CodeRemark, f.Reason
	at.Field = cmp.Or(f.Field, "spec")
	if content, ok := errors.AsType[*assets.ContentError](f.Cause); ok {
		at = l.inContent(at, content)
	}
	l.add(at, owner)
}

// say returns a function that reports remarks about an object.
func (l *linter) say(about Finding) says {
	return func(field, format string, args ...any) { l.remark(about, faults.Remark(field, format, args...), "") }
}

// note returns a function that reports notes about an object.
func (l *linter) note(about Finding) says {
	return func(field, format string, args ...any) {
		about.Severity, about.Code, about.Field, about.Message = SeverityNote, CodeRemark, field, fmt.Sprintf(format, args...)
		l.add(about, "")
	}
}

// rejected reports a rejection. Each reason becomes a finding; an object can have several.
func (l *linter) rejected(at Finding, code string, err error, owner string) {
	at.Severity, at.Code = SeverityError, code
	for _, f := range faults.Of(err) {
		l.refused(at, f, owner)
	}
}

// refused reports one reason of a rejection.
func (l *linter) refused(at Finding, f faults.Finding, owner string) {
	at.Field, at.Message = f.Field, f.Reason
	if l.withoutGlobals(cmp.Or(owner, at.object()), f.Cause) {
		return
	}
	if base, ok := errors.AsType[*catalog.ObjectError](f.Cause); ok {
		at = l.inBase(at, base)
	}
	if content, ok := errors.AsType[*assets.ContentError](f.Cause); ok {
		at = l.inContent(at, content)
	}
	if missing, ok := errors.AsType[*assets.NotFoundError](f.Cause); ok {
		at.Code = CodeMissingReference
		if l.opts.MissingReferences {
			at.Severity = SeverityWarning
		}
		at.Message += l.instead(missing, at.Field)
	}
	if taken, ok := errors.AsType[*workload.TakenError](f.Cause); ok {
		at.Message += fieldsFor(at.Kind, taken.Names)
	}
	if at.File == "" && l.unreplaced(at) {
		at.Message += "; it has a placeholder that nothing has replaced: check what envsubst, Flux, kustomize or Helm make of this file"
	}
	l.add(at, owner)
}

// dropped reports fields that the workload's version does not support.
func (l *linter) dropped(at Finding, all []faults.Finding, owner string) {
	at.Severity, at.Code = SeverityWarning, CodeDropped
	for _, f := range all {
		at.Field, at.Message = f.Field, f.Reason
		l.add(at, owner)
	}
}
