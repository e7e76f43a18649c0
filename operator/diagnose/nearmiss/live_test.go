package nearmiss_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/evidence"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// memory is an in-memory cluster.
type memory struct {
	objects map[schema.GroupResource][]readers.Object
	// refused are resources that may not be listed: "pods", or "pods " for all namespaces only.
	// With the prefix "may not list " it denies the permission to ServiceAccounts.
	refused []string
	asked   []string
}

// Get implements readers.Reader.
func (m *memory) Get(_ context.Context, of schema.GroupVersionResource, key types.NamespacedName) (readers.Object, error) {
	for _, o := range m.objects[of.GroupResource()] {
		if o.GetNamespace() == key.Namespace && o.GetName() == key.Name {
			return o, nil
		}
	}
	return nil, apierrors.NewNotFound(of.GroupResource(), key.Name)
}

// List implements readers.Reader.
func (m *memory) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	m.asked = append(m.asked, strings.TrimSpace(q.String()+" "+q.Labels))
	if slices.Contains(m.refused, q.Resource) || q.Namespace == "" && slices.Contains(m.refused, q.Resource+" ") {
		return nil, apierrors.NewForbidden(q.GroupResource(), "", errors.New("not you"))
	}
	selector, err := labels.Parse(q.Labels)
	if err != nil {
		return nil, err
	}
	for _, o := range m.objects[q.GroupResource()] {
		if q.Name != "" && q.Name != o.GetName() {
			continue
		}
		if (q.Namespace == "" || o.GetNamespace() == q.Namespace) && selector.Matches(labels.Set(o.GetLabels())) && (q.Limit == 0 || len(out) < q.Limit) {
			out = append(out, q.Kept(o))
		}
	}
	return out, nil
}

// References implements readers.Reader.
func (m *memory) References(context.Context) assets.Reader { return &assets.Static{} }

// deploy returns a cluster with the manifests, with pods of workloads and addresses of Services.
func deploy(c circumstances) *memory {
	out := &memory{objects: map[schema.GroupResource][]readers.Object{}}
	add := func(resource schema.GroupVersionResource, o readers.Object) {
		out.objects[resource.GroupResource()] = append(out.objects[resource.GroupResource()], o)
	}
	for _, o := range append(slices.Clone(c.theirs), c.own...) {
		kinds, _, err := scheme.Scheme.ObjectKinds(o)
		if err != nil || apply.KindOf(o) == "Secret" {
			continue
		}
		word := strings.ToLower(kinds[0].Kind)
		switch {
		case strings.HasSuffix(word, "ss"):
			word += "es"
		case strings.HasSuffix(word, "y"):
			word = strings.TrimSuffix(word, "y") + "ies"
		case !strings.HasSuffix(word, "s"):
			word += "s"
		}
		add(kinds[0].GroupVersion().WithResource(word), o.(readers.Object))
		if t := templateOf(o); t != nil {
			add(readers.Pods, podOf(o, kinds[0].Kind, t))
		}
	}
	for _, o := range out.objects[readers.Services.GroupResource()] {
		svc := o.(*corev1.Service)
		given := slices.ContainsFunc(c.theirs, func(o nearmiss.Object) bool { return templateOf(o) != nil && o.GetNamespace() == svc.Namespace })
		if !given && len(svc.Spec.Selector) > 0 && len(svc.OwnerReferences) == 0 {
			add(readers.Pods, podFor(svc))
		}
	}
	if len(out.objects[readers.ServiceAccounts.GroupResource()]) == 0 {
		for _, w := range c.workloads {
			a := nearmiss.AccountOf(w.Object)
			add(readers.ServiceAccounts, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Name}})
		}
	}
	for _, row := range catalog.All {
		for _, o := range c.ours.All(row) {
			add(row.GroupVersionResource(), o)
		}
	}
	for _, o := range out.objects[readers.Services.GroupResource()] {
		svc := o.(*corev1.Service)
		if slice := sliceOf(svc, out.objects[readers.Pods.GroupResource()]); slice != nil {
			add(readers.EndpointSlices, slice)
		}
	}
	return out
}

func templateOf(o nearmiss.Object) *corev1.PodTemplateSpec {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return &o.Spec.Template
	case *appsv1.StatefulSet:
		return &o.Spec.Template
	case *appsv1.DaemonSet:
		return &o.Spec.Template
	case *batchv1.Job:
		return &o.Spec.Template
	}
	return nil
}

// podOf returns a pod as controllers create it.
func podOf(o nearmiss.Object, kind string, t *corev1.PodTemplateSpec) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName() + "-0", Labels: labels.Merge(t.Labels, nil), Annotations: t.Annotations},
		Spec:       t.Spec, Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"},
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	owner := metav1.OwnerReference{Kind: kind, Name: o.GetName(), Controller: new(true)}
	switch kind {
	case "Deployment":
		owner.Kind, owner.Name = "ReplicaSet", o.GetName()+"-abc12"
		p.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "abc12"
	case "StatefulSet":
		p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
	}
	p.OwnerReferences = []metav1.OwnerReference{owner}
	return p
}

// podFor returns a pod that is not among the manifests and matches a Service.
func podFor(svc *corev1.Service) *corev1.Pod {
	t := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: svc.Spec.Selector}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server"}}}}
	for _, p := range svc.Spec.Ports {
		c := corev1.ContainerPort{Name: p.TargetPort.StrVal, ContainerPort: p.Port}
		if p.TargetPort.IntVal != 0 {
			c.ContainerPort = p.TargetPort.IntVal
		}
		t.Spec.Containers[0].Ports = append(t.Spec.Containers[0].Ports, c)
	}
	return podOf(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: "unseen"}}, "Deployment", t)
}

// May implements readers.Reviewer: without Roles among the manifests, everything is allowed. With
// Roles, reviews are forbidden.
func (m *memory) May(_ context.Context, _ types.NamespacedName, _ string, of schema.GroupResource, _ string) (bool, error) {
	for _, r := range m.refused {
		if denied, says := strings.CutPrefix(r, "may not list "); says {
			return of.Resource != denied, nil
		}
	}
	if len(m.objects[readers.Roles.GroupResource()])+len(m.objects[readers.ClusterRoles.GroupResource()]) > 0 {
		return false, apierrors.NewForbidden(schema.GroupResource{Resource: "subjectaccessreviews"}, "", errors.New("not you"))
	}
	return true, nil
}

// sliceOf returns the addresses of a Service; nil if they are written manually.
func sliceOf(svc *corev1.Service, pods []readers.Object) *discoveryv1.EndpointSlice {
	if len(svc.Spec.Selector) == 0 {
		return nil
	}
	out := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name + "-x", Labels: map[string]string{discoveryv1.LabelServiceName: svc.Name}}}
	for _, p := range pods {
		if p.GetNamespace() == svc.Namespace && labels.SelectorFromSet(svc.Spec.Selector).Matches(labels.Set(p.GetLabels())) {
			out.Endpoints = append(out.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.0.0.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}})
		}
	}
	return out
}

// looked returns all hints in the form of explain.
func looked(c circumstances, look nearmiss.Look) (out []nearmiss.Found, unknown []string) {
	for i, w := range c.workloads {
		self := nearmiss.Use{Kind: w.Kind.Kind, Object: w.Object, Searches: nearmiss.Alertmanagers(w.Object)}
		for _, u := range append(slices.Clone(c.uses[i]), self) {
			view, not := look(w.Object, []nearmiss.Use{u})
			hints := slices.Concat(view.Hints(u, w.Object.GetNamespace()), view.Blocked(w.Object, u), view.Permissions(w.Object, []nearmiss.Use{u}))
			if u.Object == self.Object {
				hints = view.Alerting(w.Object)
			}
			for _, h := range hints {
				out = append(out, nearmiss.Found{Use: u, Hint: h})
			}
			unknown = append(unknown, not...)
		}
	}
	return out, unknown
}

// TestLive deploys manifests and looks at them in the cluster. In a golden file, "want/NAME" lists
// the differences between the hints about testdata/NAME.txtar in a cluster and those about the
// manifests: "+" is only in the cluster, "-" only among the manifests.
func TestLive(t *testing.T) {
	golden.Run(t, "testdata/live/*.txtar", func(t *testing.T, _ golden.Case, name string) ([]byte, error) {
		c, err := golden.Open("testdata/" + name + ".txtar")
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		for _, file := range c.Inputs() {
			text, _ := c.Input(file)
			s, err := situated(text)
			if err != nil {
				return nil, err
			}
			view := nearmiss.NewView(s.theirs, s.own, append(s.ours.All(catalog.ServiceMonitor), s.ours.All(catalog.PodMonitor)...))
			said, _ := looked(s, nearmiss.At(view))
			found, unknown := looked(s, evidence.New(t.Context(), deploy(s)).Look)
			for _, u := range unknown {
				fmt.Fprintf(&out, "%s ? %s\n", file, u)
			}
			difference(&out, file+" +", found, said)
			difference(&out, file+" -", said, found)
		}
		return out.Bytes(), nil
	})
}

// difference writes the hints that one has and the other has not.
func difference(w io.Writer, mark string, one, other []nearmiss.Found) {
	line := func(f nearmiss.Found) string {
		if f.Hint.Note {
			return fmt.Sprintf("%s: %s (a note)", f, f.Hint)
		}
		return fmt.Sprintf("%s: %s", f, f.Hint)
	}
	for _, f := range one {
		if !slices.ContainsFunc(other, func(o nearmiss.Found) bool { return line(o) == line(f) }) {
			fmt.Fprintf(w, "%s %s\n", mark, line(f))
		}
	}
}

// The monitor selects Services that do not exist. Only their pods have the labels.
const labelsOfPods = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: k8s, namespace: monitoring}
spec: {serviceAccountName: prometheus, serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: app}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: app}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: server, ports: [{name: http, containerPort: 80}]}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: app, labels: {run: web}}
spec: {selector: {app: web}, ports: [{name: http, port: 80}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: prometheus}
rules: [{apiGroups: [""], resources: [services, endpoints], verbs: [list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: prometheus}
roleRef: {kind: ClusterRole, name: prometheus}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: monitoring}]
`

// A forbidden list is unknown, with the permission it needs, and never taken as empty.
func TestLiveRights(t *testing.T) {
	const (
		labels = "spec.selector.matchLabels[\"app\"]: no Service in namespace app has label app=web; the pods of Service app/web have, but it compares labels of Services: add app: web to metadata.labels of the Service"
		bound  = "spec.serviceAccountName: ServiceAccount monitoring/prometheus may not list and watch pods in namespace app, which ServiceMonitor app/web needs; add the verbs list and watch for pods to ClusterRole prometheus"
		denied = "spec.serviceAccountName: ServiceAccount monitoring/prometheus may not list and watch pods in namespace app, which ServiceMonitor app/web needs; create a Role that allows it and a RoleBinding there"
		ask    = "whether ServiceAccount monitoring/prometheus may list and watch what it must: you may not create subjectaccessreviews.authorization.k8s.io; ask for the verb create, or for the verb list on roles, rolebindings, clusterroles and clusterrolebindings"
	)
	for name, tc := range map[string]struct {
		refused         []string
		hints, unknowns []string
	}{
		"everything":       {nil, []string{labels, bound}, nil},
		"one namespace":    {[]string{"services "}, []string{labels, bound}, []string{"whether other namespaces have what it looks for: you may not list services in all namespaces; ask for the verb list"}},
		"no Services":      {[]string{"services"}, []string{bound}, []string{"you may not list services in namespace app; ask for the verb list"}},
		"no pods":          {[]string{"pods"}, []string{labels, bound}, []string{"you may not list pods in namespace app; ask for the verb list"}},
		"no bindings":      {[]string{"clusterrolebindings"}, []string{labels}, []string{ask}},
		"Roles elsewhere":  {[]string{"roles", "serviceaccounts"}, []string{labels}, []string{ask}},
		"only permissions": {[]string{"may not list pods", "clusterrolebindings"}, []string{labels, denied}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := situated([]byte(labelsOfPods))
			if err != nil {
				t.Fatal(err)
			}
			m := deploy(s)
			m.refused = tc.refused
			found, unknown := looked(s, evidence.New(t.Context(), m).Look)
			var hints []string
			for _, f := range found {
				hints = append(hints, f.Hint.String())
			}
			if diff := cmp.Diff(tc.hints, hints); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.unknowns, unknown); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Without faults, only the matches of selectors are read, and each list is read once.
func TestLiveReadsLittle(t *testing.T) {
	s, err := situated([]byte(strings.Replace(labelsOfPods, "{run: web}", "{app: web}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	m := deploy(s)
	m.objects[readers.ClusterRoles.GroupResource()] = nil // everything is allowed
	look := evidence.New(t.Context(), m).Look
	for range 2 {
		if found, unknown := looked(s, look); len(found)+len(unknown) > 0 {
			t.Errorf("found %v, unknown %v", found, unknown)
		}
	}
	want := []string{"services in namespace app app=web", "endpoints in namespace app", "pods in namespace app app=web", "networkpolicies.networking.k8s.io in namespace app", "networkpolicies.networking.k8s.io in namespace monitoring"}
	if diff := cmp.Diff(want, m.asked); diff != "" {
		t.Error(diff)
	}
}
