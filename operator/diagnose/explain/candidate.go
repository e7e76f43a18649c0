package explain

import (
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/compiled"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Candidate is a workload that may use the object, and how its controller runs.
type Candidate struct {
	Setup  engine.Setup
	Object v1.Workload
	// Faults of its manifest; it is read without the fields that have them. Empty for none.
	Faults string
	// Fails says that the operator generates nothing for it.
	Fails bool
	// Pods says why its pods do not have what the workload selects; empty when nothing is known.
	Pods string
}

// Ref names the workload.
func (c Candidate) Ref() catalog.Ref {
	return catalog.Ref{Kind: c.Setup.Row.Kind, Namespace: c.Object.GetNamespace(), Name: c.Object.GetName()}
}

// Unmanaged says why this operator does not run the workload; empty when it does.
func (c Candidate) Unmanaged() string {
	v, excluded := inquiry{c: c}.ask(workloadManaged)
	if !excluded {
		return ""
	}
	return v.Message
}

// rule returns the workload's selectors for the object.
//
// Errors: a selector does not parse.
func (c Candidate) rule(q *Question) (selection.Rule, error) {
	rules, err := c.Setup.Selectors(c.Object)
	return rules[q.Row.Kind], err
}

// selects has the workload select and compile the object: one verdict if it selects it.
//
// Errors: the workload is wrong.
func (c Candidate) selects(q *Question) ([]compiled.Verdict, error) {
	w := manifests.Workload{Kind: c.Setup.Kind, Object: c.Object}
	cluster := manifests.Only(q.Row, q.Object).Cluster(w)
	cluster.NamespaceLabels, cluster.References = q.NamespaceLabels, q.References
	return manifests.Select(w, cluster)
}

// compile says what the workload makes of the object that it selects.
func (c Candidate) compile(q *Question, v *Verdict) {
	verdicts, err := c.selects(q)
	switch {
	case len(verdicts) == 1:
		if q.AsWritten != nil {
			verdicts[0] = q.AsWritten(verdicts[0])
		}
		c.became(verdicts[0], q, v)
	case err != nil:
		v.because(OwnerInvalid, "%v", err)
	default:
		v.because(ObjectDeleted, "the %s does not exist", q.Row)
	}
}

// became says what became of the object.
func (c Candidate) became(of compiled.Verdict, q *Question, v *Verdict) {
	switch {
	case assets.IsTemporary(of.Err), assets.IsRefused(of.Err): // whoever asks may have fewer permissions than the operator
		v.because(NotKnown, "cannot read a Secret or ConfigMap it refers to: %v", of.Err)
		return
	case of.Err != nil:
		v.because(Rejected, "%s", c.rejection(q, of.Err))
		return
	}
	c.remarks(of, q, v)
	if err := errors.Join(c.place(of, q, v), c.looks(of, q, v)); err != nil {
		v.because(NotKnown, "%v", err)
		return
	}
	if q.Targets != nil && len(v.Jobs) > 0 {
		v.Targets = q.Targets(c)
	}
	v.Accepted, v.Reason, v.Message = true, Accepted, "accepted"
	if v.Dropped = of.Dropped; len(v.Dropped) == 0 {
		return
	}
	version := "its version"
	if own := c.Object.GetWorkloadFields().Version; own != "" {
		version = "version " + own
	}
	v.Reason, v.Message = AcceptedWithoutFields, "accepted, without the fields that "+version+" does not support"
}

// place says where the object is: in a file of its own, or in jobs or sections of the
// configuration.
//
// Errors: what it became cannot be read.
func (c Candidate) place(of compiled.Verdict, q *Question, v *Verdict) error {
	if of.File != "" {
		v.RuleFile, v.ConfigMap = of.File, c.configMap(q, of.File)
		return nil
	}
	var text strings.Builder
	if _, err := of.Text.WriteTo(&text); err != nil {
		return err
	}
	var err error
	if strings.HasPrefix(text.String(), "- ") || text.Len() == 0 {
		v.Jobs, v.Shards, err = readJobs(text.String(), len(c.Setup.Shape(c.Object).Sets))
	} else {
		v.Receivers, err = readReceivers(text.String())
	}
	return err
}

// configMap is the live ConfigMap with a rule file; empty when there is none.
func (c Candidate) configMap(q *Question, file string) string {
	if q.RuleConfigMaps == nil {
		return ""
	}
	for _, m := range q.RuleConfigMaps(c) {
		if owner := metav1.GetControllerOf(m); owner != nil && owner.UID != c.Object.GetUID() {
			continue // of a former workload of this name
		}
		if _, has := m.Data[file]; has {
			return m.Name
		}
	}
	return ""
}

// trouble says why the workload's pods may not have what it selects: what its status
// complains about. It is empty when nothing is known.
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
