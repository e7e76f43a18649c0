package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Rows of a list in one response.
const (
	usualRows = 100
	mostRows  = 1000
)

// longestValue is the maximum size of a parameter in bytes.
const longestValue = 4 << 10

// Param is a query parameter of a route. An empty value is equivalent to none.
type Param struct {
	Name, Doc string
	// Values are the possible values; nil for any value.
	Values []string
	// Number is true for an integer from Min to Max.
	Number            bool
	Min, Max, Default int
	// Repeat is true if it may be given several times.
	Repeat   bool
	Required bool
	// Check (optional) returns the expected form of a value; empty for a valid one.
	Check func(value string) (want string)
}

// listParams returns the parameters of lists.
func listParams() []Param {
	return []Param{
		{Name: "filter", Doc: "a part of the names of the rows"},
		{Name: "limit", Doc: "rows in the answer", Number: true, Min: 1, Max: mostRows, Default: usualRows},
		{Name: "continue", Doc: "`continue` of the answer before, for the next rows"},
	}
}

func targetParams() []Param {
	return []Param{
		{Name: "state", Doc: "of the targets", Values: words(targets.States)},
		{Name: "reason", Doc: "the beginning of the field that drops the targets, such as `spec.selector`"},
		{Name: "skip", Doc: "the beginning of the field whose dropped targets are left out, such as `spec.selector`"},
		{Name: "job", Doc: "job_name of the targets"},
		{Name: "shard", Doc: "that scrapes the targets", Number: true, Min: 0, Max: 1 << 16, Default: preview.AllShards},
	}
}

// sourceStates are the states of objects that a workload could select.
var sourceStates = words([]status.State{status.Accepted, status.Rejected, status.NotSelected, status.Unknown})

func words[T ~string](of []T) (out []string) {
	for _, v := range of {
		out = append(out, string(v))
	}
	return out
}

// isLabel accepts NAME=VALUE.
func isLabel(value string) string {
	if name, _, ok := strings.Cut(value, "="); !ok || name == "" {
		return "NAME=VALUE"
	}
	return ""
}

// query has the parsed parameters of a route.
type query struct {
	params []Param
	values url.Values
}

// parse parses the query of a URL.
//
// Errors: 400 with the name of the parameter.
func parse(params []Param, raw string) (query, error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return query{}, apierrors.NewBadRequest("the query of the URL is not valid: separate parameters with &, and encode others than letters and digits")
	}
	q := query{params, url.Values{}}
	for name, all := range values {
		if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name }) {
			return query{}, apierrors.NewBadRequest(unknownParam(params, name))
		}
		all = slices.DeleteFunc(all, func(v string) bool { return v == "" })
		if len(all) > 0 {
			q.values[name] = all
		}
	}
	for i := range params {
		if fault := params[i].fault(q.values[params[i].Name]); fault != "" {
			return query{}, apierrors.NewBadRequest(fmt.Sprintf("parameter %q: %s", params[i].Name, fault))
		}
	}
	return q, nil
}

func unknownParam(params []Param, name string) string {
	if len(name) > 100 {
		name = name[:100]
	}
	if len(params) == 0 {
		return fmt.Sprintf("parameter %q: not known here; this path has none", name)
	}
	var known []string
	for _, p := range params {
		known = append(known, p.Name)
	}
	slices.Sort(known)
	return fmt.Sprintf("parameter %q: not known here; known are %s", name, strings.Join(known, ", "))
}

// fault returns why values are invalid; empty if they are valid.
func (p *Param) fault(values []string) string {
	switch {
	case len(values) == 0 && p.Required:
		return "required"
	case len(values) > 1 && !p.Repeat:
		return "given more than once"
	}
	for _, v := range values {
		if want := p.want(v); want != "" {
			return "want " + want
		}
	}
	return ""
}

// want returns the expected form of a value; empty for a valid one.
func (p *Param) want(value string) string {
	switch n, err := strconv.Atoi(value); {
	case len(value) > longestValue:
		return fmt.Sprintf("at most %d bytes", longestValue)
	case p.Number && (err != nil || n < p.Min || n > p.Max):
		return fmt.Sprintf("an integer from %d to %d, is %q", p.Min, p.Max, cut(value))
	case p.Values != nil && !slices.Contains(p.Values, value):
		return fmt.Sprintf("one of %s, is %q", strings.Join(p.Values, ", "), cut(value))
	case p.Check != nil && p.Check(value) != "":
		return fmt.Sprintf("%s, is %q", p.Check(value), cut(value))
	}
	return ""
}

// cut shortens a value for a message.
func cut(value string) string { return excerpt.Of(value, 100) }

func (q query) string(name string) string { return q.values.Get(name) }

func (q query) strings(name string) []string { return q.values[name] }

// number returns a parameter that parse has accepted, or its default.
func (q query) number(name string) int {
	if n, err := strconv.Atoi(q.values.Get(name)); err == nil {
		return n
	}
	i := slices.IndexFunc(q.params, func(p Param) bool { return p.Name == name })
	return q.params[i].Default
}

// page returns the requested part of a list.
func (q query) page() insight.Page {
	return insight.Page{Filter: q.string("filter"), Limit: q.number("limit"), Continue: q.string("continue")}
}

// targets returns the query for targets.
func (q query) targets() insight.TargetQuery {
	return insight.TargetQuery{
		Page: q.page(), State: targets.State(q.string("state")), Reason: q.string("reason"), Skip: q.string("skip"), Job: q.string("job"), Shard: q.number("shard"),
	}
}
