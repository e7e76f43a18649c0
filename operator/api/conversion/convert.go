package conversion

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1beta1"
)

// Supported versions.
var (
	alpha = v1alpha1.SchemeGroupVersion.String()
	beta  = v1beta1.SchemeGroupVersion.String()
)

// Convert converts an object in JSON to another version of its kind.
//
// Errors: text that is not a JSON object; another kind; other versions. The contents of spec
// and metadata never cause an error.
func Convert(raw []byte, version string) ([]byte, error) {
	if !json.Valid(raw) {
		return nil, errors.New("the object is not valid JSON")
	}
	c := conversion{document: raw}
	top := c.blanks(0)
	if c.document[top] != '{' {
		return nil, errors.New("the object is not a JSON object")
	}
	c.top, _ = c.object(top)
	kind, _ := only(c.top, "kind")
	own, times := only(c.top, "apiVersion")
	from := ""
	if times == 1 {
		from = c.text(own.at, own.end)
	}
	switch {
	case kind.name == "" || c.text(kind.at, kind.end) != v1alpha1.AlertmanagerConfigKind:
		return nil, errors.New("the kind has one version only")
	case from == alpha && version == beta:
		c.toBeta = true
	case from != beta || version != alpha:
		return nil, fmt.Errorf("cannot convert from %q to %q, only between %s and %s", from, version, alpha, beta)
	}
	c.edits = append(c.edits, edit{own.at, own.end, `"` + version + `"`})
	c.metadata()
	for _, f := range c.top {
		if f.name == "spec" {
			c.spec(f.at)
		}
	}
	c.annotate()
	return c.edited(c.edits), nil
}

// conversion is the state of the conversion of one object.
type conversion struct {
	document
	toBeta bool
	top    []field
	edits  []edit
	carrier
}

// Names of the renamed field of spec, in v1alpha1 and in v1beta1.
const (
	alphaIntervals = "muteTimeIntervals"
	betaIntervals  = "timeIntervals"
)

// spec converts the value of spec.
func (c *conversion) spec(at int) {
	old, other := alphaIntervals, betaIntervals
	if !c.toBeta {
		old, other = other, old
	}
	var renamed []edit
	taken := false
	c.fields(at, func(f field) int {
		switch f.name {
		case old:
			renamed = append(renamed, edit{f.key, f.keyed, `"` + other + `"`})
		case other:
			taken = true
		case "route":
			return c.route(f.at)
		case "inhibitRules":
			return c.items(f.at, func(_, at int) int { return c.inhibitRule(at) })
		case "receivers":
			return c.items(f.at, func(_, at int) int { return c.receiver(at) })
		}
		return c.skip(f.at)
	})
	if !taken { // otherwise one would overwrite the other
		c.edits = append(c.edits, renamed...)
	}
}

// route converts a route and its child routes, which have no schema.
func (c *conversion) route(at int) (end int) {
	return c.fields(at, func(f field) int {
		switch f.name {
		case "matchers":
			return c.matchers(f.at)
		case "routes":
			return c.items(f.at, func(_, at int) int { return c.route(at) })
		}
		return c.skip(f.at)
	})
}

// inhibitRule converts the matchers of an inhibition rule.
func (c *conversion) inhibitRule(at int) (end int) {
	return c.fields(at, func(f field) int {
		if f.name == "sourceMatch" || f.name == "targetMatch" {
			return c.matchers(f.at)
		}
		return c.skip(f.at)
	})
}

// matchers sets matchType in the matchers of v1alpha1, because v1beta1 has no regex.
func (c *conversion) matchers(at int) (end int) {
	if !c.toBeta {
		return c.skip(at)
	}
	return c.items(at, func(_, at int) int {
		all, end := c.object(at)
		if c.document[at] == '{' {
			c.edits = append(c.edits, c.operator(all, end)...)
		}
		return end
	})
}

// operator returns the edits of a matcher. There are none if matchType or regex is invalid.
func (c *conversion) operator(all []field, end int) []edit {
	matchType, types := only(all, "matchType")
	regex, flags := only(all, "regex")
	if types > 1 || flags > 1 {
		return nil
	}
	unset := types == 0
	if types == 1 {
		switch value := string(c.document[matchType.at:matchType.end]); {
		case value == "null" || value == `""`:
			unset = true
		case value[0] != '"':
			return nil
		}
	}
	operator := `"="`
	if flags == 1 {
		switch string(c.document[regex.at:regex.end]) {
		case "true":
			operator = `"=~"`
		case "false", "null":
		default:
			return nil
		}
	}
	var out []edit
	switch {
	case unset && types == 0 && flags == 1:
		return []edit{{regex.key, regex.end, `"matchType":` + operator}}
	case unset && types == 0:
		return []edit{added(all, end, "matchType", operator)}
	case unset:
		out = append(out, edit{matchType.at, matchType.end, operator})
	}
	if flags == 1 {
		out = append(out, removed(all, "regex"))
	}
	return out
}

// FromBeta converts an object from v1beta1. It neither modifies its argument nor shares memory
// with it.
//
// Errors: fields of child routes that v1beta1 does not have, each with its path, joined; child
// routes that are not JSON, which no decoder returns.
func FromBeta(in *v1beta1.AlertmanagerConfig) (*v1alpha1.AlertmanagerConfig, error) {
	if err := onlyAlpha(in.Spec.Route); err != nil {
		return nil, err
	}
	in = in.DeepCopy()
	in.SetGroupVersionKind(v1beta1.GroupVersionKind(v1beta1.AlertmanagerConfigKind))
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	converted, err := Convert(raw, alpha)
	if err != nil {
		return nil, err
	}
	out := &v1alpha1.AlertmanagerConfig{}
	return out, json.Unmarshal(converted, out)
}

// onlyAlpha returns an error for each v1alpha1 field that v1beta1 does not have in the child
// routes. They have no schema, so that these fields would be valid after the conversion.
func onlyAlpha(top *v1beta1.Route) error {
	if top == nil {
		return nil
	}
	var errs faults.List
	for i, raw := range top.Routes {
		var child childRoute
		_ = json.Unmarshal(raw.Raw, &child) // a value that is not a route is reported when it is compiled
		child.onlyAlpha(fmt.Sprintf("spec.route.routes[%d]", i), &errs)
	}
	return errs.Err()
}

// childRoute has the fields of a route that onlyAlpha checks.
type childRoute struct {
	Matchers []struct {
		Regex json.RawMessage `json:"regex"`
	} `json:"matchers"`
	Routes []childRoute `json:"routes"`
}

func (r *childRoute) onlyAlpha(path string, errs *faults.List) {
	if errs.Full() {
		return
	}
	for i, m := range r.Matchers {
		if m.Regex != nil {
			errs.Add("", &manifest.FieldError{Path: fmt.Sprintf("%s.matchers[%d].regex", path, i), Reason: "unknown field"})
		}
	}
	for i := range r.Routes {
		r.Routes[i].onlyAlpha(fmt.Sprintf("%s.routes[%d]", path, i), errs)
	}
}

// BetaError returns an error about a v1alpha1 object in terms of v1beta1.
func BetaError(err error) error {
	return faults.Reword(err, func(f *faults.Finding) { f.Field = betaField(f.Field) })
}

// betaField returns the path in v1beta1 of a field of v1alpha1.
func betaField(field string) string {
	const renamed = "spec." + alphaIntervals
	if rest, is := strings.CutPrefix(field, renamed); is && (rest == "" || rest[0] == '[' || rest[0] == '.') {
		return "spec." + betaIntervals + rest
	}
	return field
}
