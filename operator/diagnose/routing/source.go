package routing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Source is where configurations and rules are read.
type Source struct{ explain.Input }

// Config returns the configuration of an Alertmanager, the only one if name is empty. In a cluster
// it is the one that the operator has written; with manifests, the one that it would write.
//
// Errors: there is no such Alertmanager; it has no configuration; the cluster cannot be read.
func (s Source) Config(ctx context.Context, name string) ([]byte, Origins, error) {
	if !s.Live() {
		return s.manifests(name)
	}
	am, err := s.alertmanager(ctx, name)
	if err != nil {
		return nil, Origins{}, err
	}
	if s.Manifests != nil {
		return s.planned(ctx, am)
	}
	return s.written(ctx, am)
}

// Configs returns the AlertmanagerConfigs among the manifests by "namespace/name", or nil without
// manifests.
func (s Source) Configs() map[string]*v1alpha1.AlertmanagerConfig {
	if s.Manifests == nil {
		return nil
	}
	return byName(s.Manifests.All(catalog.AlertmanagerConfig))
}

func byName(all []catalog.Object) map[string]*v1alpha1.AlertmanagerConfig {
	out := map[string]*v1alpha1.AlertmanagerConfig{}
	for _, o := range all {
		out[o.GetNamespace()+"/"+o.GetName()] = o.(*v1alpha1.AlertmanagerConfig)
	}
	return out
}

// manifests renders the configuration of an Alertmanager among the manifests.
func (s Source) manifests(name string) ([]byte, Origins, error) {
	var all []dryrun.Workload
	for _, w := range s.Manifests.Workloads() {
		if w.Kind.Row == catalog.Alertmanager {
			all = append(all, w)
		}
	}
	i, err := theOne(all, name, dryrun.Workload.Key, s.Where())
	if err != nil {
		return nil, Origins{}, err
	}
	return render(all[i], s.Manifests.Reconcile(all[i]), s.Manifests.All(catalog.AlertmanagerConfig))
}

// render returns the configuration of a dry run.
func render(w dryrun.Workload, made dryrun.Outcome, configs []catalog.Object) ([]byte, Origins, error) {
	if made.Err != nil {
		return nil, Origins{Alertmanager: w.Object.(*v1.Alertmanager)}, fmt.Errorf("cannot render %s: %w", w, made.Err)
	}
	var text strings.Builder
	if err := made.Plan.WriteConfig(&text); err != nil {
		return nil, Origins{}, err
	}
	return []byte(text.String()), OriginsOf(w.Object.(*v1.Alertmanager), configs, made.Results), nil
}

// theOne returns the index of the object with this name or, if name is empty, of the only
// object.
func theOne[T any](all []T, name string, key func(T) types.NamespacedName, where string) (int, error) {
	var names []string
	for i, one := range all {
		if names = append(names, key(one).String()); key(one).String() == name || name == "" && len(all) == 1 {
			return i, nil
		}
	}
	switch {
	case len(all) == 0:
		return 0, fmt.Errorf("no Alertmanager %s", where)
	case name == "":
		return 0, fmt.Errorf("several Alertmanagers %s: name one with --alertmanager (%s)", where, strings.Join(names, ", "))
	}
	return 0, fmt.Errorf("no Alertmanager %s %s (%s)", name, where, strings.Join(names, ", "))
}

// alertmanager reads the Alertmanager with this name or, if name is empty, the only one of the
// cluster.
func (s Source) alertmanager(ctx context.Context, name string) (*v1.Alertmanager, error) {
	of := catalog.Alertmanager.GroupVersionResource()
	if name != "" {
		key, err := catalog.FullKey(name)
		if err != nil {
			return nil, err
		}
		am, err := s.Reader.Get(ctx, of, key)
		if err != nil {
			return nil, fmt.Errorf("read Alertmanager %s: %w", name, err)
		}
		return am.(*v1.Alertmanager), nil
	}
	list, err := s.Reader.List(ctx, readers.Query{GroupVersionResource: of})
	if err != nil {
		return nil, fmt.Errorf("list alertmanagers (--alertmanager names one): %w", err)
	}
	i, err := theOne(list, "", func(o catalog.Object) types.NamespacedName { return catalog.KeyOf(o) }, s.Where())
	if err != nil {
		return nil, err
	}
	return list[i].(*v1.Alertmanager), nil
}

// setup returns the controller of Alertmanagers.
//
// Errors: there is none.
func (s Source) setup() (engine.Setup, error) {
	i := slices.IndexFunc(s.Setups, func(k engine.Setup) bool { return k.Row == catalog.Alertmanager })
	if i < 0 {
		return engine.Setup{}, errors.New("the operator does not run Alertmanagers")
	}
	return s.Setups[i], nil
}

// written reads the configuration that the operator has written for an Alertmanager.
func (s Source) written(ctx context.Context, am *v1.Alertmanager) (text []byte, origins Origins, err error) {
	origins.Alertmanager = am
	if text, err = s.secrets(ctx, am); err != nil {
		return nil, origins, fmt.Errorf("read the configuration of %s: %w", origins.Source(), err)
	}
	read := readers.Read(ctx, s.Reader, readers.Wanted{Kinds: []readers.Kind{{Row: catalog.AlertmanagerConfig}}})
	if len(read.Missing) > 0 {
		if apierrors.IsForbidden(read.Missing[0]) {
			return text, origins, nil // fall back to the names of the receivers
		}
		return nil, origins, read.Missing[0]
	}
	origins.Configs = byName(read.Objects[catalog.AlertmanagerConfig])
	return text, origins, nil
}

// secrets reads the configuration Secrets of an Alertmanager.
func (s Source) secrets(ctx context.Context, am *v1.Alertmanager) ([]byte, error) {
	setup, err := s.setup()
	if err != nil {
		return nil, err
	}
	read := func(name string) (map[string][]byte, error) {
		o, err := s.Reader.Get(ctx, readers.Secrets, types.NamespacedName{Namespace: am.Namespace, Name: name})
		if err != nil {
			return nil, err
		}
		return o.(*corev1.Secret).Data, nil
	}
	base := workload.Base{Kind: setup.Names, Meta: &am.ObjectMeta}
	key, name := base.Kind.ConfigSecret.Key, base.ConfigSecretName()
	where := fmt.Sprintf("Secret %s/%s", am.Namespace, name)
	files, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if _, has := files[key]; !has {
		return nil, fmt.Errorf("%s: has no key %s", where, key)
	}
	for i := 1; i <= workload.ConfigParts && files[parts.ListName] != nil; i++ {
		part, err := read(base.ConfigPartName(i))
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read Secret %s/%s: %w", am.Namespace, base.ConfigPartName(i), err)
		}
		if err == nil {
			files[parts.ConfigName(i)] = part[parts.ConfigName(i)]
		}
	}
	text, _, err := parts.Read(files, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return text, nil
}

// planned renders the configuration that the operator would write for an Alertmanager of a cluster
// with the manifests applied.
func (s Source) planned(ctx context.Context, am *v1.Alertmanager) ([]byte, Origins, error) {
	setup, err := s.setup()
	if err != nil {
		return nil, Origins{}, err
	}
	kind := readers.Kind{Row: catalog.AlertmanagerConfig, In: s.Scopes.For(catalog.AlertmanagerConfig)}
	read := readers.Read(ctx, s.Reader, readers.Wanted{Kinds: []readers.Kind{kind}, NamespaceLabels: true, Complete: true})
	if len(read.Missing) > 0 {
		return nil, Origins{}, read.Missing[0]
	}
	configs := slices.DeleteFunc(read.Objects[kind.Row], func(o catalog.Object) bool { return !kind.In.Has(o.GetNamespace()) })
	slices.SortFunc(configs, func(a, b catalog.Object) int { return informer.CompareKeys(a, b) })
	references := newAssumed(s.Reader.References(ctx), append([]catalog.Object{am}, configs...))
	cluster := engine.Cluster{
		NamespaceLabels: read.NamespaceLabels, References: references,
		Objects: func(kind string) iter.Seq[catalog.Object] {
			if kind != catalog.AlertmanagerConfig.Kind {
				return slices.Values[[]catalog.Object](nil)
			}
			return slices.Values(configs)
		},
		Named: func(row *catalog.Row, name types.NamespacedName) (catalog.Object, error) {
			o, err := s.Reader.Get(ctx, row.GroupVersionResource(), name)
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return o, err
		},
		Live: engine.Live{StatefulSets: map[string]*appsv1.StatefulSet{}, Secrets: map[string]*corev1.Secret{}},
	}.Offline()
	w := dryrun.Workload{Kind: setup.Kind, Object: am}
	made := dryrun.Run(w, cluster)
	made.Err = cmp.Or(made.Err, made.Plan.Withheld)
	for i, v := range made.Results {
		made.Results[i] = s.Manifests.AsWritten(v)
	}
	text, origins, err := render(w, made, configs)
	origins.Assumed = references.refused()
	return text, origins, err
}

// alertLabels returns the labels of the alert of a rule, and notes about them. The given labels override
// those of the rule, and select among rules of the same name.
//
// Errors: the rule does not exist or cannot be read; it has no such alert, or several.
func (s Source) Alert(ctx context.Context, rule, alert string, given Labels) (Labels, []string, error) {
	name, err := explain.ParseName(explain.Kinds(s.Setups), strings.ToLower(v1.PrometheusRuleKind), rule)
	if err != nil {
		return nil, nil, err
	}
	q, err := s.Question(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	uses, err := q.Uses()
	if err != nil {
		return nil, nil, err
	}
	var files []RuleFile
	for _, u := range uses {
		external, notes := externalLabels(u.Object)
		files = append(files, RuleFile{Workload: u.String(), Text: []byte(u.Text), External: external, Notes: notes})
	}
	if len(files) == 0 {
		rule, is := q.Object.(*v1.PrometheusRule)
		if !is {
			return nil, nil, errors.New("not a PrometheusRule")
		}
		text, err := yaml.Marshal(rule.Spec)
		if err != nil {
			return nil, nil, err
		}
		files = []RuleFile{{Text: text, Notes: []string{"nothing uses the PrometheusRule, so no external labels are known"}}}
	}
	return alertLabels(alert, files, given)
}
