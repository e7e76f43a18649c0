package rules

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	results "github.com/prometheus/prometheus/promql" // promql is a function of tests
	"github.com/prometheus/prometheus/template"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

const (
	// mostExecuted is the maximum number of templates of an object that are executed.
	mostExecuted = 5_000
	// mostExecutedBytes is the maximum length of a template that is executed.
	mostExecutedBytes = 4 << 10
	// mostOutput is the length of the output of all templates of an object after which no further one is executed.
	mostOutput = 4 << 20
)

var (
	// plainAction matches an action that writes the value or a label, and never fails.
	plainAction = lazyregexp.New(`\{\{-?\s*\$(?:value|labels\.\w+)\s*-?\}\}`)
	// repeating matches actions that may execute others several times.
	repeating = lazyregexp.New(`\{\{-?\s*(?:range|template|block|define)\b`)
	// failedAt matches the error of an execution: the action, and the reason.
	failedAt = lazyregexp.New(`(?s) at <(.*?)>: (.*)$`)
	// sureFailure matches the reasons that do not depend on the alert.
	sureFailure = lazyregexp.New(`incompatible types for comparison: (?:float64|string|int|bool) and (?:float64|string|int|bool)$|^wrong number of args for |^wrong type for value; expected |^can't evaluate field \w+ in type (?:string|float64)$|error parsing regexp: `)
	// misformatted matches what printf writes for arguments that do not fit its format.
	misformatted = lazyregexp.New(`%!(?:[a-zA-Z]\(\w+=[^)]{0,40}\)|[a-zA-Z]\(MISSING\)|\((?:EXTRA|NOVERB)[^)]{0,40}\))`)
)

// Failure is why the text of a template is not the intended one, for every alert.
type Failure struct {
	Action string // that fails, shortened; empty if the output is wrong
	Reason string // of the failure
	Output string // of printf for an argument that does not fit
}

// Executions executes the templates of the alerts of one object.
type Executions struct {
	effort           *templatecost.Budget
	executed, output int
}

// Execute executes a template for an alert with a few labels and the value 1, and returns why it fails for each alert, nil if
// it may not. Templates with loops are not executed, nor ones that cost more than those of rules may.
func (e *Executions) Execute(text string) *Failure {
	if len(text) > mostExecutedBytes || !strings.Contains(text, "{{") || !strings.Contains(plainAction.ReplaceAllString(text, ""), "{{") || repeating.MatchString(text) {
		return nil
	}
	if e.effort == nil {
		e.effort = templatecost.ForAlerts()
	}
	if e.executed++; e.executed > mostExecuted || e.output > mostOutput {
		return nil
	}
	e.effort.NextAlert(templatePrefix)
	if e.effort.Add(prelude+text) != nil {
		return nil
	}
	out, err := expand(text)
	e.output += len(out)
	if err != nil {
		m := failedAt.FindStringSubmatch(err.Error())
		if m == nil || !sureFailure.MatchString(m[2]) {
			return nil
		}
		return &Failure{Action: m[1], Reason: m[2]}
	}
	if wrong := misformatted.Get().FindString(out); wrong != "" && !strings.Contains(text, "%!") {
		return &Failure{Output: wrong}
	}
	return nil
}

// expand returns the output of a template for an alert with the value 1.
func expand(text string) (string, error) {
	has := map[string]string{"alertname": "Alert", "instance": "10.0.0.1:9100", "job": "job", "namespace": "namespace", "pod": "pod-0", "severity": "warning"}
	sample := results.Sample{F: 1, Metric: labels.FromMap(has)}
	query := func(context.Context, string, time.Time) (results.Vector, error) { return results.Vector{sample}, nil }
	at := &url.URL{Scheme: "http", Host: "prometheus:9090"}
	data := template.AlertTemplateData(has, map[string]string{}, at.String(), sample)
	return template.NewTemplateExpander(context.Background(), prelude+text, templatePrefix, data, model.Time(0), query, at, nil).Expand()
}
