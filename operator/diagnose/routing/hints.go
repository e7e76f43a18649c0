package routing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
)

// maxHints is the maximum number of hints in a report.
const maxHints = 10

// configFields are the fields of an Alertmanager that determine its configuration.
var configFields = []string{"spec.configSecret", "spec.alertmanagerConfiguration", "spec.alertmanagerConfigMatcherStrategy"}

// Hints returns the findings of lint that may explain a report, with their places: those about the configuration of the
// Alertmanager, about the AlertmanagerConfigs on the way of the alert or nearest to it and, if it reaches no receiver, about
// AlertmanagerConfigs that are not selected. It returns none if a cluster is read.
func (s Source) Hints(r Report) (out []string) {
	if s.Live() || s.Manifests == nil || r.Route.Origin.Kind == "" {
		return nil
	}
	about := map[catalog.Ref]bool{}
	for _, step := range r.Route.steps() {
		about[step.Origin.ref()] = true
	}
	for _, near := range r.Nearest {
		about[near.Origin.ref()] = true
	}
	unreached := r.Reached() == nil
	for _, f := range s.examine().Findings() {
		ref := catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}
		config := f.Kind == v1alpha1.AlertmanagerConfigKind
		switch {
		case about[ref] && config && f.Code == lint.CodeRemark, about[ref] && !config && ofConfig(f), unreached && config && f.Code == lint.CodeNotSelected:
			out = append(out, text(f))
		}
	}
	if n := len(out) - maxHints; n > 0 {
		out = append(out[:maxHints], fmt.Sprintf("%d more; see operator lint", n))
	}
	return out
}

// Located adds the findings of lint about the configuration of an Alertmanager, with their places, to the error because
// of which there is no report.
func (s Source) Located(known Origins, err error) error {
	if err == nil || s.Live() || s.Manifests == nil || known.Alertmanager == nil {
		return err
	}
	all := []error{err}
	for _, f := range s.examine().About(v1.AlertmanagerKind, known.Alertmanager.Namespace, known.Alertmanager.Name) {
		if ofConfig(f) && len(all) <= maxHints {
			all = append(all, errors.New(text(f)))
		}
	}
	return errors.Join(all...)
}

func (s Source) examine() *lint.Examination {
	return lint.Examine(s.Manifests, s.Faults, explain.Kinds(s.Setups), lint.Options{})
}

// ofConfig reports whether a finding about an Alertmanager is about its configuration.
func ofConfig(f lint.Finding) bool {
	return slices.ContainsFunc(configFields, func(field string) bool { return strings.HasPrefix(f.Field, field) })
}

// text returns a finding with its place and object.
func text(f lint.Finding) string {
	field := ""
	if f.Field != "" {
		field = f.Field + ": "
	}
	return fmt.Sprintf("%s: %s: %s%s", f.Where(), catalog.Ref{Kind: f.Kind, Namespace: f.Namespace, Name: f.Name}, field, f.Message)
}

// ref returns the reference to the object; empty for a file.
func (o Origin) ref() catalog.Ref {
	return catalog.Ref{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// steps returns the step and all below it.
func (s Step) steps() []Step {
	out := []Step{s}
	for _, below := range s.Routes {
		out = append(out, below.steps()...)
	}
	return out
}
