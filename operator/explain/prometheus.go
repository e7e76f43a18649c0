package explain

import (
	"iter"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// Prometheus makes a candidate of a Prometheus or PrometheusAgent.
func Prometheus(o prometheus.Owner) Candidate { return prometheusOwner{o} }

type prometheusOwner struct{ prometheus.Owner }

func (o prometheusOwner) Kind() string { return o.Owner.Kind().Name }

func (o prometheusOwner) Paused() bool { return o.Fields.Paused }

func (o prometheusOwner) Selects(kind string) bool {
	return kind != v1.PrometheusRuleKind || o.Server != nil
}

// selectorFields are the names before "Selector" in the spec.
var selectorFields = map[string]string{
	v1.ServiceMonitorKind: "serviceMonitor", v1.PodMonitorKind: "podMonitor", v1.ProbeKind: "probe",
	v1alpha1.ScrapeConfigKind: "scrapeConfig", v1.PrometheusRuleKind: "rule",
}

func (o prometheusOwner) Rule(kind string) (selection.Rule, string, error) {
	rules, err := prometheus.Selectors(o.Owner)
	return rules[kind], selectorFields[kind], err
}

func (o prometheusOwner) Compile(q *Question, opts prometheus.Options, v *Verdict) {
	in, err := prometheus.SelectFrom(q.cluster(), o.Owner, opts)
	switch {
	case len(in.Monitors) == 1:
		o.monitor(in.Monitors[0], v)
	case len(in.Rules) == 1:
		rule(in, v)
	case err != nil:
		v.because(OwnerInvalid, "%v", err)
	default:
		v.because(ObjectDeleted, "the %s does not exist", q.Kind)
	}
}

func (o prometheusOwner) monitor(m prometheus.Monitor, v *Verdict) {
	switch {
	case assets.IsTemporary(m.Err), assets.IsRefused(m.Err): // whoever asks may have fewer permissions than the operator
		v.because(NotKnown, "cannot read a Secret or ConfigMap it refers to: %v", m.Err)
		return
	case m.Err != nil:
		v.because(Rejected, "%v", m.Err)
		return
	}
	v.Accepted, v.Reason, v.Message = true, Accepted, "accepted"
	var text strings.Builder
	_, err := m.Piece.WriteTo(&text)
	if err == nil {
		v.Jobs, v.Shards, err = readJobs(text.String(), o.shards())
	}
	if err != nil {
		v.Accepted = false
		v.because(NotKnown, "%v", err)
		return
	}
	for _, d := range m.Dropped {
		v.Dropped = append(v.Dropped, d.String())
	}
	v.without(o.Fields.Version)
}

// without says that the version does not support some fields.
func (v *Verdict) without(version string) {
	if len(v.Dropped) == 0 {
		return
	}
	v.Reason, v.Message = AcceptedWithoutFields, "accepted, without the fields that its version does not support"
	if version != "" {
		v.Message = "accepted, without the fields that version " + version + " does not support"
	}
}

func rule(in prometheus.Inputs, v *Verdict) {
	r := in.Rules[0]
	if r.Err != nil {
		v.because(Rejected, "%v", r.Err)
		return
	}
	v.Accepted, v.Reason, v.Message = true, Accepted, "accepted"
	v.RuleFile, v.Dropped = r.FileName, r.Dropped
	for _, m := range in.RuleConfigMaps {
		if _, has := m.Files[r.FileName]; has {
			v.ConfigMap = m.Name
		}
	}
	v.without("")
}

// shards is how many there should be; 0 means one on each node.
func (o prometheusOwner) shards() int {
	if o.Agent != nil && o.Agent.Spec.Mode == v1alpha1.DaemonSetPrometheusAgentMode {
		return 0
	}
	if o.Fields.Shards == nil {
		return 1
	}
	return max(1, int(*o.Fields.Shards))
}

// Trouble is what the owner's status complains about.
func (o prometheusOwner) Trouble() string {
	for _, c := range o.Status.Conditions {
		if c.Type == v1.Reconciled && c.Status == v1.ConditionFalse {
			return "the last reconciliation failed, so newer objects are not live: " + c.Message
		}
	}
	return ""
}

// cluster is one in which the object is alone.
func (q *Question) cluster() prometheus.Cluster {
	return prometheus.Cluster{
		NamespaceLabels: q.NamespaceLabels,
		ServiceMonitors: only[*v1.ServiceMonitor](q.Object),
		PodMonitors:     only[*v1.PodMonitor](q.Object),
		Probes:          only[*v1.Probe](q.Object),
		ScrapeConfigs:   only[*v1alpha1.ScrapeConfig](q.Object),
		PrometheusRules: only[*v1.PrometheusRule](q.Object),
		References:      q.References,
		RuleConfigMaps: func(namespace, owner string) []*corev1.ConfigMap {
			if q.Kind != v1.PrometheusRuleKind || q.RuleConfigMaps == nil {
				return nil
			}
			return q.RuleConfigMaps(namespace, owner)
		},
		StatefulSets: func(string, string) []*appsv1.StatefulSet { return nil },
		Secrets:      func(string) []*corev1.Secret { return nil },
	}
}

// only yields the object when it is of a type.
func only[T any](object any) iter.Seq[T] {
	return func(yield func(T) bool) {
		if o, ok := object.(T); ok {
			yield(o)
		}
	}
}
