package prometheus

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
)

// Scopes say where and how narrowly each kind of object is watched.
type Scopes struct {
	Instances  controller.Namespaces // Prometheus objects and what they own
	Configs    controller.Namespaces // monitors and rules
	References controller.Namespaces // Secrets and ConfigMaps that are referred to

	InstanceSelector                 string // label selector
	SecretFields, SecretLabels       string // selectors that narrow the watch on referenced Secrets
	ConfigMapFields, ConfigMapLabels string // the same for ConfigMaps
}

const (
	managedSelector  = "managed-by in (prometheus-operator)"
	shardSelector    = "managed-by in (prometheus-operator),operator.prometheus.io/shard,operator.prometheus.io/name,operator.prometheus.io/mode in (server)"
	podSelector      = "app.kubernetes.io/managed-by=prometheus-operator,operator.prometheus.io/name,prometheus"
	ruleSelector     = "managed-by in (prometheus-operator),prometheus-name"
	operatedSelector = "operated-prometheus"
)

// stores are the informer caches of everything a pass reads.
type stores struct {
	owners       *controller.Store[*v1.Prometheus]
	services     *controller.Store[*v1.ServiceMonitor]
	pods         *controller.Store[*v1.PodMonitor]
	probes       *controller.Store[*v1.Probe]
	scrapes      *controller.Store[*v1alpha1.ScrapeConfig] // nil where the kind is not installed
	rules        *controller.Store[*v1.PrometheusRule]
	namespaces   *controller.Store[*corev1.Namespace]
	secretRefs   *controller.Store[*metav1.PartialObjectMetadata]
	configRefs   *controller.Store[*metav1.PartialObjectMetadata]
	ownSecrets   *controller.Store[*corev1.Secret]
	ownConfigs   *controller.Store[*corev1.ConfigMap]
	ownServices  *controller.Store[*corev1.Service]
	statefulSets *controller.Store[*appsv1.StatefulSet]
	runningPods  *controller.Store[*corev1.Pod]
	texts        *texts // of ownConfigs
}

func newStores(clients Clients, s Scopes, m *controller.Metrics) *stores {
	kube, meta, crds := clients.Kube, clients.Metadata, clients.CRDs
	own := func(labels string) controller.Watch {
		return controller.Watch{Namespaces: s.Instances, LabelSelector: labels, Metrics: m}
	}
	config := controller.Watch{Namespaces: s.Configs, Metrics: m}
	core, apps := kube.CoreV1().RESTClient(), kube.AppsV1().RESTClient()
	files := &texts{}
	out := &stores{
		texts:      files,
		owners:     controller.NewStore(crds.REST(), v1.PrometheusResource, &v1.Prometheus{}, own(s.InstanceSelector), nil),
		services:   controller.NewStore(crds.REST(), v1.ServiceMonitorResource, &v1.ServiceMonitor{}, config, nil),
		pods:       controller.NewStore(crds.REST(), v1.PodMonitorResource, &v1.PodMonitor{}, config, nil),
		probes:     controller.NewStore(crds.REST(), v1.ProbeResource, &v1.Probe{}, config, nil),
		rules:      controller.NewStore(crds.REST(), v1.PrometheusRuleResource, &v1.PrometheusRule{}, config, nil),
		namespaces: controller.NewStore(core, "namespaces", &corev1.Namespace{}, s.namespaceWatch(m), trimNamespace),
		secretRefs: controller.NewMetadataStore(meta, corev1.SchemeGroupVersion.WithResource("secrets"),
			controller.Watch{Namespaces: s.References, FieldSelector: s.SecretFields, LabelSelector: s.SecretLabels, Metrics: m}),
		configRefs: controller.NewMetadataStore(meta, corev1.SchemeGroupVersion.WithResource("configmaps"),
			controller.Watch{Namespaces: s.References, FieldSelector: s.ConfigMapFields, LabelSelector: s.ConfigMapLabels, Metrics: m}),
		ownSecrets:   controller.NewStore(core, "secrets", &corev1.Secret{}, own(managedSelector), apply.DigestSecret),
		ownConfigs:   controller.NewStore(core, "configmaps", &corev1.ConfigMap{}, own(ruleSelector), files.share),
		ownServices:  controller.NewStore(core, "services", &corev1.Service{}, own(operatedSelector), nil),
		statefulSets: controller.NewStore(apps, "statefulsets", &appsv1.StatefulSet{}, own(shardSelector), nil),
		runningPods:  controller.NewStore(core, "pods", &corev1.Pod{}, own(podSelector), trimPod),
	}
	if c := clients.ScrapeConfigs; c != nil {
		out.scrapes = controller.NewStore(c.REST(), v1alpha1.ScrapeConfigResource, &v1alpha1.ScrapeConfig{}, config, nil)
	}
	return out
}

// namespaceWatch covers the namespaces whose labels matter.
func (s Scopes) namespaceWatch(m *controller.Metrics) controller.Watch {
	all, err := controller.NewNamespaces(nil, nil)
	if err != nil {
		panic(err) // no list, no conflict
	}
	return controller.Watch{Namespaces: all, LabelSelector: s.Configs.Union(s.Instances).NameSelector(), Metrics: m}
}

func trimNamespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels,
	}}
}

// trimPod keeps what status and delivery need.
func trimPod(p *corev1.Pod) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Labels: p.Labels,
			Annotations: p.Annotations, OwnerReferences: p.OwnerReferences, DeletionTimestamp: p.DeletionTimestamp,
		},
		Spec:   corev1.PodSpec{NodeName: p.Spec.NodeName},
		Status: corev1.PodStatus{Phase: p.Status.Phase, PodIP: p.Status.PodIP, Conditions: p.Status.Conditions},
	}
}

func (s *stores) all() []controller.Syncer {
	out := []controller.Syncer{
		s.namespaces, s.owners, s.services, s.pods, s.probes, s.rules, s.secretRefs, s.configRefs,
		s.ownSecrets, s.ownConfigs, s.ownServices, s.statefulSets, s.runningPods,
	}
	if s.scrapes != nil {
		out = append(out, s.scrapes)
	}
	return out
}

// start lists everything; the stores stay current until the context ends.
func (s *stores) start(ctx context.Context) error {
	for _, st := range s.all() {
		st.Run(ctx)
	}
	for _, st := range s.all() {
		if err := st.Wait(ctx); err != nil {
			return fmt.Errorf("fill caches: %w", err)
		}
	}
	return nil
}

// Version implements assets.Versions.
func (s *stores) Version(ref assets.Ref) (version string, known bool) {
	store := s.secretRefs
	if ref.Kind == assets.ConfigMap {
		store = s.configRefs
	}
	if obj, ok := store.Get(ref.Namespace, ref.Name); ok {
		return obj.ResourceVersion, true
	}
	return "", store.Complete(ref.Namespace)
}

// caches are what the writer compares with.
func (s *stores) caches() apply.Caches {
	return apply.Caches{Secrets: s.ownSecrets, ConfigMaps: s.ownConfigs, Services: s.ownServices, StatefulSets: s.statefulSets}
}
