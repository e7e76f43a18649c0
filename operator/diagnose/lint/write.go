package lint

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Formats are the formats that [Report.Write] accepts.
var Formats = []string{"text", "json", "sarif", "github"}

// Write writes the report in a format: "text" (human-readable, one line per finding
// and a summary), "json", "sarif" (2.1.0, for code scanning) or "github" (workflow
// commands that annotate a change in GitHub Actions).
func (r Report) Write(w io.Writer, format string) error {
	switch format {
	case "json":
		return r.json(w)
	case "sarif":
		return r.sarif(w)
	case "github":
		return r.github(w)
	default:
		return r.text(w)
	}
}

func (r Report) text(w io.Writer) error {
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s: %s: %s [%s]", cmp.Or(f.Where(), "input"), f.Severity, f.sentence(), f.Code)
		if _, err := fmt.Fprintln(w, strings.ReplaceAll(line, "\n", `\n`)); err != nil { // a finding is one line
			return err
		}
	}
	_, err := fmt.Fprintln(w, r.summary())
	return err
}

// mostSkipped is the maximum number of files with skipped documents in the summary.
const mostSkipped = 3

func (r Report) summary() string {
	skipped := ""
	if r.Skipped > 0 {
		at := r.SkippedAt
		if more := len(at) - mostSkipped; more > 0 {
			at = append(slices.Clone(at[:mostSkipped]), fmt.Sprintf("%d more", more))
		}
		skipped = fmt.Sprintf(" (skipped %s not meant to be a manifest: %s)", report.Count(r.Skipped, "document"), strings.Join(at, ", "))
	}
	if len(r.Unbuilt) > 0 {
		skipped += fmt.Sprintf("; %s changes objects and was not built", r.Unbuilt[0])
		if r.Withheld > 0 {
			skipped += fmt.Sprintf(", and %s that it may change left out", report.Count(r.Withheld, "finding"))
		}
		skipped += ": check the output of kustomize build"
	}
	return fmt.Sprintf("%s, %s, %s in %s", report.Count(r.Count(SeverityError), "error"), report.Count(r.Count(SeverityWarning), "warning"),
		report.Count(r.Count(SeverityNote), "note"), report.Count(r.Objects, "object")) + skipped
}

// maxWorkloads is the maximum number of workloads in a line about a finding.
const maxWorkloads = 10

// sentence returns object, field, message and the first workloads.
func (f Finding) sentence() string {
	var b strings.Builder
	if f.Kind != "" {
		b.WriteString(f.Kind + " ")
		if f.Namespace != "" {
			b.WriteString(f.Namespace + "/")
		}
		b.WriteString(f.Name + ": ")
	}
	if f.Field != "" {
		b.WriteString(f.Field + ": ")
	}
	b.WriteString(f.Message)
	if len(f.Workloads) > 0 {
		b.WriteString(" (for " + excerpt.List(f.Workloads, maxWorkloads) + ")")
	}
	return b.String()
}

func (r Report) json(w io.Writer) error {
	findings := r.Findings
	if findings == nil {
		findings = []Finding{}
	}
	return report.JSON(w, struct {
		Objects  int       `json:"objects"`
		Errors   int       `json:"errors"`
		Warnings int       `json:"warnings"`
		Notes    int       `json:"notes"`
		Findings []Finding `json:"findings"`
	}{r.Objects, r.Count(SeverityError), r.Count(SeverityWarning), r.Count(SeverityNote), findings})
}

// github writes workflow commands; notes become notices.
func (r Report) github(w io.Writer) error {
	for _, f := range r.Findings {
		command := string(f.Severity)
		if f.Severity == SeverityNote {
			command = "notice"
		}
		properties := []string{"title=" + property(f.Code)}
		if f.File != "" {
			properties = append([]string{"file=" + property(f.File)}, properties...)
		}
		if f.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", f.Line))
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command, strings.Join(properties, ","), data(f.sentence())); err != nil {
			return err
		}
	}
	return nil
}

// data escapes a message, and property a property value, of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID          string    `json:"id"`
		Description sarifText `json:"shortDescription"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     Severity        `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

var sarifRules = []sarifRule{
	{CodeUnreadable, sarifText{"A file or document is not a manifest."}},
	{CodeField, sarifText{"A field is unknown or duplicated, or its value has the wrong type."}},
	{CodeInvalid, sarifText{"The API server rejects a value."}},
	{CodeRejected, sarifText{"The workload that selects the object rejects it."}},
	{CodeMissingReference, sarifText{"The object refers to a Secret or ConfigMap that does not exist."}},
	{CodeWorkload, sarifText{"Nothing can be generated for the workload."}},
	{CodeDropped, sarifText{"The version of the workload does not support a field, which is left out."}},
	{CodeRemark, sarifText{"A value has no effect or is changed before use."}},
	{CodeDuplicate, sarifText{"The object is defined twice."}},
	{CodeNotSelected, sarifText{"Nothing selects the object."}},
	{CodeNoTarget, sarifText{"What a scrape job looks for does not exist; something similar does."}},
	{CodeDuplicateTarget, sarifText{"A target is scraped twice."}},
	{CodePermission, sarifText{"The ServiceAccount of a workload may not look for its targets."}},
}

func (r Report) sarif(w io.Writer) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{"firekeeper operator lint", sarifRules}}, Results: []sarifResult{}}
	for _, f := range r.Findings {
		result := sarifResult{RuleID: f.Code, Level: f.Severity, Message: sarifText{f.sentence()}}
		if f.File != "" {
			at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{filepath.ToSlash(f.File)}}}
			if f.Line > 0 {
				at.Physical.Region = &sarifRegion{f.Line}
			}
			if f.Kind != "" {
				at.Logical = []sarifLogical{{strings.TrimSuffix(f.Kind+"/"+f.Namespace+"/"+f.Name+"/"+f.Field, "/")}}
			}
			result.Locations = []sarifLocation{at}
		}
		run.Results = append(run.Results, result)
	}
	return report.JSON(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}
