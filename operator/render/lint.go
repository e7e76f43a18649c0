package render

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
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
	CodeRejected         = "rejected"          // an object that its owner refuses
	CodeMissingReference = "missing-reference" // the same, for a Secret or ConfigMap that is not there
	CodeOwner            = "owner"             // an owner that cannot be rendered
	CodeDropped          = "dropped"           // a field that the owner's version does not know
	CodeRemark           = "remark"            // a value that is not used as written
	CodeNotSelected      = "not-selected"      // an object that no owner selects
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
	// Owners the finding holds for; empty when it does not depend on one.
	Owners []string `json:"owners,omitempty"`
}

// Report is what was found, by file, line and object.
type Report struct {
	Findings []Finding
	// Objects that were looked at.
	Objects int
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

// LintOptions are what the flags say about linting.
type LintOptions struct {
	Prometheus prometheus.Options
	// Version of the Prometheus that stands in where the manifests hold none.
	Version string
	// MissingReferences makes Secrets and ConfigMaps that are not among the
	// manifests a warning.
	MissingReferences bool
}

// Lint reads manifests as [Load] does, but goes on after a fault, and runs what
// render runs for every owner. Without a Prometheus, one stands in that selects
// everything; beside agents it selects the rules, which they do not.
//
// Errors: only faults of the program itself; those of the input are findings.
func Lint(paths []string, opts LintOptions) (Report, error) {
	o := newObjects(true)
	l := &linter{objects: o, opts: opts, seen: map[string]int{}, trees: map[string]*tree{}}
	o.onFault = l.manifestFault
	if err := o.load(paths); err != nil {
		return Report{}, err
	}
	owners := o.owners()
	for _, owner := range owners {
		l.owner(owner)
	}
	if len(o.Prometheuses) == 0 {
		l.standIn = prometheus.ForServer(standIn(opts.Version, len(owners) > 0))
		l.owner(l.standIn)
	}
	if len(owners) > 0 {
		l.notSelected(owners)
	}
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return Report{Findings: l.findings, Objects: len(o.places)}, nil
}

// standIn is a Prometheus that selects everything, or only rules.
func standIn(version string, onlyRules bool) *v1.Prometheus {
	all := &metav1.LabelSelector{}
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "lint"}}
	s := &p.Spec
	s.Version = version
	s.RuleSelector, s.RuleNamespaceSelector = all, all
	if onlyRules {
		return p
	}
	s.ServiceMonitorSelector, s.ServiceMonitorNamespaceSelector = all, all
	s.PodMonitorSelector, s.PodMonitorNamespaceSelector = all, all
	s.ProbeSelector, s.ProbeNamespaceSelector = all, all
	s.ScrapeConfigSelector, s.ScrapeConfigNamespaceSelector = all, all
	return p
}

type linter struct {
	objects  *Objects
	opts     LintOptions
	standIn  prometheus.Owner // zero when a Prometheus is among the manifests
	findings []Finding
	seen     map[string]int // finding without owners → index
	trees    map[string]*tree
}

// add enters a finding once; owners for which it also holds are added to it.
func (l *linter) add(f Finding, owner string) {
	if l.standIn.Object != nil && owner == l.standIn.String() {
		owner = ""
	}
	if f.File == "" {
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

// manifestFault takes what is wrong with a manifest, field by field.
func (l *linter) manifestFault(f fault) {
	base := Finding{Severity: SeverityError, Code: CodeUnreadable, File: f.place.file, Line: l.tree(f.place).line(""), Kind: f.kind, Namespace: f.namespace, Name: f.name}
	fields := 0
	for _, err := range leaves(f.err) {
		one := base
		if at, ok := errors.AsType[*manifest.FieldError](err); ok {
			one.Code, one.Field, one.Message = CodeField, at.Path, (&manifest.FieldError{Reason: at.Reason, Suggestion: at.Suggestion}).Error()
		} else if at, ok := errors.AsType[*InvalidError](err); ok {
			one.Code, one.Field, one.Message = CodeInvalid, at.Path, at.Reason
		} else {
			continue
		}
		fields++
		one.Line = l.tree(f.place).line(one.Field)
		l.add(one, "")
	}
	if fields == 0 {
		base.Message = strings.TrimPrefix(f.err.Error(), f.place.file+": ")
		if m := lineInDocument.FindStringSubmatch(base.Message); m != nil && base.Line > 0 {
			if n, err := strconv.Atoi(m[1]); err == nil {
				base.Line += n - 1
			}
			base.Message = lineInDocument.ReplaceAllString(base.Message, "")
		}
		l.add(base, "")
	}
}

// lineInDocument is how the YAML reader says where a document is broken.
var lineInDocument = regexp.MustCompile(`\bline (\d+): `)

// leaves takes joined errors apart.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, leaves(e)...)
	}
	return out
}

// owner reports what one owner makes of the objects.
func (l *linter) owner(owner prometheus.Owner) {
	name := owner.String()
	self := Finding{Kind: owner.Kind().Name, Namespace: owner.GetNamespace(), Name: owner.GetName()}
	in, err := prometheus.GatherFrom(l.objects.cluster(), owner, l.opts.Prometheus, time.Time{})
	for _, m := range in.Monitors {
		at := Finding{Kind: m.Kind, Namespace: m.Object.GetNamespace(), Name: m.Object.GetName()}
		if m.Err != nil {
			l.rejected(at, CodeRejected, m.Err, name)
			continue
		}
		for _, d := range m.Dropped {
			l.dropped(at, d.Path, d.Need, name)
		}
	}
	for _, r := range in.Rules {
		at := Finding{Kind: v1.PrometheusRuleKind, Namespace: r.Object.Namespace, Name: r.Object.Name}
		if r.Err != nil {
			l.rejected(at, CodeRejected, r.Err, name)
			continue
		}
		for _, text := range r.Dropped {
			path, need, _ := strings.Cut(text, " needs ")
			l.dropped(at, path, need, name)
		}
	}
	if err == nil {
		var plan prometheus.Plan
		if plan, err = prometheus.Desired(owner, in, l.opts.Prometheus.Workload, prometheus.NewDocuments(nil, 0)); err == nil {
			l.ownerNotes(self, plan)
		}
	}
	if err != nil {
		l.rejected(self, CodeOwner, err, "")
	}
}

// ownerNotes reports what an owner loses itself.
func (l *linter) ownerNotes(self Finding, plan prometheus.Plan) {
	for _, text := range plan.Dropped {
		if kind, _, _ := strings.Cut(text, " "); slices.Contains(selectedKinds, kind) {
			continue // told with its object
		}
		path, need, _ := strings.Cut(text, " needs ")
		l.dropped(self, path, need, "")
	}
	for _, text := range plan.Warnings {
		f := self
		f.Severity, f.Code = SeverityWarning, CodeRemark
		f.Field, f.Message = fieldOf(text)
		l.add(f, "")
	}
}

// selectedKinds are the kinds that an owner selects.
var selectedKinds = []string{v1.ServiceMonitorKind, v1.PodMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind, v1.PrometheusRuleKind}

// rejected reports a refusal; rule objects have several reasons at once.
func (l *linter) rejected(at Finding, code string, err error, owner string) {
	at.Severity, at.Code = SeverityError, code
	if invalid, ok := errors.AsType[*rules.InvalidError](err); ok {
		for _, f := range invalid.Faults {
			one := at
			one.Field = f.Field
			one.Message = strings.TrimPrefix(f.String(), f.Field+": ")
			l.add(one, owner)
		}
		return
	}
	if missing, ok := errors.AsType[*assets.NotFoundError](err); ok && missing.Key == "" {
		at.Code = CodeMissingReference
		if l.opts.MissingReferences {
			at.Severity = SeverityWarning
		}
	}
	at.Field, at.Message = fieldOf(err.Error())
	if at.Code == CodeMissingReference {
		at.Message += " among the manifests"
	}
	l.add(at, owner)
}

// jobIndex is what a key of a job begins with; the job is the object.
var jobIndex = regexp.MustCompile(`^scrape_configs\[\d+\]\.`)

// dropped reports a key of the configuration, or a field, that the version does
// not know.
func (l *linter) dropped(at Finding, path, need, owner string) {
	at.Severity, at.Code = SeverityWarning, CodeDropped
	at.Field = l.tree(l.placeOf(at)).source(at.Kind, path)
	key := strings.TrimPrefix(jobIndex.ReplaceAllString(path, ""), at.Field)
	if need != "" {
		need = " needs Prometheus " + need + " and"
	}
	at.Message = strings.TrimSpace(key + need + " is left out")
	l.add(at, owner)
}

// notSelected reports objects that belong to no owner, and why.
func (l *linter) notSelected(owners []prometheus.Owner) {
	type parsed struct {
		name  string
		rules selection.Rules
	}
	var all []parsed
	for _, owner := range owners {
		if rules, err := prometheus.Selectors(owner); err == nil { // a wrong selector is reported with its owner
			all = append(all, parsed{owner.String(), rules})
		}
	}
	l.eachSelectable(func(kind string, obj metav1.Object) {
		if kind == v1.PrometheusRuleKind && len(l.objects.Prometheuses) == 0 {
			return // agents have no rules: they are for a Prometheus elsewhere
		}
		namespace, _ := l.objects.namespaceLabels(obj.GetNamespace())
		var reasons []string
		for _, owner := range all {
			why := owner.rules[kind].Why(obj.GetNamespace(), namespace, obj.GetLabels())
			if why == selection.Selected {
				return
			}
			reasons = append(reasons, fmt.Sprintf("%s: %s", owner.name, why))
		}
		l.add(Finding{
			Severity: SeverityNote, Code: CodeNotSelected, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(),
			Message: "nothing selects it (" + strings.Join(reasons, "; ") + ")",
		}, "")
	})
}

func (l *linter) eachSelectable(f func(kind string, obj metav1.Object)) {
	o := l.objects
	for _, m := range o.ServiceMonitors {
		f(v1.ServiceMonitorKind, m)
	}
	for _, m := range o.PodMonitors {
		f(v1.PodMonitorKind, m)
	}
	for _, m := range o.Probes {
		f(v1.ProbeKind, m)
	}
	for _, m := range o.ScrapeConfigs {
		f(v1alpha1.ScrapeConfigKind, m)
	}
	for _, m := range o.PrometheusRules {
		f(v1.PrometheusRuleKind, m)
	}
}
