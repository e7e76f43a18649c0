//lint:file-ignore SA1019 Prometheus with the role Endpoints, the default, reads this kind.

package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
)

// kubeletRole grants an account the permissions of the component kubelet, for a Service in another namespace.
func (w *environment) kubeletRole(t *testing.T, account, namespace string) {
	t.Helper()
	text, err := os.ReadFile(deploy(t, "components/kubelet/rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, strings.NewReplacer(
		"name: firekeeper-operator-kubelet", "name: firekeeper-"+account,
		"- kind: ServiceAccount\n  name: prometheus-operator\n", "- kind: ServiceAccount\n  name: "+account+"\n",
		"namespace: kube-system", "namespace: "+namespace,
	).Replace(string(text)))
}

// node creates a node or changes its addresses.
func (w *environment) node(t *testing.T, set, name string, addresses ...string) {
	t.Helper()
	api := w.kube.CoreV1().Nodes()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the controller manager writes nodes too
		n, err := api.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			n = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"integration": set}}}
			if n, err = api.Create(t.Context(), n, metav1.CreateOptions{}); err != nil {
				return err
			}
		}
		n.Status.Addresses = nil
		for _, ip := range addresses {
			n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip})
		}
		_, err = api.UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// kubeletEndpoints waits until the Endpoints and the EndpointSlices have these addresses.
func (w *environment) kubeletEndpoints(t *testing.T, ns string, wantSlices int, want ...string) []discoveryv1.EndpointSlice {
	t.Helper()
	slices.Sort(want)
	var list *discoveryv1.EndpointSliceList
	eventually(t, fmt.Sprintf("endpoints %v", want), func() (err error) {
		e, err := w.kube.CoreV1().Endpoints(ns).Get(t.Context(), "kubelet", metav1.GetOptions{})
		if err != nil {
			return err
		}
		var one, two []string
		for _, s := range e.Subsets {
			for _, a := range s.Addresses {
				one = append(one, a.IP)
			}
		}
		// Mirrored EndpointSlices would have this label, too.
		list, err = w.kube.DiscoveryV1().EndpointSlices(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=kubelet"})
		if err != nil {
			return err
		}
		for _, s := range list.Items {
			for _, e := range s.Endpoints {
				two = append(two, e.Addresses...)
			}
		}
		slices.Sort(one)
		slices.Sort(two)
		if !slices.Equal(one, want) || !slices.Equal(two, want) || len(list.Items) != wantSlices {
			return fmt.Errorf("endpoints %v, %d slices with %v", one, len(list.Items), two)
		}
		return nil
	})
	return list.Items
}

// kubeletWrites returns the writes among calls, without generated names.
func kubeletWrites(calls []call) (out []string) {
	for _, c := range calls {
		if c.writes() && c.Object.Resource != "events" {
			out = append(out, c.Verb+" "+c.resource())
		}
	}
	return out
}

// The kubelet Service follows nodes that are added, changed and deleted, and manual edits of the written objects are
// undone.
func TestKubelet(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns := w.namespace(t)
	w.kubeletRole(t, "kubelet", ns)
	w.node(t, ns, "kubelet-a", "10.1.0.1", "fd00:1::1")
	w.node(t, ns, "kubelet-b", "10.1.0.2")
	o := w.operator(t, "kubelet", "", "--controller-id=kubelet", "--kubelet-service="+ns+"/kubelet", "--kubelet-endpointslice",
		"--kubelet-selector=integration="+ns, "--kubelet-sync-period=3s", "--labels=team=x")
	w.kubeletEndpoints(t, ns, 2, "10.1.0.1", "fd00:1::1", "10.1.0.2")
	s, err := w.kube.CoreV1().Services(ns).Get(t.Context(), "kubelet", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Spec.ClusterIP != "None" || s.Labels["k8s-app"] != "kubelet" || s.Labels["team"] != "x" || len(s.Spec.Ports) != 3 || s.Spec.Ports[1].Port != 4194 {
		t.Errorf("Service %+v", s)
	}

	expect := func(what string, do func(), want ...string) { // in any order: it depends on that of the events
		t.Helper()
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(kubeletWrites(o.during(t, do)))); !slices.Equal(got, want) {
			t.Errorf("%s: wrote %q, want %q", what, got, want)
		}
	}
	expect("a changed node", func() {
		w.node(t, ns, "kubelet-b", "10.1.0.3")
		w.kubeletEndpoints(t, ns, 2, "10.1.0.1", "fd00:1::1", "10.1.0.3")
	}, "update endpoints", "update endpointslices")
	expect("a label of a node", func() {
		w.patch(t, "v1", "Node", "", "kubelet-b", `{"metadata":{"labels":{"more":"x"}}}`)
	})
	expect("a node that is selected no more", func() {
		w.patch(t, "v1", "Node", "", "kubelet-a", `{"metadata":{"labels":{"integration":null}}}`)
		w.kubeletEndpoints(t, ns, 1, "10.1.0.3")
	}, "update endpoints", "update endpointslices", "delete endpointslices")
	expect("foreign edits", func() {
		w.patch(t, "v1", "Endpoints", ns, "kubelet", `{"subsets":null}`)
		w.patch(t, "v1", "Service", ns, "kubelet", `{"spec":{"ports":[{"name":"other","port":80}]}}`)
		for _, s := range w.kubeletSlices(t, ns) {
			w.delete(t, "discovery.k8s.io/v1", "EndpointSlice", ns, s.Name)
		}
		w.kubeletEndpoints(t, ns, 1, "10.1.0.3")
		eventually(t, "the Service has its ports", func() error {
			s, err := w.kube.CoreV1().Services(ns).Get(t.Context(), "kubelet", metav1.GetOptions{})
			if err == nil && len(s.Spec.Ports) != 3 {
				err = fmt.Errorf("ports %v", s.Spec.Ports)
			}
			return err
		})
	}, "update services", "update endpoints", "create endpointslices")
	expect("no nodes", func() {
		w.delete(t, "v1", "Node", "", "kubelet-b")
		w.kubeletEndpoints(t, ns, 0)
	}, "update endpoints", "delete endpointslices")
	if n := strings.Count(o.log.String(), "Endpoints is deprecated"); n > 1 {
		t.Errorf("the log says %d times that Endpoints is deprecated", n)
	}
	w.delete(t, "v1", "Node", "", "kubelet-a")
}

func (w *environment) kubeletSlices(t *testing.T, ns string) []discoveryv1.EndpointSlice {
	t.Helper()
	list, err := w.kube.DiscoveryV1().EndpointSlices(ns).List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=kubelet"})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

// In a cluster with several slices, a changed node causes one write. After a restart nothing is written, and without
// the flag for Endpoints they are deleted.
func TestKubeletLarge(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns := w.namespace(t)
	w.kubeletRole(t, "kubelet-large", ns)
	var want []string
	name := func(i int) string { return fmt.Sprintf("%s-%d", ns, i) }
	nodes, pages := 520, 2
	if os.Getenv("FIREKEEPER_LOAD") != "" {
		nodes, pages = 1100, 3
	}
	for i := range nodes {
		want = append(want, fmt.Sprintf("10.2.%d.%d", i/250, 1+i%250))
		w.node(t, ns, name(i), want[i])
	}
	args := []string{"--controller-id=" + ns, "--kubelet-service=" + ns + "/kubelet", "--kubelet-endpointslice", "--kubelet-selector=integration=" + ns}
	o := w.operator(t, "kubelet-large", "", args...)
	w.kubeletEndpoints(t, ns, pages, slices.Clone(want)...)
	for i, before := range []string{want[0], want[nodes-1]} {
		at := slices.Index(want, before)
		want[at] = fmt.Sprintf("10.3.0.%d", 1+i)
		calls := o.during(t, func() {
			w.node(t, ns, name(at), want[at])
			w.kubeletEndpoints(t, ns, pages, slices.Clone(want)...)
		})
		if got := texts(calls); len(got) != 2 || got[0] != "update endpoints kubelet" || !strings.HasPrefix(got[1], "update endpointslices kubelet-") {
			t.Errorf("a changed node leads to %q", got)
		}
	}
	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, "kubelet-large", args...)
	eventually(t, "the first comparison", func() error {
		if n, err := o.metric("prometheus_operator_node_syncs_total", "resource", "endpointslice"); err != nil || n == 0 {
			return fmt.Errorf("%v, %v", n, err)
		}
		return nil
	})
	o.settle(t)
	if got := kubeletWrites(w.audit.calls(t, o.user)[before:]); len(got) > 0 {
		t.Errorf("a restart writes %q", got)
	}
	o.stop(t)
	o = w.run(t, "kubelet-large", append(args, "--no-kubelet-endpoints")...)
	w.gone(t, "v1", "Endpoints", ns, "kubelet")
	if n := len(w.kubeletSlices(t, ns)); n != pages {
		t.Errorf("%d slices", n)
	}
	eventually(t, "all nodes are deleted", func() error { // a request ends after a minute
		return w.kube.CoreV1().Nodes().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "integration=" + ns})
	})
}

// Missing permissions are reported once and do not affect the rest.
func TestKubeletWithoutPermissions(t *testing.T) {
	w := start(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		component bool // has the permissions of the component except those for EndpointSlices
		want      string
	}{
		"no nodes":  {false, `component=--kubelet-service reason="no permission to list nodes`},
		"no slices": {true, `component="EndpointSlices of --kubelet-service" reason="no permission`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := w.namespace(t)
			account := "restricted-" + ns
			if tc.component {
				w.kubeletRole(t, account, ns)
				w.patch(t, "rbac.authorization.k8s.io/v1", "Role", ns, "firekeeper-"+account,
					`{"rules":[{"apiGroups":[""],"resources":["services","endpoints"],"verbs":["get","create","update"]}]}`)
				w.node(t, ns, ns, "10.4.0.1")
			}
			o := w.operator(t, account, "", "--controller-id="+ns, "--kubelet-service="+ns+"/kubelet", "--kubelet-endpointslice", "--kubelet-selector=integration="+ns)
			if n := strings.Count(o.log.String(), tc.want); n != 1 {
				t.Errorf("the log says %d times %s:\n%s", n, tc.want, o.log.Brief(logLines))
			}
			if tc.component {
				w.kubeletEndpoints(t, ns, 1, "10.4.0.1") // a mirrored slice
				w.delete(t, "v1", "Node", "", ns)
			}
			w.deployed(t, o, ns)
			for _, c := range w.audit.calls(t, o.user) {
				if c.refused() {
					t.Errorf("refused: %s", c.what())
				}
			}
		})
	}
}
