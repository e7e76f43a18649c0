package prometheus

import (
	"fmt"
	"sync"
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/document"
	"github.com/firekeeper-dev/firekeeper/operator/fragment"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Inputs is everything that a reconciliation of an owner read.
type Inputs struct {
	// Frame is the owner's own part of the configuration; nil when the
	// configuration is left to the user.
	Frame *promconfig.Frame
	// Monitors are the selected monitors, compiled, in the order of the document.
	Monitors []Monitor
	// Rules are the selected rule objects, compiled, by namespace and name. Agents
	// have none, and none of what follows about rules.
	Rules []RuleFile
	// RuleConfigMaps are the live ConfigMaps of rules.
	RuleConfigMaps []rules.Bucket
	// RulePlan says which ConfigMap holds which rule file.
	RulePlan rules.Plan
	// Counts are the numbers of selected and rejected objects by kind.
	Counts map[string]controller.Selection
	// References are all Secrets and ConfigMaps that were asked for.
	References []assets.Ref
	// StatefulSets are the live ones of this owner, by name.
	StatefulSets map[string]*appsv1.StatefulSet
	// Claims are the claims of this owner's pods; nil when they are left alone.
	Claims []*corev1.PersistentVolumeClaim
	// DaemonSet is the live one of an agent; nil when there is none.
	DaemonSet *appsv1.DaemonSet
	// Pods are those of this owner, with what notReaders looks at.
	Pods []*corev1.Pod
	// Secrets are those that the operator made in the owner's namespace, by name and
	// as apply.DigestSecret leaves them.
	Secrets map[string]*corev1.Secret
	// TLSFiles says which of the TLS asset Secrets holds a file.
	TLSFiles map[string]int
	// Peers are the owners of the kind in the namespace, with or without this one.
	Peers []Peer
	// Now decides about the deadlines of retained shards.
	Now time.Time
}

// secret is a Secret that the operator made; nil when there is none of this name.
func (in *Inputs) secret(name string) *corev1.Secret { return in.Secrets[name] }

// Monitor is one selected monitor and what it compiled to.
type Monitor struct {
	Object informer.Object
	Kind   string
	*CompiledMonitor
}

// CompiledMonitor is a fragment whose YAML has become a piece of the document. It
// is shared.
type CompiledMonitor struct {
	promconfig.Fragment // without YAML
	Piece               *document.Piece
}

// RuleFile is one selected PrometheusRule and what it compiled to.
type RuleFile struct {
	Object *v1.PrometheusRule
	*CompiledRule
}

// CompiledRule is a rule file with the sum of its content. It is shared.
type CompiledRule struct {
	rules.Fragment
	Sum  [32]byte
	text unique.Handle[string] // of the content: see texts

	once     sync.Once // for what follows, see archived
	piece    *document.Piece
	pieceErr error
}

// Compilers cache results between reconciliations. The zero value caches nothing.
type Compilers struct {
	Monitors fragment.Cache[*CompiledMonitor]
	Rules    fragment.Cache[*CompiledRule]
}

func newCompilers() *Compilers {
	return &Compilers{
		Monitors: fragment.Cache[*CompiledMonitor]{Deps: func(m *CompiledMonitor) []assets.Dependency { return m.Deps }},
		Rules:    fragment.Cache[*CompiledRule]{Deps: func(*CompiledRule) []assets.Dependency { return nil }},
	}
}

// Gather reads what decides about an owner. The frame may be one that the caller kept
// (see frameCache). A rejected monitor or rule is data, not an error.
//
// Errors: a selector, the version or another setting of the owner is wrong; a
// Secret that it refers to itself is missing; the cluster could not be read.
func (g *gatherer) Gather(o Owner, now time.Time) (Inputs, error) {
	in := Inputs{Now: now, Counts: map[string]controller.Selection{}}
	selectors, err := selectionRules(o)
	if err != nil {
		return in, err
	}
	settings, err := o.settings(g.capabilities)
	if err != nil {
		return in, err
	}
	g.compilers.Monitors.Use(o.fragments(), settings.Key())
	g.monitors.begin(settings.Key())

	namespaces := g.cluster.NamespaceLabels
	compileMonitors(g, &in, v1.ServiceMonitorKind,
		selected(selectors[v1.ServiceMonitorKind], g.cluster.ServiceMonitors, namespaces), settings, promconfig.CompileServiceMonitor)
	compileMonitors(g, &in, v1.PodMonitorKind,
		selected(selectors[v1.PodMonitorKind], g.cluster.PodMonitors, namespaces), settings, promconfig.CompilePodMonitor)
	compileMonitors(g, &in, v1.ProbeKind,
		selected(selectors[v1.ProbeKind], g.cluster.Probes, namespaces), settings, promconfig.CompileProbe)
	compileMonitors(g, &in, v1alpha1.ScrapeConfigKind,
		selected(selectors[v1alpha1.ScrapeConfigKind], g.cluster.ScrapeConfigs, namespaces), settings, promconfig.CompileScrapeConfig)
	in.StatefulSets = map[string]*appsv1.StatefulSet{}
	for _, s := range g.cluster.StatefulSets(o.GetNamespace(), o.GetName()) {
		in.StatefulSets[s.Name] = s
	}
	if g.cluster.Pods != nil {
		in.Pods = g.cluster.Pods(o.GetNamespace(), o.GetName())
	}
	if o.Server != nil {
		rules := rules.PrometheusSettings(o.Server, settings.Target().Version)
		g.rules(o, rules, selected(selectors[v1.PrometheusRuleKind], g.cluster.PrometheusRules, namespaces), &in)
	}
	in.collectReferences()
	if err := in.temporary(); err != nil {
		return in, err
	}
	g.written(o, &in)
	if g.unmanaged(o) {
		return in, nil
	}
	var ruleConfigMaps []string
	if o.Server != nil {
		ruleConfigMaps = rules.MountNames(rules.PrometheusBase(o.GetName()), in.RulePlan.Names)
		if len(in.RulePlan.Overflow) > 0 {
			ruleConfigMaps = append(ruleConfigMaps, promconfig.ConfigRuleDir)
		}
	}
	frame, err := g.frame(o, settings, ruleConfigMaps)
	for _, d := range frame.Deps {
		in.References = append(in.References, d.Ref)
	}
	if err != nil {
		return in, err
	}
	in.Frame = &frame
	return in, nil
}

// written looks at what was written for an owner before, and what is beside it.
func (g *gatherer) written(o Owner, in *Inputs) {
	if g.cluster.Claims != nil {
		in.Claims = g.cluster.Claims(o.GetNamespace(), o.GetName())
	}
	if o.Agent != nil && g.cluster.DaemonSet != nil {
		in.DaemonSet, _ = g.cluster.DaemonSet(o.GetNamespace(), Agents.prefix+o.GetName())
	}
	in.Secrets = map[string]*corev1.Secret{}
	for _, s := range g.cluster.Secrets(o.GetNamespace()) {
		in.Secrets[s.Name] = s
	}
	in.TLSFiles = tlsFiles(o, in.Secrets)
	in.Peers = g.cluster.peers(o)
}

// GatherFrom gathers once from a cluster and keeps nothing.
func GatherFrom(cluster Cluster, o Owner, opts Options, now time.Time) (Inputs, error) {
	g := gatherer{
		cluster: cluster, capabilities: opts.Capabilities, compilers: newCompilers(), current: static,
		unmanaged: opts.unmanaged, workload: opts.Workload,
		frame: func(o Owner, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error) {
			return o.frame(s, ruleConfigMaps, cluster.References)
		},
	}
	return g.Gather(o, now)
}

// SelectFrom is GatherFrom without the owner's part of the configuration, for
// questions about monitors and rules: nothing that the owner itself refers to is read.
//
// Errors: as those of GatherFrom.
func SelectFrom(cluster Cluster, o Owner, opts Options) (Inputs, error) {
	g := gatherer{
		cluster: cluster, capabilities: opts.Capabilities, compilers: newCompilers(), current: static,
		unmanaged: func(Owner) bool { return true },
	}
	return g.Gather(o, time.Time{})
}

// static is for references that do not change.
func static([]assets.Dependency) bool { return true }

// gatherer is what Gather works with.
type gatherer struct {
	cluster      Cluster
	capabilities promconfig.Capabilities
	compilers    *Compilers
	// current reports whether what references led to has not changed.
	current   func([]assets.Dependency) bool
	monitors  *recall[*CompiledMonitor] // nil: nothing is remembered
	ruleFiles *recall[*CompiledRule]
	// unmanaged reports whether the owner's configuration is left to the user.
	unmanaged func(o Owner) bool
	workload  workload.Config
	// frame compiles the owner's part of the document, or returns a kept one.
	frame func(o Owner, s *promconfig.Settings, ruleConfigMaps []string) (promconfig.Frame, error)
}

// rules compiles the rule objects and plans their ConfigMaps.
func (g *gatherer) rules(o Owner, s rules.Settings, objects []*v1.PrometheusRule, in *Inputs) {
	key := s.Key()
	g.compilers.Rules.Use(o.fragments(), key)
	g.ruleFiles.begin(key)
	files := make(map[string]string, len(objects))
	count := controller.Selection{Selected: len(objects)}
	compiled := g.compileRules(objects, key, s)
	for i, r := range objects {
		f := compiled[i]
		in.Rules = append(in.Rules, RuleFile{Object: r, CompiledRule: f})
		if f.Err != nil {
			count.Rejected++
			continue
		}
		files[f.FileName] = f.Content
	}
	in.Counts[v1.PrometheusRuleKind] = count
	for _, m := range g.cluster.RuleConfigMaps(o.GetNamespace(), o.GetName()) {
		if owner := metav1.GetControllerOf(m); owner != nil && owner.UID != o.GetUID() {
			continue // somebody else's
		}
		in.RuleConfigMaps = append(in.RuleConfigMaps, rules.Bucket{Name: m.Name, Files: m.Data})
	}
	in.RulePlan = rules.PackWithin(rules.PrometheusBase(o.GetName()), in.RuleConfigMaps, files, g.mostRuleConfigMaps(o, in))
}

func (in *Inputs) addMonitor(kind string, obj informer.Object, m *CompiledMonitor) {
	in.Monitors = append(in.Monitors, Monitor{Object: obj, Kind: kind, CompiledMonitor: m})
	count := in.Counts[kind]
	count.Selected++
	if m.Err != nil {
		count.Rejected++
	}
	in.Counts[kind] = count
}

func (in *Inputs) collectReferences() {
	seen := map[assets.Ref]bool{}
	for _, m := range in.Monitors {
		for _, d := range m.Deps {
			if !seen[d.Ref] {
				seen[d.Ref] = true
				in.References = append(in.References, d.Ref)
			}
		}
	}
}

// temporary returns an error when some monitor could not be compiled because the
// cluster did not answer: acting now would take its targets away.
func (in *Inputs) temporary() error {
	for _, m := range in.Monitors {
		if assets.IsTemporary(m.Err) {
			return fmt.Errorf("%s %s/%s: %w", m.Kind, m.Object.GetNamespace(), m.Object.GetName(), m.Err)
		}
	}
	return nil
}
