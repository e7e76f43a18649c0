package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/prometheus"
)

// Options are what the operator's flags say about rendering.
type Options struct {
	Prometheus prometheus.Options
	// For keeps one owner, "KIND/NAMESPACE/NAME"; empty keeps all.
	For string
}

// Rejection is one object that an owner selects and refuses.
type Rejection struct {
	Kind, Namespace, Name, Reason string
}

// String is the line for people: `rejected KIND NAMESPACE/NAME: REASON`.
func (r Rejection) String() string {
	return fmt.Sprintf("rejected %s %s/%s: %s", r.Kind, r.Namespace, r.Name, r.Reason)
}

// Output is what the operator would write for one owner.
type Output struct {
	Owner    string // "Prometheus/monitoring/k8s"
	Objects  []apply.Object
	Rejected []Rejection
	Dropped  []string // what the owner's version does not know
	Warnings []string
	Err      error // the owner itself cannot be rendered

	plan     prometheus.Plan
	overflow []prometheus.RuleFile // rules in no ConfigMap
}

// Owners renders the owners among the objects, by namespace and name.
//
// Errors: there is no owner, or none that options.For names.
func Owners(o *Objects, opts Options) ([]Output, error) {
	owners := o.owners()
	var out []Output
	for _, owner := range owners {
		if opts.For == "" || strings.EqualFold(opts.For, owner.String()) {
			out = append(out, o.render(owner, opts.Prometheus))
		}
	}
	switch {
	case len(owners) == 0 && opts.For == "":
		return nil, errors.New("nothing to render: the manifests hold no Prometheus and no PrometheusAgent")
	case len(out) == 0:
		return nil, fmt.Errorf("no %s among the manifests (%s)", opts.For, found(owners))
	}
	return out, nil
}

// owners are all owners by namespace and name.
func (o *Objects) owners() []prometheus.Owner {
	var out []prometheus.Owner
	for _, p := range o.Prometheuses {
		out = append(out, prometheus.ForServer(p))
	}
	for _, a := range o.PrometheusAgents {
		out = append(out, prometheus.ForAgent(a))
	}
	slices.SortStableFunc(out, func(a, b prometheus.Owner) int { return strings.Compare(a.Key().String(), b.Key().String()) })
	return out
}

// peers are the owners of a kind in a namespace.
func (o *Objects) peers(kind *prometheus.Kind, namespace string) []prometheus.Peer {
	var out []prometheus.Peer
	for _, owner := range o.owners() {
		if owner.Kind() == kind && owner.GetNamespace() == namespace {
			out = append(out, prometheus.Peer{Owner: owner})
		}
	}
	return out
}

// found lists the owners, for an error.
func found(owners []prometheus.Owner) string {
	if len(owners) == 0 {
		return "they hold no Prometheus and no PrometheusAgent"
	}
	var names []string
	for _, owner := range owners {
		names = append(names, owner.String())
	}
	return "they hold " + strings.Join(names, ", ")
}

func (o *Objects) render(owner prometheus.Owner, opts prometheus.Options) Output {
	out := Output{Owner: owner.String()}
	in, err := prometheus.GatherFrom(o.cluster(), owner, opts, time.Time{})
	for _, m := range in.Monitors {
		if m.Err != nil {
			out.Rejected = append(out.Rejected, Rejection{m.Kind, m.Object.GetNamespace(), m.Object.GetName(), m.Err.Error()})
		}
	}
	for _, r := range in.Rules {
		if r.Err != nil {
			out.Rejected = append(out.Rejected, Rejection{v1.PrometheusRuleKind, r.Object.Namespace, r.Object.Name, r.Err.Error()})
		}
	}
	if err != nil {
		out.Err = err
		return out
	}
	plan, err := prometheus.Desired(owner, in, opts.Workload, prometheus.NewDocuments(nil, 0))
	if err != nil {
		out.Err = err
		return out
	}
	for _, s := range append(plan.Content, plan.Workload...) {
		if s.Verb == apply.Put || s.Verb == apply.PutIfNone {
			out.Objects = append(out.Objects, s.Object)
		}
	}
	out.Dropped, out.Warnings, out.plan = plan.Dropped, plan.Warnings, plan
	for _, r := range in.Rules {
		if _, found := slices.BinarySearch(in.RulePlan.Overflow, r.FileName); found && r.Err == nil {
			out.overflow = append(out.overflow, r)
		}
	}
	return out
}

func (o *Objects) cluster() prometheus.Cluster {
	return prometheus.Cluster{
		NamespaceLabels: o.namespaceLabels,
		ServiceMonitors: slices.Values(o.ServiceMonitors),
		PodMonitors:     slices.Values(o.PodMonitors),
		Probes:          slices.Values(o.Probes),
		ScrapeConfigs:   slices.Values(o.ScrapeConfigs),
		PrometheusRules: slices.Values(o.PrometheusRules),
		References:      &o.References,
		Peers:           o.peers,
		RuleConfigMaps:  func(string, string) []*corev1.ConfigMap { return nil },
		StatefulSets:    func(string, string) []*appsv1.StatefulSet { return nil },
		Secrets:         func(string) []*corev1.Secret { return nil },
	}
}

// Parts are the values of WriteTo's part.
var Parts = []string{"objects", "config", "rules"}

// WriteTo prints one part of the output: "objects" as manifests, "config" as the
// plain configuration, "rules" as the plain rule files, each under a comment
// with its name.
func (out Output) WriteTo(w io.Writer, part string) error {
	if part == "config" {
		if err := out.plan.WriteConfig(w); err != nil {
			return fmt.Errorf("%s: %w", out.Owner, err)
		}
		return nil
	}
	for _, object := range out.Objects {
		var err error
		if m, ok := object.(*corev1.ConfigMap); ok && part == "rules" {
			err = writeRules(w, m)
		}
		if err == nil && part == "objects" {
			err = writeObject(w, object)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", out.Owner, object.GetName(), err)
		}
	}
	for _, r := range out.overflow {
		if part != "rules" {
			break
		}
		if _, err := fmt.Fprintf(w, "---\n# with the configuration/%s\n%s", r.FileName, r.Content); err != nil {
			return fmt.Errorf("%s: %w", out.Owner, err)
		}
	}
	return nil
}

func writeRules(w io.Writer, m *corev1.ConfigMap) error {
	names := make([]string, 0, len(m.Data))
	for name := range m.Data {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "---\n# %s/%s\n%s", m.Name, name, m.Data[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeObject(w io.Writer, object apply.Object) error {
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "---\n%s", withoutStatus(text))
	return err
}

// withoutStatus drops the empty status that the Go types print.
func withoutStatus(text []byte) []byte {
	if i := bytes.Index(text, []byte("\nstatus:\n")); i >= 0 {
		return text[:i+1]
	}
	return text
}
