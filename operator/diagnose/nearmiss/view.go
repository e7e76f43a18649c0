package nearmiss

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Object is an object of a Kubernetes kind.
type Object interface {
	metav1.Object
	runtime.Object
}

// candidate is an object that a selector can match.
type candidate struct {
	kind, namespace, name string
	labels                labels.Set
	annotations           map[string]string
	// portNames are the names of the ports that the containers of pods declare.
	portNames []string
	// others are the labels of single pods, if known.
	others []labels.Set
	// made is set for objects that the operator creates.
	made bool
}

// String returns a human-readable name: "Service app/web".
func (t candidate) String() string {
	if t.namespace == "" {
		return t.kind + " " + t.name
	}
	return t.kind + " " + t.namespace + "/" + t.name
}

// service is a Service with the known addresses behind it.
type service struct {
	candidate
	spec *corev1.ServiceSpec
	// addresses are the port names of its Endpoints and EndpointSlices, which determine the ports
	// if the Service has no selector; nil when there are none.
	addresses []string
	// ready and unready are numbers of addresses.
	ready, unready int
	// onlySlices is set if they are only in EndpointSlices, and not in Endpoints.
	onlySlices bool
}

// pods are the pods of a workload, or one Pod. The labels are pod labels.
type pods struct {
	candidate
	own   labels.Set // of the workload itself
	ports []corev1.ContainerPort
	// lasting are the ports of containers that do not end before the pod runs.
	lasting []corev1.ContainerPort
	images  []string
	// containers are the names of the containers.
	containers []string
	// prefix is the path below which the server listens (--web.route-prefix); empty if unknown.
	prefix string
	// protocols has the protocols and addresses of the ports of containers.
	protocols protocols
	guard     guard
	bound     bound
	server    server
	account   string         // ServiceAccount, "default" when not set
	phases    map[string]int // of single pods, nil if unknown
	running   int            // number of pods with an address
	onNode    bool           // they have the network of their node, for which NetworkPolicies do not hold
}

// View is a set of objects in which targets are searched.
type View struct {
	services  []service
	pods      []pods
	ingresses []candidate
	nodes     []candidate
	// ingressSpecs are the specs of the Ingresses, by the String of a candidate.
	ingressSpecs map[string]*networkingv1.IngressSpec
	namespaces   []string // of the objects, sorted
	rbac         rbac
	policies     []policy
	budgets      []budget
	hooks        []hook // webhooks about objects of the operator
	guarded      bool   // some of the pods have a guard
	// namespaceLabels are the labels of the Namespaces among the objects.
	namespaceLabels map[string]labels.Set
	// namespaceNotes are their annotations.
	namespaceNotes map[string]map[string]string
	// orphans are EndpointSlices that name no Service, and Endpoints with the name of no Service.
	orphans []candidate
	claims  []claim
	extent  Extent

	// Indexes, by the String of a candidate.
	podsOf, servicesOf map[string][]int // pods of a Service, Services of pods
	claimsOf           map[string][]int
	byMaker            map[string]int // index into pods
	serviceNamed       map[string]int // index into services, by namespace/name

	servicesIn lastIn[service]
	podsIn     lastIn[pods]

	compared atomic.Int64 // pairs of objects so far, see [View.Crowded]
}

// claim is the selection of a monitor.
type claim struct {
	kind, namespace, name string
	namespaces            []string // nil for all
	selector              labels.Selector
}

// NewView returns a view of objects, ignoring irrelevant kinds, and of those that the operator
// creates. monitors are the ServiceMonitors and PodMonitors that may select them too: an object
// that one of them selects is not a near miss of another.
func NewView(objects, made []Object, monitors []catalog.Object) *View {
	v := &View{byMaker: map[string]int{}, ingressSpecs: map[string]*networkingv1.IngressSpec{}, serviceNamed: map[string]int{}, namespaceLabels: map[string]labels.Set{}, namespaceNotes: map[string]map[string]string{}}
	addresses := map[string]*endpoints{}
	for _, o := range objects {
		if ns := o.GetNamespace(); ns != "" {
			v.namespaces = append(v.namespaces, ns)
		}
		v.add(o, addresses)
	}
	services, pods := len(v.services), len(v.pods)
	for _, o := range made {
		v.add(o, addresses)
	}
	for i := range v.services[services:] {
		v.services[services+i].made = true
	}
	for i := range v.pods[pods:] {
		v.pods[pods+i].made = true
	}
	slices.Sort(v.namespaces)
	v.namespaces = slices.Compact(v.namespaces)
	for i := range v.services {
		s := &v.services[i]
		if found := addresses[s.namespace+"/"+s.name]; found != nil {
			s.addresses, s.ready, s.unready, s.onlySlices = found.ports, found.ready, found.unready, !found.objects
			found.of = candidate{}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(addresses)) {
		if of := addresses[key].of; of.name != "" {
			v.orphans = append(v.orphans, of)
		}
	}
	for _, m := range monitors {
		v.claim(m)
	}
	v.index()
	return v
}

// index builds the indexes. Those of a view that is [View.Crowded] are not complete.
func (v *View) index() {
	v.podsOf, v.servicesOf, v.claimsOf = map[string][]int{}, map[string][]int{}, map[string][]int{}
	local := map[string][]int{} // pods by namespace
	for i, p := range v.pods {
		local[p.namespace] = append(local[p.namespace], i)
		v.claimants(p.candidate)
	}
	for n, s := range v.services {
		if v.spend(len(local[s.namespace])); v.Crowded() {
			return
		}
		v.claimants(s.candidate)
		v.serviceNamed[s.namespace+"/"+s.name] = n
		if len(s.spec.Selector) == 0 {
			continue
		}
		selector := labels.SelectorFromSet(s.spec.Selector)
		for _, i := range local[s.namespace] {
			if p := v.pods[i]; p.matches(selector) {
				v.podsOf[s.String()] = append(v.podsOf[s.String()], i)
				v.servicesOf[p.String()] = append(v.servicesOf[p.String()], n)
				v.spend(matchPairs)
			}
		}
	}
}

// claimants indexes the monitors that select a Service or pods.
func (v *View) claimants(t candidate) {
	kind := t.kind
	if kind != "Service" {
		kind = "Pod"
	}
	if v.spend(len(v.claims)); v.Crowded() {
		return
	}
	for i, c := range v.claims {
		if c.kind == kind && (c.namespaces == nil || slices.Contains(c.namespaces, t.namespace)) && t.matches(c.selector) {
			v.claimsOf[t.String()] = append(v.claimsOf[t.String()], i)
		}
	}
}

func (v *View) add(o Object, addresses map[string]*endpoints) {
	switch o := o.(type) {
	case *corev1.Service:
		s := service{candidate: thingOf("Service", o), spec: &o.Spec}
		s.made = ofOperator(o)
		v.services = append(v.services, s)
	//lint:ignore SA1019 the default of service discovery
	case *corev1.Endpoints:
		e := endpointsOf(addresses, o.Namespace, o.Name)
		e.objects, e.of = true, thingOf("Endpoints", o)
		for _, subset := range o.Subsets {
			e.ready, e.unready = e.ready+len(subset.Addresses), e.unready+len(subset.NotReadyAddresses)
			for _, p := range subset.Ports {
				e.ports = append(e.ports, p.Name)
			}
		}
	case *discoveryv1.EndpointSlice:
		if o.Labels[discoveryv1.LabelServiceName] == "" {
			v.orphans = append(v.orphans, thingOf("EndpointSlice", o))
			return
		}
		e := endpointsOf(addresses, o.Namespace, o.Labels[discoveryv1.LabelServiceName])
		for i := range o.Endpoints {
			if ready := o.Endpoints[i].Conditions.Ready; ready != nil && !*ready {
				e.unready++
			} else {
				e.ready++
			}
		}
		for _, p := range o.Ports {
			if p.Name != nil {
				e.ports = append(e.ports, *p.Name)
			}
		}
	case *corev1.Namespace:
		v.namespaces = append(v.namespaces, o.Name)
		v.namespaceLabels[o.Name], v.namespaceNotes[o.Name] = o.Labels, o.Annotations
	case *networkingv1.NetworkPolicy:
		v.policy(o)
	case *admissionv1.ValidatingWebhookConfiguration:
		for i, w := range o.Webhooks {
			v.hook(thingOf("ValidatingWebhookConfiguration", o), i, w.ClientConfig, w.FailurePolicy, w.Rules)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i, w := range o.Webhooks {
			v.hook(thingOf("MutatingWebhookConfiguration", o), i, w.ClientConfig, w.FailurePolicy, w.Rules)
		}
	case *networkingv1.Ingress:
		t := thingOf("Ingress", o)
		v.ingresses = append(v.ingresses, t)
		v.ingressSpecs[t.String()] = &o.Spec
	case *corev1.Node:
		v.nodes = append(v.nodes, thingOf("Node", o))
	default:
		if !v.addPods(o) && !v.addBudget(o) {
			v.rbac.add(o)
		}
	}
}

// addPods adds the pods of an object, and reports whether it is a Pod or a workload.
func (v *View) addPods(o Object) bool {
	switch o := o.(type) {
	case *corev1.Pod:
		if metav1.GetControllerOf(o) == nil || len(o.Spec.Containers) > 0 {
			v.pod(o)
		}
	case *appsv1.Deployment:
		v.template("Deployment", o, &o.Spec.Template)
	case *appsv1.StatefulSet:
		v.template("StatefulSet", o, &o.Spec.Template)
	case *appsv1.DaemonSet:
		v.template("DaemonSet", o, &o.Spec.Template)
	case *appsv1.ReplicaSet:
		v.template("ReplicaSet", o, &o.Spec.Template)
	case *batchv1.Job:
		v.template("Job", o, &o.Spec.Template)
	case *batchv1.CronJob:
		v.template("CronJob", o, &o.Spec.JobTemplate.Spec.Template)
	default:
		return false
	}
	return true
}

// template adds the pods of a workload with a template, or completes pods that were added
// individually.
func (v *View) template(kind string, o metav1.Object, t *corev1.PodTemplateSpec) *pods {
	p := pods{candidate: thingOf(kind, o), own: o.GetLabels(), account: t.Spec.ServiceAccountName}
	p.labels, p.annotations, p.onNode = t.Labels, t.Annotations, t.Spec.HostNetwork
	if p.account == "" {
		p.account = defaultAccount
	}
	for n, list := range [][]corev1.Container{t.Spec.Containers, t.Spec.InitContainers} {
		for i := range list {
			p.ports = append(p.ports, list[i].Ports...)
			for _, port := range list[i].Ports {
				p.portNames = append(p.portNames, port.Name)
			}
			if n == 0 || list[i].RestartPolicy != nil && *list[i].RestartPolicy == corev1.ContainerRestartPolicyAlways {
				p.lasting = append(p.lasting, list[i].Ports...)
			}
			p.images = append(p.images, list[i].Image)
			p.containers = append(p.containers, list[i].Name)
			p.protocols.container(&list[i])
			p.guard.container(&list[i])
			for _, arg := range slices.Concat(list[i].Command, list[i].Args) {
				p.server.argument(arg)
				p.protocols.argument(arg)
				p.bound.argument(arg)
				if prefix, is := strings.CutPrefix(arg, "--web.route-prefix="); is {
					p.prefix = "/" + strings.Trim(prefix, "/")
				}
			}
		}
	}
	v.guarded = v.guarded || len(p.guard.ports) > 0
	if known := v.made(p.candidate); known != nil {
		p.others, p.phases, p.running = known.others, known.phases, known.running
		*known = p
		return known
	}
	v.byMaker[p.String()] = len(v.pods)
	v.pods = append(v.pods, p)
	return &v.pods[len(v.pods)-1]
}

func thingOf(kind string, o metav1.Object) candidate {
	return candidate{kind: kind, namespace: o.GetNamespace(), name: o.GetName(), labels: o.GetLabels(), annotations: o.GetAnnotations()}
}

// claim adds the selection of a monitor.
func (v *View) claim(o catalog.Object) {
	add := func(kind string, namespaces v1.NamespaceSelector, s *metav1.LabelSelector) {
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err != nil {
			return // the monitor is rejected
		}
		c := claim{kind: kind, namespace: o.GetNamespace(), name: o.GetName(), selector: selector, namespaces: []string{o.GetNamespace()}}
		switch {
		case namespaces.Any:
			c.namespaces = nil
		case len(namespaces.MatchNames) > 0:
			c.namespaces = namespaces.MatchNames
		}
		v.claims = append(v.claims, c)
	}
	switch m := o.(type) {
	case *v1.ServiceMonitor:
		add("Service", m.Spec.NamespaceSelector, &m.Spec.Selector)
	case *v1.PodMonitor:
		add("Pod", m.Spec.NamespaceSelector, &m.Spec.Selector)
	}
}

// claimed reports whether a monitor other than that of the search selects the candidate, which is a
// Service or pods.
func (v *View) claimed(t candidate, s *Search) bool {
	return slices.ContainsFunc(v.claimsOf[t.String()], func(i int) bool {
		c := v.claims[i]
		return c.namespace != s.owner || c.name != s.ownerName
	})
}

// behind returns the pods that a Service selects.
func (v *View) behind(s service) (out []pods) {
	list := v.podsOf[s.String()]
	out = make([]pods, 0, len(list))
	for _, i := range list {
		out = append(out, v.pods[i])
		v.spend(1 + len(v.pods[i].ports))
	}
	return out
}

// before returns the Services that select pods.
func (v *View) before(p pods) (out []service) {
	list := v.servicesOf[p.String()]
	v.spend(len(list))
	for _, i := range list {
		out = append(out, v.services[i])
	}
	return out
}
