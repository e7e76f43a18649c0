package explain

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Candidate is a workload that may use the object, with the setup of its controller.
type Candidate struct {
	Setup  engine.Setup
	Object v1.Workload
	// Faults of its manifest; the faulty fields are ignored. Empty for none.
	Faults string
	// Fails is set if the operator generates nothing for it.
	Fails bool
	// Unwritten is set if the user writes its configuration, not the operator.
	Unwritten bool
	// Pods is the reason why its pods do not run the selected objects; empty if none was found.
	Pods string
	// Results are the results of its reconciliation. Unlike results of a selection, they depend on the whole workload, such
	// as the global settings of an Alertmanager. Nil if it was not reconciled.
	Results []fragments.Result
}

// Ref returns the reference to the workload.
func (c Candidate) Ref() catalog.Ref {
	return catalog.RefOf(c.Setup.Row.Kind, c.Object)
}

// Unmanaged returns why this operator does not manage the workload; empty if it does.
func (c Candidate) Unmanaged() string {
	v, excluded := inquiry{c: c}.ask(workloadManaged)
	if !excluded {
		return ""
	}
	return v.Message
}

// ScopeOf returns the scope of an operator with these controllers.
func ScopeOf(setups []engine.Setup, scopes engine.Scopes) manifests.Scope {
	return manifests.Scope{
		Unmanaged: func(w dryrun.Workload) string {
			i := slices.IndexFunc(setups, func(s engine.Setup) bool { return s.Kind == w.Kind })
			return Candidate{Setup: setups[i], Object: w.Object}.Unmanaged()
		},
		Watches: scopes.For,
	}
}

// rule returns the workload's selectors for the object.
//
// Errors: a selector does not parse.
func (c Candidate) rule(q *Question) (selection.Rule, error) {
	rules, err := c.Setup.Selectors(c.Object)
	return rules[q.Row.Kind], err
}

// selects selects and compiles the object for the workload. It returns one result if the
// workload selects the object.
//
// Errors: the workload is invalid.
func (c Candidate) selects(q *Question) ([]fragments.Result, error) {
	w := dryrun.Workload{Kind: c.Setup.Kind, Object: c.Object}
	cluster := manifests.Only(q.Row, q.Object).Cluster(w)
	cluster.NamespaceLabels, cluster.References, cluster.Named = q.NamespaceLabels, q.References, q.Named
	return dryrun.Select(w, cluster)
}

// compile compiles the selected object for the workload and records the result in v.
func (c Candidate) compile(q *Question, v *Result) {
	at := slices.IndexFunc(c.Results, func(known fragments.Result) bool {
		return catalog.RefOf(known.Kind, known.Object) == catalog.RefOf(q.Row.Kind, q.Object)
	})
	if at >= 0 {
		c.became(c.Results[at], q, v)
		return
	}
	results, err := c.selects(q)
	switch {
	case len(results) == 1:
		if q.AsWritten != nil {
			results[0] = q.AsWritten(results[0])
		}
		c.became(results[0], q, v)
	case err != nil:
		v.because(WorkloadInvalid, "%v", err)
	default:
		v.because(ObjectDeleted, "the %s does not exist", q.Row)
	}
}

// became records the compiled result in v.
func (c Candidate) became(of fragments.Result, q *Question, v *Result) {
	switch {
	case assets.IsTemporary(of.Err), assets.IsRefused(of.Err): // the caller may have fewer permissions than the operator
		v.because(NotKnown, "cannot read a Secret or ConfigMap it refers to: %v", of.Err)
		return
	case of.Err != nil:
		v.because(Rejected, "%s", c.rejection(q, of.Err))
		return
	}
	c.remarks(of, q, v)
	if err := c.content(of, q, v); err != nil {
		v.because(NotKnown, "%v", err)
		return
	}
	if q.Targets != nil && len(v.Jobs) > 0 {
		v.Targets = q.Targets(c)
	}
	v.Accepted, v.Reason, v.Message = true, Accepted, "accepted"
	if v.Dropped = faults.Texts(of.Unsupported(c.Setup.Program)); len(v.Dropped) == 0 {
		return
	}
	version := "its version"
	if own := c.Object.GetWorkloadFields().Version; own != "" {
		version = "version " + own
	}
	v.Reason, v.Message = AcceptedWithoutFields, "accepted, without the fields that "+version+" does not support"
}

// content records where the compiled object is, in a separate rule file, or in jobs or sections of
// the configuration, and what these do.
//
// Errors: the compiled text cannot be parsed.
func (c Candidate) content(of fragments.Result, q *Question, v *Result) error {
	if of.File != "" {
		v.RuleFile, v.ConfigMap = of.File, c.configMap(q, of.File)
		c.alerts(q, v)
		return nil
	}
	if config, is := of.Object.(*v1alpha1.AlertmanagerConfig); is {
		for _, r := range config.Spec.Receivers {
			v.Receivers = append(v.Receivers, strings.Join([]string{config.Namespace, config.Name, r.Name}, "/"))
		}
		if am, is := c.Object.(*v1.Alertmanager); is && am.MatcherStrategy().Limits(am.Namespace, config.Namespace) {
			v.Matches = []string{fmt.Sprintf("only alerts with namespace=%q, and inhibits only these (spec.alertmanagerConfigMatcherStrategy of the Alertmanager)", config.Namespace)}
		}
		return nil
	}
	text, own, err := of.Texts()
	if err != nil {
		return err
	}
	if v.Jobs, v.Shards, err = readJobs(own, len(c.Setup.Shape(c.Object).Sets)); err != nil {
		return err
	}
	return c.looks(text, own, q, v)
}

// configMap returns the name of the live ConfigMap with a rule file; empty if there is none.
func (c Candidate) configMap(q *Question, file string) string {
	if q.RuleConfigMaps == nil {
		return ""
	}
	for _, m := range q.RuleConfigMaps(c) {
		if owner := metav1.GetControllerOf(m); owner != nil && owner.UID != c.Object.GetUID() {
			continue // left by a deleted workload of the same name
		}
		if _, has := m.Data[file]; has {
			return m.Name
		}
	}
	return ""
}

// trouble returns why the workload's pods may not run the selected objects, for example a
// failed reconciliation in its status. It is empty if no reason was found.
func (c Candidate) trouble(q *Question) string {
	if text := c.broken(q); text != "" {
		return text
	}
	if c.Faults != "" {
		return "its manifest has faults, and is read without these fields: " + c.Faults
	}
	if c.Pods != "" {
		return c.Pods
	}
	for _, condition := range c.Object.GetWorkloadStatus().Conditions {
		if condition.Type == v1.Reconciled && condition.Status == v1.ConditionFalse {
			return "the last reconciliation failed, so newer objects are not live: " + condition.Message
		}
	}
	return ""
}
