package lint

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Severity says how bad a finding is.
type Severity string

const (
	// SeverityError is something that is refused.
	SeverityError Severity = "error"
	// SeverityWarning is something that works, but not as written.
	SeverityWarning Severity = "warning"
	// SeverityNote is a remark.
	SeverityNote Severity = "note"
)

// Codes of findings.
const (
	CodeUnreadable       = "unreadable"        // a file or document that is no manifest
	CodeField            = "field"             // an unknown or doubled field, a value of the wrong type
	CodeInvalid          = "invalid"           // a value that the API server refuses
	CodeRejected         = "rejected"          // an object that its workload rejects
	CodeMissingReference = "missing-reference" // the same, for a Secret or ConfigMap that is not there
	CodeOwner            = "workload"          // a workload that cannot be rendered
	CodeDropped          = "dropped"           // a field that the workload's version does not support
	CodeRemark           = "remark"            // a value that is not used as written
	CodeDuplicate        = "duplicate"         // an object that is there before
	CodeNotSelected      = "not-selected"      // an object that no workload selects
	CodeNoTarget         = "no-target"         // what a job looks for does not exist, and something almost like it does
	CodeDuplicateTarget  = "duplicate-target"  // a pod that is scraped twice
	CodePermission       = "permission"        // what the ServiceAccount of a workload may not look for
)

// Finding is one remark about one object.
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
	// Owners are the workloads that the finding holds for; empty when it does not depend on one.
	Owners []string `json:"workloads,omitempty"`
}

// Report is what was found, by file, line and object.
type Report struct {
	Findings []Finding
	// Objects that were looked at.
	Objects int
	// Skipped documents of folders are not meant to be manifests.
	Skipped int
	// SkippedAt are the files of these.
	SkippedAt []string
	// Unbuilt are kustomizations whose changes are not in the objects.
	Unbuilt []string
}

// Count is the number of findings of a severity.
func (r Report) Count(s Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Options are what the flags say about linting.
type Options struct {
	// Version of the Prometheus that stands in where the manifests hold none.
	Version string
	// MissingReferences makes Secrets and ConfigMaps that are not among the
	// manifests a warning.
	MissingReferences bool
}

// Run reads manifests as [manifests.Load] does, but goes on after a fault, and runs what
// render runs for every workload of some kinds. For objects that none of them can
// select, a Prometheus stands in that selects them all: everything where there is no
// workload, the rules beside agents.
func Run(paths []string, kinds []*engine.Kind, opts Options) Report {
	o, faults := manifests.LoadAll(paths, kinds)
	return Check(o, faults, opts)
}

// Check is Run for manifests that were read, with faults.
func Check(o *manifests.Objects, faults []manifests.Fault, opts Options) Report {
	e := Examine(o, faults, o.Kinds, opts)
	return Report{Findings: e.Findings(), Objects: o.Len(), Skipped: o.Skipped, SkippedAt: o.SkippedAt, Unbuilt: o.Unbuilt}
}

type linter struct {
	objects  *manifests.Objects
	opts     Options
	standIn  string // name of the workload that is not among the manifests; empty without one
	advises  bool   // says what works and is perhaps not what was meant
	lonely   bool   // findings are read without the place of their object
	findings []Finding
	seen     map[string]int // finding without owners → index
	trees    map[string]*tree
	made     []made              // in the order of the workloads
	told     map[string][]string // fields of objects that have an error of the manifest, by object
}

func newLinter(o *manifests.Objects, opts Options) *linter {
	return &linter{objects: o, opts: opts, seen: map[string]int{}, trees: map[string]*tree{}, told: map[string][]string{}}
}

// add enters a finding once; workloads for which it also holds are added to it.
func (l *linter) add(f Finding, owner string) {
	if owner == l.standIn {
		owner = ""
	}
	if l.echo(f) {
		return
	}
	if f.File == "" && l.placeOf(f).File != "" {
		f.File, f.Line = l.locate(f)
	}
	id := fmt.Sprintf("%s\x00%s\x00%s\x00%s %s/%s\x00%s\x00%s", f.Severity, f.Code, f.File, f.Kind, f.Namespace, f.Name, f.Field, f.Message)
	i, known := l.seen[id]
	if !known {
		i = len(l.findings)
		l.seen[id] = i
		l.findings = append(l.findings, f)
	}
	if owner != "" && !slices.Contains(l.findings[i].Owners, owner) {
		l.findings[i].Owners = append(l.findings[i].Owners, owner)
	}
}

// echo reports whether a finding follows from an error of the manifest: the field is left
// out for it, or an object around it lacks it then.
func (l *linter) echo(f Finding) bool {
	if f.Code == CodeField || f.Code == CodeInvalid || f.Field == "" {
		return false
	}
	return slices.ContainsFunc(l.told[f.object()], func(told string) bool {
		return within(told, f.Field) || within(f.Field, told)
	})
}

// within reports whether a field is another one, or inside of it.
func within(field, around string) bool {
	rest, inside := strings.CutPrefix(field, around)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// object is the object of a finding.
func (f Finding) object() string { return f.Kind + " " + f.Namespace + "/" + f.Name }

// manifestFault takes what is wrong with a manifest, field by field.
func (l *linter) manifestFault(f manifests.Fault) {
	base := Finding{Severity: SeverityError, Code: CodeUnreadable, File: f.Place.File, Line: l.tree(f.Place).line(""), Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}
	if f.Native {
		base.Severity = SeverityWarning // the operator works without it
	}
	fields := 0
	for _, err := range f.Errors() {
		one := base
		if at, ok := errors.AsType[*manifest.FieldError](err); ok {
			one.Code, one.Field, one.Message = CodeField, at.Path, (&manifest.FieldError{Reason: at.Reason, Suggestion: at.Suggestion, Elsewhere: at.Elsewhere}).Error()
			l.told[one.object()] = append(l.told[one.object()], cmp.Or(at.Meant(), at.Path))
		} else if at, ok := errors.AsType[*manifests.DuplicateError](err); ok {
			one = l.duplicate(one, at)
		} else if at, ok := errors.AsType[*manifests.InvalidError](err); ok {
			one.Code, one.Field, one.Message = CodeInvalid, at.Path, at.Reason
			l.told[one.object()] = append(l.told[one.object()], at.Path)
		} else {
			continue
		}
		fields++
		one.Line = l.tree(f.Place).line(one.Field)
		l.add(one, "")
	}
	if fields == 0 {
		base.Message = strings.TrimPrefix(f.Err.Error(), f.Place.File+": ")
		if m := lineInDocument.FindStringSubmatch(base.Message); m != nil && base.Line > 0 {
			if n, err := strconv.Atoi(m[1]); err == nil {
				base.Line += n - 1
			}
			base.Message = lineInDocument.ReplaceAllString(base.Message, "")
		}
		l.add(base, "")
	}
}

// duplicate reports an object that was read before. Folders often hold one object in the
// variants of several environments.
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

// lineInDocument is how the YAML reader says where a document is broken.
var lineInDocument = regexp.MustCompile(`\bline (\d+): `)

// workload reports what one workload makes of the objects.
func (l *linter) workload(w manifests.Workload) {
	self := Finding{Kind: w.Kind.Kind, Namespace: w.Object.GetNamespace(), Name: w.Object.GetName()}
	made := l.reconcile(w)
	l.verdicts(w, made.Verdicts)
	if made.Err != nil {
		l.rejected(self, CodeOwner, made.Err, "")
		return
	}
	for _, d := range made.Dropped {
		l.dropped(self, d, w.Kind, "")
	}
	missing := l.missing(self, w, made)
	for _, text := range made.Plan.Warnings {
		if field, _ := fieldOf(text); !slices.ContainsFunc(missing, func(m string) bool { return within(m, field) }) {
			l.remark(self, text, "")
		}
	}
	if !l.advises || w.String() == l.standIn {
		return
	}
	if made.Plan.Reason != "" {
		l.remark(self, made.Plan.Message, "")
	}
	l.strayContainers(self, w, made)
	l.paused(self, w)
	l.workloadRemarks(self, w)
}

// verdicts reports what becomes of the objects that a workload selects.
func (l *linter) verdicts(w manifests.Workload, all []compiled.Verdict) {
	for _, v := range all {
		at := Finding{Kind: v.Kind, Namespace: v.Object.GetNamespace(), Name: v.Object.GetName()}
		if v.Err != nil {
			l.rejected(at, CodeRejected, v.Err, w.String())
			continue
		}
		for _, d := range v.Dropped {
			l.dropped(at, d, w.Kind, w.String())
		}
		for _, text := range v.Remarks {
			l.remark(at, text, w.String())
		}
		if l.advises {
			l.remarks(w, v.Kind, v.Object)
		}
	}
}

// label matches the name of a label at the beginning of a message.
var label = regexp.MustCompile(`^"\w+"`)

// remark reports a value that is not used as written: "spec.a: …".
func (l *linter) remark(at Finding, text, owner string) {
	at.Severity, at.Code = SeverityWarning, CodeRemark
	at.Field, at.Message = fieldOf(text)
	if m := label.FindStringSubmatch(at.Message); m != nil && strings.HasSuffix(at.Field, "Labels") {
		at.Field += "[" + m[0] + "]"
	}
	at.Field = cmp.Or(at.Field, "spec")
	l.add(at, owner)
}

// rejected reports a refusal; rule objects have several reasons at once.
func (l *linter) rejected(at Finding, code string, err error, owner string) {
	at.Severity, at.Code = SeverityError, code
	if invalid, ok := errors.AsType[*rules.InvalidError](err); ok {
		for _, f := range invalid.Faults {
			one := at
			one.Field = f.Field
			one.Message = strings.TrimPrefix(f.String(), f.Field+": ")
			if m := entry.FindStringSubmatch(one.Message); m != nil && (strings.HasSuffix(f.Field, ".annotations") || strings.HasSuffix(f.Field, ".labels")) {
				one.Field, one.Message = fmt.Sprintf("%s[%q]", f.Field, m[1]), m[2]
			}
			l.add(one, owner)
		}
		return
	}
	for _, one := range faults.Leaves(err) {
		l.refused(at, one, owner)
	}
}

// entry matches what is said about one entry of a map.
var entry = regexp.MustCompile(`^"(\w+)": (?:template: [^ ]*: )?(.*)$`)

// refused reports one reason of a refusal.
func (l *linter) refused(at Finding, err error, owner string) {
	at.Field, at.Message = fieldOf(err.Error())
	if content, ok := errors.AsType[*assets.ContentError](err); ok {
		at = l.inContent(at, content)
	}
	if missing, ok := errors.AsType[*assets.NotFoundError](err); ok {
		at.Code = CodeMissingReference
		if l.opts.MissingReferences {
			at.Severity = SeverityWarning
		}
		at.Field = l.referring(at, missing)
		at.Message += l.instead(missing)
	}
	l.add(at, owner)
}

// jobIndex is what a key of a job begins with; the job is the object.
var jobIndex = regexp.MustCompile(`^scrape_configs\[\d+\]\.`)

// dropped reports a key of the configuration, or a field, that the version does
// not support: "global.keep_dropped_targets needs >= 2.47.0".
func (l *linter) dropped(at Finding, text string, kind *engine.Kind, owner string) {
	path, need, _ := strings.Cut(text, " needs ")
	at.Severity, at.Code = SeverityWarning, CodeDropped
	at.Field = l.tree(l.placeOf(at)).source(path)
	key := strings.TrimPrefix(jobIndex.ReplaceAllString(path, ""), at.Field)
	switch need {
	case "":
	case gate.OtherProgram:
		need = " is supported by no version of " + kind.Program + " and"
	default:
		need = " needs " + kind.Program + " " + need + " and"
	}
	at.Message = strings.TrimSpace(key + need + " is left out")
	l.add(at, owner)
}
