package commands

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// maxConfigBytes limits the size of an Alertmanager configuration.
const maxConfigBytes = 256 << 20

// routeSources are the sources that the command route reads.
type routeSources struct {
	setups  []engine.Setup
	objects *manifests.Objects // nil to read the cluster
	live    apiserver.Reader
}

// open loads the manifests, or connects to the cluster if it is needed.
func (r *routeOptions) open(ctx context.Context, o *Options) (s routeSources, err error) {
	version := r.kubernetesVersion
	if len(r.files) == 0 && (r.configFile == "" || r.rule != "") {
		if s.live, version, err = o.connect(ctx); err != nil {
			return s, err
		}
	}
	kubernetes, err := parseKubernetes(version)
	if err != nil {
		return s, err
	}
	if s.setups, _, err = o.setups(kubernetes); err != nil {
		return s, err
	}
	if len(r.files) > 0 {
		defer o.reading(r.files...)()
		s.objects, err = manifests.Load(r.files, explain.Kinds(s.setups))
	}
	return s, err
}

// config returns the configuration and its origins.
func (s routeSources) config(ctx context.Context, o *Options, r *routeOptions) ([]byte, routing.Origins, error) {
	switch {
	case r.configFile != "":
		origins := routing.Origins{File: r.configFile, Configs: s.manifestConfigs()}
		if standardInput(r.configFile) {
			origins.File = "standard input"
		}
		defer o.reading(r.configFile)()
		text, err := readConfig(r.configFile)
		return text, origins, err
	case s.objects != nil:
		return s.manifests(r.alertmanager)
	}
	return s.cluster(ctx, r.alertmanager)
}

// readConfig reads a file or standard input.
func readConfig(name string) ([]byte, error) {
	f := os.Stdin
	if !standardInput(name) {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	text, err := limited(f)
	if err == nil && bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		text, err = gunzip(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

func gunzip(text []byte) ([]byte, error) {
	in, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return limited(in)
}

func limited(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxConfigBytes+1))
	if err == nil && len(text) > maxConfigBytes {
		err = fmt.Errorf("longer than %d bytes", maxConfigBytes)
	}
	return text, err
}

// manifestConfigs returns the AlertmanagerConfigs among the manifests, or nil without
// manifests.
func (s routeSources) manifestConfigs() map[string]*v1alpha1.AlertmanagerConfig {
	if s.objects == nil {
		return nil
	}
	out := map[string]*v1alpha1.AlertmanagerConfig{}
	for _, object := range s.objects.All(catalog.AlertmanagerConfig) {
		out[object.GetNamespace()+"/"+object.GetName()] = object.(*v1alpha1.AlertmanagerConfig)
	}
	return out
}

// manifests renders the configuration of an Alertmanager among the manifests.
func (s routeSources) manifests(name string) ([]byte, routing.Origins, error) {
	var all []dryrun.Workload
	for _, w := range s.objects.Workloads() {
		if w.Kind.Row == catalog.Alertmanager {
			all = append(all, w)
		}
	}
	i, err := theOne(all, name, dryrun.Workload.Key, "among the manifests")
	if err != nil {
		return nil, routing.Origins{}, err
	}
	made := s.objects.Reconcile(all[i])
	if made.Err != nil {
		return nil, routing.Origins{}, fmt.Errorf("cannot render %s: %w", all[i], made.Err)
	}
	var text bytes.Buffer
	if err := made.Plan.WriteConfig(&text); err != nil {
		return nil, routing.Origins{}, err
	}
	return text.Bytes(), routing.OriginsOf(all[i].Object.(*v1.Alertmanager), s.objects.All(catalog.AlertmanagerConfig), made.Verdicts), nil
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

// cluster reads the configuration that the operator has written for an Alertmanager.
func (s routeSources) cluster(ctx context.Context, name string) (text []byte, origins routing.Origins, err error) {
	if origins.Alertmanager, err = s.alertmanager(ctx, name); err != nil {
		return nil, origins, err
	}
	if text, err = s.written(ctx, origins.Alertmanager); err != nil {
		return nil, origins, fmt.Errorf("read the configuration of %s: %w", origins.Source(), err)
	}
	var list v1alpha1.AlertmanagerConfigList
	err = s.live.CRDs[v1alpha1.SchemeGroupVersion].REST().Get().Resource(v1alpha1.AlertmanagerConfigResource).Do(ctx).Into(&list)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err): // fall back to the names of the receivers
		return text, origins, nil
	case err != nil:
		return nil, origins, fmt.Errorf("list alertmanagerconfigs: %w", err)
	}
	origins.Configs = map[string]*v1alpha1.AlertmanagerConfig{}
	for i := range list.Items {
		origins.Configs[list.Items[i].Namespace+"/"+list.Items[i].Name] = &list.Items[i]
	}
	return text, origins, nil
}

// written reads the configuration Secrets of an Alertmanager.
func (s routeSources) written(ctx context.Context, am *v1.Alertmanager) ([]byte, error) {
	i := slices.IndexFunc(s.setups, func(k engine.Setup) bool { return k.Row == catalog.Alertmanager })
	if i < 0 {
		return nil, errors.New("the operator does not run Alertmanagers")
	}
	base := workload.Base{Kind: s.setups[i].Names, Meta: &am.ObjectMeta}
	key, name := base.Kind.ConfigSecret.Key, base.ConfigSecretName()
	where := fmt.Sprintf("Secret %s/%s", am.Namespace, name)
	secrets := s.live.Kube.CoreV1().Secrets(am.Namespace)
	secret, err := secrets.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if _, has := secret.Data[key]; !has {
		return nil, fmt.Errorf("%s: has no key %s", where, key)
	}
	files := secret.Data
	for i := 1; i <= workload.ConfigParts && files[parts.ListName] != nil; i++ {
		part, err := secrets.Get(ctx, base.ConfigPartName(i), metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read Secret %s/%s: %w", am.Namespace, base.ConfigPartName(i), err)
		}
		if err == nil {
			files[parts.ConfigName(i)] = part.Data[parts.ConfigName(i)]
		}
	}
	text, _, err := parts.Read(files, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return text, nil
}

// alertmanager reads the Alertmanager with this name or, if name is empty, the only one
// of the cluster.
func (s routeSources) alertmanager(ctx context.Context, name string) (*v1.Alertmanager, error) {
	ask := s.live.CRDs[v1.SchemeGroupVersion].REST().Get().Resource(v1.AlertmanagerResource)
	if name != "" {
		key, err := catalog.FullKey(name)
		if err != nil {
			return nil, err
		}
		am := &v1.Alertmanager{}
		if err := ask.Namespace(key.Namespace).Name(key.Name).Do(ctx).Into(am); err != nil {
			return nil, fmt.Errorf("read Alertmanager %s: %w", name, err)
		}
		return am, nil
	}
	var list v1.AlertmanagerList
	if err := ask.Do(ctx).Into(&list); err != nil {
		return nil, fmt.Errorf("list alertmanagers (--alertmanager names one): %w", err)
	}
	i, err := theOne(list.Items, "", func(a v1.Alertmanager) types.NamespacedName {
		return types.NamespacedName{Namespace: a.Namespace, Name: a.Name}
	}, "in the cluster")
	if err != nil {
		return nil, err
	}
	return &list.Items[i], nil
}

// alert returns the labels of the alert of a rule.
func (s routeSources) alert(ctx context.Context, r *routeOptions, given routing.Labels) (routing.Labels, []string, error) {
	name, err := explain.ParseName(explain.Kinds(s.setups), strings.ToLower(v1.PrometheusRuleKind), r.rule)
	if err != nil {
		return nil, nil, err
	}
	var q explain.Question
	if s.objects != nil {
		q, err = explain.FromManifests(s.objects, nil, s.setups, name)
	} else {
		q, err = explain.FromCluster(ctx, s.live, s.setups, name)
	}
	if err != nil {
		return nil, nil, err
	}
	uses, err := q.Uses()
	if err != nil {
		return nil, nil, err
	}
	var files []routing.RuleFile
	for _, u := range uses {
		external, notes := routing.External(u.Object)
		files = append(files, routing.RuleFile{Workload: u.String(), Text: []byte(u.Text), External: external, Notes: notes})
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
		files = []routing.RuleFile{{Text: text, Notes: []string{"nothing uses the PrometheusRule, so no external labels are known"}}}
	}
	return routing.Alert(r.alert, files, given)
}
