package watch

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch/watchtest"
)

// api is an API server with short notations for objects.
type api struct {
	*watchtest.API
	t *testing.T
}

// object parses an object.
func object[T discovery.Object](t *testing.T, into T, format string, args ...any) T {
	t.Helper()
	if err := yaml.UnmarshalStrict(fmt.Appendf(nil, format, args...), into); err != nil {
		t.Fatal(err)
	}
	return into
}

// slice returns an EndpointSlice with one address, of a pod.
func (a *api) slice(ns, name, address, podNamespace, pod string) *discoveryv1.EndpointSlice {
	return object(a.t, &discoveryv1.EndpointSlice{}, `{metadata: {namespace: %s, name: %s, labels: {kubernetes.io/service-name: %s}}, addressType: IPv4, ports: [{name: http, port: 80}],
		endpoints: [{addresses: [%s], targetRef: {kind: Pod, namespace: %s, name: %s}}]}`, ns, name, name, address, podNamespace, pod)
}

func (a *api) pod(ns, name, address, app string) *corev1.Pod {
	return object(a.t, &corev1.Pod{}, `{metadata: {namespace: %s, name: %s, labels: {app: %s}}, spec: {nodeName: n1, containers: [{name: c, image: i, ports: [{name: http, containerPort: 80}]}]}, status: {podIP: %s}}`,
		ns, name, app, address)
}

// reader collects the groups of a subscription.
type reader struct {
	*Subscription
	wakes  atomic.Int32
	groups map[string]*targetgroup.Group
}

func subscribe(t *testing.T, c *Cluster, sd targets.KubernetesSD) *reader {
	t.Helper()
	r := &reader{groups: map[string]*targetgroup.Group{}}
	var err error
	if r.Subscription, err = c.Subscribe(&sd, "own", func() { r.wakes.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return r
}

// takeAll takes the changed groups without dropping any.
func takeAll(s *Subscription, each func(source string, group *targetgroup.Group)) {
	s.Take(nil, func(string, targets.Outline) bool { return false }, each)
}

// found returns the groups after all events, as "source label".
func (r *reader) found(label string) (out []string) {
	settle()
	takeAll(r.Subscription, func(source string, group *targetgroup.Group) {
		if group == nil {
			delete(r.groups, source)
			return
		}
		r.groups[source] = group
	})
	for _, source := range slices.Sorted(maps.Keys(r.groups)) {
		g := r.groups[source]
		for _, target := range g.Targets {
			all := target.Merge(g.Labels)
			line := source
			if value, has := all[model.LabelName(label)]; has {
				line += " " + string(value)
			}
			out = append(out, line)
		}
	}
	slices.Sort(out) // a table sorts the targets of a group by when it first saw their labels
	return out
}

// settle lets events arrive: builders poll every 0.1 s whether informers have synced.
func settle() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

func bubble(t *testing.T, test func(t *testing.T, a *api)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &api{watchtest.New(t), t}) })
}

func (a *api) cluster(namespaces ...string) *Cluster {
	c := &Cluster{Lists: a.Lists, Namespaces: namespaces}
	a.t.Cleanup(func() {
		c.Close()
		if len(c.sources)+len(c.leases) > 0 {
			a.t.Errorf("%d informers and %d views stay", len(c.sources), len(c.leases))
		}
	})
	return c
}

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

const podApp = "__meta_kubernetes_pod_label_app"

var inDemo = targets.KubernetesSD{Role: "endpointslice", Namespaces: targets.Namespaces{Names: []string{"demo"}}}

// A watch event changes one group and only wakes the subscriptions to its namespace.
func TestEvents(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		pods, slices := a.Kind("pods"), a.Kind("endpointslices")
		pods.Add(a.pod("demo", "web", "10.0.0.1", "web"))
		slices.Add(a.slice("demo", "web", "10.0.0.1", "demo", "web"))
		demo := subscribe(t, c, inDemo)
		defer demo.Close()
		all := subscribe(t, c, targets.KubernetesSD{Role: "endpointslice"})
		defer all.Close()
		own := subscribe(t, c, targets.KubernetesSD{Role: "endpointslice", Namespaces: targets.Namespaces{Own: true}})
		defer own.Close()
		same(t, []string{"endpointslice/demo/web web"}, demo.found(podApp))
		same(t, []string{"endpointslice/demo/web web"}, all.found(podApp))
		same(t, []string(nil), own.found(podApp))

		before := own.wakes.Load()
		slices.Add(a.slice("demo", "db", "10.0.0.2", "demo", "db"))
		a.Kind("services").Add(object(t, &corev1.Service{}, "metadata: {namespace: demo, name: web, labels: {app: web}}"))
		same(t, []string{"endpointslice/demo/db", "endpointslice/demo/web web"}, demo.found("__meta_kubernetes_service_label_app"))
		slices.Delete(a.slice("demo", "web", "", "demo", "web"))
		same(t, []string{"endpointslice/demo/db"}, demo.found(podApp))
		same(t, []string{"endpointslice/demo/db"}, all.found(podApp))
		if own.wakes.Load() != before {
			t.Error("a subscription to another namespace is woken")
		}

		// A late subscription gets the existing groups; nothing is listed twice.
		late := subscribe(t, c, inDemo)
		defer late.Close()
		same(t, []string{"endpointslice/demo/db"}, late.found(podApp))
		same(t, map[string]int{"/endpointslices": 2, "/pods": 2, "/services": 2}, a.Calls())
	})
}

// A watch event that does not change labels wakes no subscription.
func TestEventsWithoutChange(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		a.Kind("pods").Add(a.pod("demo", "web", "10.0.0.1", "web"))
		r := subscribe(t, a.cluster(), targets.KubernetesSD{Role: "pod"})
		defer r.Close()
		same(t, []string{"pod/demo/web web"}, r.found(podApp))
		before := r.wakes.Load()
		pod := a.pod("demo", "web", "10.0.0.1", "web")
		pod.Spec.Volumes = []corev1.Volume{{Name: "more"}}
		a.Kind("pods").Modify(pod)
		settle()
		if r.wakes.Load() != before {
			t.Error("woken")
		}
	})
}

// Objects that selectors no longer select disappear.
func TestSelectors(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		pods := a.Kind("pods")
		pods.Add(a.pod("demo", "web", "10.0.0.1", "web"))
		pods.Add(a.pod("demo", "db", "10.0.0.2", "db"))
		r := subscribe(t, c, targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Label: "app=web"}}})
		defer r.Close()
		same(t, []string{"pod/demo/web web"}, r.found(podApp))
		pods.Modify(a.pod("demo", "web", "10.0.0.1", "other"))
		pods.Modify(a.pod("demo", "db", "10.0.0.2", "web"))
		same(t, []string{"pod/demo/db web"}, r.found(podApp))

		for text, selector := range map[string]targets.Selector{
			`kubernetes discovery: field selector of role pod: field "spec.priority" is not known`: {Role: "pod", Label: "app=none", Field: "spec.priority=1"},
		} {
			_, err := c.Subscribe(&targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{selector}}, "", nil)
			same(t, text, fmt.Sprint(err))
		}
		for text, sd := range map[string]targets.KubernetesSD{
			`kubernetes discovery: role "gateway" does not exist`:            {Role: "gateway"},
			`the job discovers targets in the cluster of https://other:6443`: {Role: "pod", APIServer: "https://other:6443"},
		} {
			_, err := c.Subscribe(&sd, "", nil)
			same(t, text, fmt.Sprint(err))
		}
	})
}

// Subscriptions to one namespace must not see labels of pods in another namespace to which a slice
// refers.
func TestPodsOfOtherNamespaces(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		a.Kind("pods").Add(a.pod("secret", "web", "10.0.0.1", "hidden"))
		a.Kind("endpointslices").Add(a.slice("demo", "web", "10.0.0.1", "secret", "web"))
		demo, all := subscribe(t, c, inDemo), subscribe(t, c, targets.KubernetesSD{Role: "endpointslice"})
		defer demo.Close()
		defer all.Close()
		same(t, []string{"endpointslice/demo/web hidden"}, all.found(podApp))
		same(t, []string{"endpointslice/demo/web"}, demo.found(podApp))
		same(t, []string{"endpointslice/demo/web web"}, demo.found("__meta_kubernetes_endpointslice_address_target_name"))
		a.Kind("endpointslices").Modify(a.slice("demo", "web", "10.0.0.1", "demo", "web"))
		same(t, []string{"endpointslice/demo/web"}, all.found(podApp))
		a.Kind("pods").Add(a.pod("demo", "web", "10.0.0.1", "shown"))
		settle() // only events of slices rebuild their groups
		a.Kind("endpointslices").Modify(a.slice("demo", "web", "10.0.0.9", "demo", "web"))
		same(t, []string{"endpointslice/demo/web shown"}, demo.found(podApp))
		a.Kind("endpointslices").Delete(a.slice("demo", "web", "10.0.0.9", "demo", "web"))
		same(t, []string(nil), demo.found(podApp))
	})
}

// Kinds that have not been listed are reported as unknown, not as empty.
func TestGaps(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		wait := make(chan struct{})
		a.Delay("pods", wait)
		a.Deny("ingresses", true)
		pods, ingresses := subscribe(t, c, targets.KubernetesSD{Role: "pod"}), subscribe(t, c, targets.KubernetesSD{Role: "ingress"})
		defer pods.Close()
		defer ingresses.Close()
		settle()
		same(t, []bool{true, false}, []bool{pods.Filling(), ingresses.Filling()}) // it does not wait for forbidden lists
		same(t, []targets.Gap{{State: targets.Unknown, Message: "targets of role pod are not known yet: the initial list is not complete"}}, pods.Gaps())
		same(t, []targets.Gap{{State: targets.Unknown, Refused: true, Message: "targets of role ingress are not known: no permission to list ingresses.networking.k8s.io in all namespaces"}}, ingresses.Gaps())
		before := pods.wakes.Load()
		close(wait)
		settle()
		same(t, 0, len(pods.Gaps()))
		same(t, false, pods.Filling())
		if pods.wakes.Load() == before {
			t.Error("nobody is woken when the list is complete")
		}
		a.Deny("ingresses", false)
		time.Sleep(time.Minute) // the backoff of an informer
		settle()
		same(t, 0, len(ingresses.Gaps()))
	})
}

// Groups can be read by source and by namespace, within the scope of the discovery.
func TestGroups(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		for i, namespace := range []string{"demo", "prod", "other"} {
			a.Kind("pods").Add(a.pod(namespace, "web", fmt.Sprint("10.0.0.", i), "web"))
		}
		all := subscribe(t, c, targets.KubernetesSD{Role: "pod"})
		some := subscribe(t, c, targets.KubernetesSD{Role: "pod", Namespaces: targets.Namespaces{Names: []string{"demo", "prod"}}})
		defer all.Close()
		defer some.Close()
		settle()
		for namespace, want := range map[string][2]string{
			"demo": {"pod/demo/web", "pod/demo/web"}, "prod": {"pod/prod/web", "pod/prod/web"}, "other": {"pod/other/web", ""}, "none": {"", ""}, "": {"", ""},
		} {
			for i, r := range []*reader{all, some} {
				got := ""
				r.In(namespace, func(source string, group *targetgroup.Group) { got += source; same(t, source, group.Source) })
				same(t, want[i], got)
				same(t, want[i] != "", r.Group("pod/"+namespace+"/web") != nil)
			}
		}
		informers, groups := c.Size()
		same(t, [2]int{1, 3}, [2]int{informers, groups})
	})
}

// Permissions for individual namespaces are sufficient for discovery in them.
func TestNamespacesOneByOne(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster("demo", "prod")
		a.Deny("prod/pods", true)
		in := func(names ...string) targets.KubernetesSD {
			return targets.KubernetesSD{Role: "pod", Namespaces: targets.Namespaces{Names: names}, AttachMetadata: targets.AttachMetadata{Node: true}}
		}
		demo, both, other, all := subscribe(t, c, in("demo")), subscribe(t, c, in("demo", "prod")), subscribe(t, c, in("other")), subscribe(t, c, in())
		for _, r := range []*reader{demo, both, other, all} {
			defer r.Close()
		}
		settle()
		same(t, 0, len(demo.Gaps()))
		same(t, []targets.Gap{{State: targets.Unknown, Refused: true, Message: "targets of role pod are not known: no permission to list pods in namespace prod"}}, both.Gaps())
		same(t, []targets.Gap{{State: targets.Unknown, Message: "targets of role pod are not known: pods in namespace other are not watched"}}, other.Gaps())
		same(t, []targets.Gap{{State: targets.Unknown, Message: "targets of role pod are not known: pods in all namespaces are not watched"}}, all.Gaps())
		if calls := a.Calls(); calls["demo/pods"] != 2 || calls["/nodes"] != 2 || calls["/pods"] != 0 {
			t.Errorf("read %v", a.Calls())
		}
	})
}

// Informers exist while they are used, and for ten more minutes.
func TestIdle(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		settle()
		same(t, map[string]int{}, a.Calls())
		a.Kind("pods").Add(a.pod("demo", "web", "10.0.0.1", "web"))
		pod := targets.KubernetesSD{Role: "pod"}
		first := subscribe(t, c, pod)
		settle()
		same(t, map[string]int{"/pods": 2}, a.Calls())
		first.Close()
		first.Close()
		time.Sleep(idle - time.Minute)
		second := subscribe(t, c, pod)
		time.Sleep(2 * idle) // watches end meanwhile, and the next ones begin
		same(t, []string{"pod/demo/web web"}, second.found(podApp))
		same(t, 1, len(c.sources))
		second.Close()
		time.Sleep(idle + time.Second)
		synctest.Wait()
		same(t, 0, len(c.sources)+len(c.leases))
		c.table.Put(&targetgroup.Group{})
		a.Kind("pods").Add(a.pod("demo", "new", "10.0.0.2", "web"))
		before := a.Calls()["/pods"]
		third := subscribe(t, c, pod)
		defer third.Close()
		same(t, []string{"pod/demo/new web", "pod/demo/web web"}, third.found(podApp))
		if a.Calls()["/pods"] != before+2 {
			t.Errorf("read %v", a.Calls())
		}
	})
}

// Servers of an older release get the results of that release alongside newer ones.
func TestReleases(t *testing.T) {
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		a.Kind("pods").Add(object(t, &corev1.Pod{}, `{metadata: {namespace: demo, name: web}, spec: {nodeName: n1,
			initContainers: [{name: proxy, image: i, restartPolicy: Always, ports: [{name: admin, containerPort: 15000}]}],
			containers: [{name: c, image: i, ports: [{name: http, containerPort: 80}]}]}, status: {podIP: 10.0.0.1}}`))
		a.Kind("endpointslices").Add(a.slice("demo", "web", "10.0.0.1", "demo", "web"))
		linked, old := inDemo, inDemo
		old.Release = semver.MustParse("2.55.1")
		now := subscribe(t, c, linked)
		defer now.Close()
		before := subscribe(t, c, old)
		defer before.Close()
		const init, port = "__meta_kubernetes_pod_container_init", "__meta_kubernetes_pod_container_port_number"
		same(t, []string{"endpointslice/demo/web false", "endpointslice/demo/web true"}, now.found(init))
		same(t, []string{"endpointslice/demo/web"}, before.found(init))
		a.Kind("endpointslices").Add(a.slice("demo", "web", "10.0.0.1", "demo", "web"))
		same(t, []string{"endpointslice/demo/web 80"}, before.found(port))
	})
}
