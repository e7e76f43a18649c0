package prometheus

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/apply"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
	"github.com/firekeeper-dev/firekeeper/operator/informer"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Scopes say where and how narrowly each kind of object is watched.
type Scopes struct {
	Instances  informer.Namespaces // owners and what they own
	Configs    informer.Namespaces // monitors and rules
	References informer.Namespaces // Secrets and ConfigMaps that are referred to

	InstanceSelector                 string // label selector
	SecretFields, SecretLabels       string // selectors that narrow the watch on referenced Secrets
	ConfigMapFields, ConfigMapLabels string // the same for ConfigMaps
}

const (
	ruleSelector = "managed-by in (prometheus-operator),prometheus-name"
	nodeSelector = "managed-by in (prometheus-operator),operator.prometheus.io/name,operator.prometheus.io/mode in (agent)"
)

func (k *Kind) shardSelector() string {
	return "managed-by in (prometheus-operator),operator.prometheus.io/shard,operator.prometheus.io/name,operator.prometheus.io/mode in (" + k.mode + ")"
}

// stores are the informer caches of one kind of owner and of what only it has.
type stores struct {
	*Sources
	owners       ownerStore
	statefulSets *informer.Store[*appsv1.StatefulSet]

	// Only agents have these, and only with the feature gate.
	daemonSets *informer.Store[*appsv1.DaemonSet]

	// Only servers have these.
	rules      *informer.Store[*v1.PrometheusRule]
	ownConfigs *informer.Store[*corev1.ConfigMap]
	texts      *texts // of ownConfigs
}

func newStores(kind *Kind, clients Clients, opts Options, shared *Sources, m *controller.Metrics) *stores {
	s := opts.Scopes
	shared.calls.CountFor(m)
	base := informer.Watch{Calls: informer.CallsOf(m), Reads: clients.Reads}
	own := s.instances(base)
	out := &stores{
		Sources:      shared,
		owners:       kind.watch(clients.of(kind), own(s.InstanceSelector)),
		statefulSets: informer.NewStore(clients.Kube.AppsV1().RESTClient(), "statefulsets", &appsv1.StatefulSet{}, own(kind.shardSelector()), nil),
	}
	if kind == Agents && opts.Capabilities.AgentDaemonSet {
		out.daemonSets = informer.NewStore(clients.Kube.AppsV1().RESTClient(), "daemonsets", &appsv1.DaemonSet{}, own(nodeSelector), nil)
	}
	if kind == Servers {
		out.texts = &texts{}
		out.rules = informer.NewStore(clients.V1.REST(), v1.PrometheusRuleResource, &v1.PrometheusRule{}, s.configs(base), nil)
		out.ownConfigs = informer.NewStore(clients.Kube.CoreV1().RESTClient(), "configmaps", &corev1.ConfigMap{}, own(ruleSelector), out.texts.share)
	}
	return out
}

// instances returns watches where owners and their objects are.
func (s Scopes) instances(base informer.Watch) func(labels string) informer.Watch {
	return func(labels string) informer.Watch {
		base.Namespaces, base.LabelSelector = s.Instances, labels
		return base
	}
}

// configs is the watch where monitors and rules are.
func (s Scopes) configs(base informer.Watch) informer.Watch {
	base.Namespaces = s.Configs
	return base
}

// namespaceWatch covers the namespaces whose labels matter.
func (s Scopes) namespaceWatch(base informer.Watch) informer.Watch {
	all, err := informer.NewNamespaces(nil, nil)
	if err != nil {
		panic(err) // no list, no conflict
	}
	base.Namespaces, base.LabelSelector, base.Poll = all, s.Configs.Union(s.Instances).NameSelector(), s.namespacePoll()
	return base
}

func trimNamespace(n *corev1.Namespace) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: n.Labels, DeletionTimestamp: n.DeletionTimestamp,
	}}
}

// trimPod keeps what status, delivery and rollouts need.
func trimPod(p *corev1.Pod) *corev1.Pod {
	spec := workload.TrimReloaders(&p.Spec)
	spec.NodeName, spec.Subdomain = p.Spec.NodeName, p.Spec.Subdomain
	spec.Volumes = append(spec.Volumes, claimed(p.Spec.Volumes)...)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, Labels: p.Labels,
			Annotations: p.Annotations, OwnerReferences: p.OwnerReferences, DeletionTimestamp: p.DeletionTimestamp,
			CreationTimestamp: p.CreationTimestamp,
		},
		Spec: spec,
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, PodIP: p.Status.PodIP, Conditions: p.Status.Conditions,
			InitContainerStatuses: waiting(p.Status.InitContainerStatuses), ContainerStatuses: containers(p.Status.ContainerStatuses),
		},
	}
}

// claimed keeps the volumes that are claims.
func claimed(all []corev1.Volume) []corev1.Volume {
	var out []corev1.Volume
	for _, v := range all {
		if v.PersistentVolumeClaim != nil {
			out = append(out, v)
		}
	}
	return out
}

// waiting keeps the containers that wait for more than the pod to get older.
func waiting(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	return slices.DeleteFunc(containers(all), func(c corev1.ContainerStatus) bool { return c.State.Waiting == nil })
}

// containers keeps the state of containers: which restart, which do not run, and
// why they wait where that says more than that the pod is young.
func containers(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all {
		kept := corev1.ContainerStatus{Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount, Started: c.Started, State: c.State}
		if w := c.State.Waiting; w != nil && (w.Reason == "PodInitializing" || w.Reason == "ContainerCreating") {
			kept.State.Waiting = nil
		}
		if end := c.State.Terminated; end != nil {
			kept.State.Terminated = &corev1.ContainerStateTerminated{Reason: end.Reason}
		}
		out = append(out, kept)
	}
	return out
}

// trimClaim keeps what decides about its size.
func trimClaim(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion, Labels: c.Labels,
			DeletionTimestamp: c.DeletionTimestamp,
		},
		Spec:   corev1.PersistentVolumeClaimSpec{Resources: c.Spec.Resources},
		Status: corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase},
	}
}

func (s *stores) all() []informer.Syncer {
	out := append(s.Sources.all(), s.owners, s.statefulSets)
	if s.daemonSets != nil {
		out = append(out, s.daemonSets)
	}
	if s.rules != nil {
		out = append(out, s.rules, s.ownConfigs)
	}
	return out
}

// start lists everything; the stores stay current until the context ends.
func (s *stores) start(ctx context.Context) error { return fill(ctx, s.all()) }

// caches are what the writer compares with.
func (s *stores) caches() apply.Caches {
	out := apply.Caches{Secrets: s.ownSecrets, Services: s.ownServices, StatefulSets: s.statefulSets}
	if s.ownConfigs != nil {
		out.ConfigMaps = s.ownConfigs
	}
	if s.daemonSets != nil {
		out.DaemonSets = s.daemonSets
	}
	return out
}
