package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// configSecretRemark reports an Alertmanager that starts with an empty configuration, because the Secret
// with its configuration has another name, namespace or key.
func (l *linter) configSecretRemark(say says, am *v1.Alertmanager) {
	switch {
	case am.Spec.ConfigSecret != "" && am.Spec.AlertmanagerConfiguration != nil:
		say("spec.configSecret", "has no effect beside alertmanagerConfiguration, from which the configuration is made: remove one of them")
		return
	case am.Spec.ConfigSecret != "" || am.Spec.AlertmanagerConfiguration != nil:
		return // a Secret that is named and missing is an error
	}
	known := &l.objects.References
	name := am.ConfigSecretName()
	own := assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: name}
	const empty = "so alerts are grouped and sent to nobody"
	if _, err := known.Object(own); err == nil {
		if keys := known.Keys(own); len(keys) > 0 && !slices.Contains(keys, v1.AlertmanagerConfigKey) {
			say("spec.configSecret", "%s, from which the configuration is read, has no key %q, %s; it has %s", own, v1.AlertmanagerConfigKey, empty, strings.Join(keys, ", "))
		}
		return
	}
	for _, other := range known.Names(assets.Secret, am.Namespace) {
		ref := own
		ref.Name = other
		if slices.Contains(known.Keys(ref), v1.AlertmanagerConfigKey) && !l.configures(am, other) {
			say("spec.configSecret", "is not set, so the configuration is read from Secret %q, which is not among the manifests, %s; %s has %s, and no Alertmanager uses it: set configSecret: %s, or rename it",
				name, empty, ref, v1.AlertmanagerConfigKey, other)
			return
		}
	}
	instead := own
	instead.Kind = assets.ConfigMap
	if _, err := known.Object(instead); err == nil {
		say("spec.configSecret", "is not set, so the configuration is read from %s, which is not among the manifests, %s; there is a ConfigMap of this name: write it as a Secret", own, empty)
		return
	}
	if others := known.Namespaces(assets.Secret, name); len(others) > 0 {
		say("spec.configSecret", "is not set, so the configuration is read from %s, which is not among the manifests, %s; there is one in namespace %s: move it to the namespace of the Alertmanager", own, empty, others[0])
	}
}

// baseRemarks reports the remarks about the AlertmanagerConfig that an Alertmanager names, which is not among those that it
// selects.
func (l *linter) baseRemarks(w dryrun.Workload) {
	am, is := w.Object.(*v1.Alertmanager)
	if !is || am.Spec.AlertmanagerConfiguration == nil {
		return
	}
	for _, o := range l.objects.All(catalog.AlertmanagerConfig) {
		if isBase(am, o) {
			l.remarks(w, catalog.AlertmanagerConfig.Kind, o)
		}
	}
}

// configures reports whether a Secret is for an Alertmanager other than the given one, or generated.
func (l *linter) configures(except *v1.Alertmanager, name string) bool {
	return strings.HasSuffix(name, "-generated") || slices.ContainsFunc(l.objects.All(catalog.Alertmanager), func(o catalog.Object) bool {
		am := o.(*v1.Alertmanager)
		return am != except && am.Namespace == except.Namespace && am.ConfigSecretName() == name
	})
}

// located adds to an error about a missing AlertmanagerConfig where it is.
func (l *linter) located(w dryrun.Workload, err error) error {
	am, is := w.Object.(*v1.Alertmanager)
	if !is || am.Spec.AlertmanagerConfiguration == nil {
		return err
	}
	elsewhere := ""
	for _, o := range l.objects.All(catalog.AlertmanagerConfig) {
		switch {
		case o.GetName() != am.Spec.AlertmanagerConfiguration.Name:
		case o.GetNamespace() == am.Namespace:
			return err
		default:
			elsewhere = cmp.Or(elsewhere, o.GetNamespace())
		}
	}
	if elsewhere == "" {
		return err
	}
	return faults.Reword(err, func(f *faults.Finding) {
		if f.Field == "spec.alertmanagerConfiguration.name" {
			f.Reason += fmt.Sprintf(" (there is one in namespace %s, but references are to namespace %s)", elsewhere, am.Namespace)
		}
	})
}

// inBase moves a finding to the line of the AlertmanagerConfig that an Alertmanager refers to.
func (l *linter) inBase(f Finding, err *catalog.ObjectError) Finding {
	at := l.objects.Place(err.Kind, err.Namespace, err.Name)
	if t := l.tree(at); t.root != nil {
		f.File, f.Line = at.File, t.line(err.Finding.Field)
	}
	return f
}

// withoutGlobals reports whether a finding is a consequence of an error in the global settings of an Alertmanager, which
// are ignored, so that a receiver lacks one.
func (l *linter) withoutGlobals(alertmanager string, cause error) bool {
	_, lacks := errors.AsType[interface {
		error
		LacksGlobal() // of package amconfig
	}](cause)
	return lacks && slices.ContainsFunc(l.faultyFields[alertmanager], func(field string) bool {
		return within(field, "spec.alertmanagerConfiguration.global")
	})
}

// meantByName reports whether an Alertmanager refers to an AlertmanagerConfig of this name that does not exist in its
// own namespace. The finding about that reference names the namespace of this object.
func (l *linter) meantByName(object catalog.Object, all []selector) bool {
	return slices.ContainsFunc(all, func(s selector) bool {
		am, is := s.workload.Object.(*v1.Alertmanager)
		if !is || am.Spec.AlertmanagerConfiguration == nil || am.Spec.AlertmanagerConfiguration.Name != object.GetName() {
			return false
		}
		return !slices.ContainsFunc(l.objects.All(catalog.AlertmanagerConfig), func(o catalog.Object) bool {
			return isBase(am, o)
		})
	})
}
