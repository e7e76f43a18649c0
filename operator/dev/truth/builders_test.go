package truth

import (
	"context"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	httpconfig "github.com/prometheus/common/config"
	promdiscovery "github.com/prometheus/prometheus/discovery/kubernetes"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/watch"
)

// side holds the groups of one implementation, by source.
type side struct {
	mu      sync.Mutex
	groups  map[string]string
	changed chan struct{} // has a value after a change
}

func newSide() *side {
	return &side{groups: map[string]string{}, changed: make(chan struct{}, 1)}
}

func (s *side) put(source string, g *targetgroup.Group) {
	text := ""
	if g != nil && len(g.Targets) > 0 {
		var lines []string
		for _, t := range g.Targets {
			lines = append(lines, "\n  "+t.String())
		}
		slices.Sort(lines) // builders return targets in no particular order
		text = g.Labels.String() + strings.Join(lines, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.groups[source] = text; text == "" {
		delete(s.groups, source)
	}
	s.wake()
}

func (s *side) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *side) all() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.groups)
}

// pair is one discovery, run by Prometheus and by the operator.
type pair struct {
	sd               targets.KubernetesSD
	prometheus, ours *side
	sub              *watch.Subscription
}

// newPair runs Prometheus' discovery with its own informers, and subscribes to the shared ones.
func newPair(t *testing.T, c *cluster.Cluster, shared *watch.Cluster, sd targets.KubernetesSD) *pair {
	t.Helper()
	p := &pair{sd: sd, prometheus: newSide(), ours: newSide()}
	conf := &promdiscovery.SDConfig{KubeConfig: c.Kubeconfig, Role: promdiscovery.Role(sd.Role), HTTPClientConfig: httpconfig.DefaultHTTPClientConfig}
	conf.NamespaceDiscovery.Names = sd.Namespaces.Names
	conf.AttachMetadata.Node, conf.AttachMetadata.Namespace = sd.AttachMetadata.Node, sd.AttachMetadata.Namespace
	for _, s := range sd.Selectors {
		conf.Selectors = append(conf.Selectors, promdiscovery.SelectorConfig{Role: promdiscovery.Role(s.Role), Label: s.Label, Field: s.Field})
	}
	d, err := promdiscovery.New(nil, conf.NewDiscovererMetrics(prometheus.NewRegistry(), nil), conf)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ch := make(chan []*targetgroup.Group)
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx, ch) })
	running.Go(func() {
		for {
			select {
			case groups := <-ch:
				p.prometheus.put(groups[0].Source, groups[0])
			case <-ctx.Done():
				return
			}
		}
	})
	if p.sub, err = shared.Subscribe(&sd, "", p.ours.wake); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		p.sub.Close()
		running.Wait()
	})
	return p
}

// patience is the timeout for both sides to reach a state. It is long because about twenty discoveries, each with its
// own informers, run on a machine that may be busy.
const patience = 10 * time.Minute

// wait waits until a condition holds for the groups of both sides.
func (p *pair) wait(t *testing.T, what string, holds func(prometheus, ours map[string]string) bool) {
	t.Helper()
	late := time.After(patience)
	for {
		p.sub.Take(nil, func(string, targets.Outline) bool { return false }, p.ours.put)
		prometheus, ours := p.prometheus.all(), p.ours.all()
		if len(p.sub.Gaps()) == 0 && holds(prometheus, ours) {
			return
		}
		select {
		case <-p.prometheus.changed:
		case <-p.ours.changed:
		case <-late:
			t.Fatalf("%+v: %s: gaps %v, (-Prometheus +ours)\n%s", p.sd, what, p.sub.Gaps(), cmp.Diff(prometheus, ours))
		}
	}
}

// discoveries returns the discoveries that are compared.
func discoveries() (out []targets.KubernetesSD) {
	for _, role := range []string{"endpoints", "endpointslice", "pod", "service", "node", "ingress"} {
		out = append(out, targets.KubernetesSD{Role: role},
			targets.KubernetesSD{Role: role, AttachMetadata: targets.AttachMetadata{Node: true, Namespace: true}, Namespaces: targets.Namespaces{Names: []string{"ns-0", "ns-1"}}})
	}
	web := func(role string) targets.Selector { return targets.Selector{Role: role, Label: "app in (a, web)"} }
	return append(out,
		targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Field: "spec.nodeName=a", Label: "team"}}},
		targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Field: "status.phase!=Running"}, web("node")}, AttachMetadata: targets.AttachMetadata{Node: true}},
		targets.KubernetesSD{Role: "endpointslice", Selectors: []targets.Selector{web("endpointslice"), web("service"), web("pod")}},
		targets.KubernetesSD{Role: "endpoints", Selectors: []targets.Selector{web("service"), web("pod")}, Namespaces: targets.Namespaces{Names: []string{"ns-1"}}},
		targets.KubernetesSD{Role: "service", Selectors: []targets.Selector{{Role: "service", Field: "metadata.name=a"}}},
		targets.KubernetesSD{Role: "node", Selectors: []targets.Selector{web("node")}},
	)
}

// The groups of the shared, trimmed informers match those of Prometheus' discovery, which has its own informers and
// complete objects, while objects in a real API server change at random. FIREKEEPER_EVENTS is the number of events.
func TestBuilders(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	}
	events, err := strconv.Atoi(os.Getenv("FIREKEEPER_EVENTS"))
	if err != nil {
		t.Skip("takes minutes, and both sides need the machine for themselves to settle; FIREKEEPER_EVENTS=1000 runs it")
	}
	c := clustertest.Shared(t, cluster.Options{})
	config := &rest.Config{Host: c.Host, BearerToken: c.Token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, WarningHandler: rest.NoWarnings{}}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &churn{t: t, api: objects, r: rand.New(rand.NewSource(1)), exists: map[string]bool{}}
	w.begin()
	compact := rest.CopyConfig(config)
	compact.AcceptContentTypes = runtime.ContentTypeProtobuf
	lists, err := watch.From(kube, compact)
	if err != nil {
		t.Fatal(err)
	}
	shared := &watch.Cluster{Lists: lists}
	defer shared.Close()
	var pairs []*pair
	for _, sd := range discoveries() {
		pairs = append(pairs, newPair(t, c, shared, sd))
	}
	compared := 0
	for round := 1; w.events < events; round++ {
		for range 150 {
			w.event(w.of("services", "endpointslices", "endpoints", "ingresses", "nodes", "namespaces"))
		}
		w.reach(t, pairs, fmt.Sprint(round))
		compared += agree(t, pairs, fmt.Sprint("round ", round))
		for range 100 {
			w.event("pods")
		}
		w.reach(t, pairs, fmt.Sprint(round, "-pods"))
		compared += agree(t, pairs, fmt.Sprint("round ", round, " with pods"))
	}
	if compared < events/2 {
		t.Errorf("only %d groups are compared", compared)
	}
	t.Logf("%d events, %d groups compared", w.events, compared)
}

// agree waits until both sides have the same groups for all discoveries.
func agree(t *testing.T, pairs []*pair, when string) (groups int) {
	t.Helper()
	for _, p := range pairs {
		p.wait(t, when, func(prometheus, ours map[string]string) bool {
			if !maps.Equal(prometheus, ours) {
				return false
			}
			groups += len(ours)
			return true
		})
	}
	return groups
}

// begin creates the objects that are never deleted.
func (w *churn) begin() {
	w.create("nodes", "", marker, fields{})
	for _, ns := range churnNamespaces {
		w.create("namespaces", "", ns, fields{})
		w.create("serviceaccounts", ns, "default", fields{}) // required by pods
		pod := w.pod(fields{"labels": fields{"app": "web"}})
		w.create("pods", ns, marker, pod)
		ref := fields{"kind": "Pod", "namespace": ns, "name": marker}
		labels := fields{"app": "web"}
		w.create("endpointslices", ns, marker, fields{"metadata": fields{"labels": labels}, "addressType": "IPv4", "ports": []any{fields{"port": 80}},
			"endpoints": []any{fields{"addresses": []any{"10.9.0.1"}, "targetRef": ref, "nodeName": marker}}})
		w.create("endpoints", ns, marker, fields{"metadata": fields{"labels": labels}, "subsets": []any{fields{"addresses": []any{fields{"ip": "10.9.0.1", "targetRef": ref, "nodeName": marker}}, "ports": []any{fields{"port": 80}}}}})
	}
}

// reach waits until all discoveries have seen all pods and nodes, and then touches the slices. Pod events do not
// rebuild slices, and node events rebuild only slices with a target reference, so a slice otherwise has the state of
// the time of its last rebuild. The marker pods and nodes are changed last; once they are seen, so are all others.
func (w *churn) reach(t *testing.T, pairs []*pair, round string) {
	t.Helper()
	label := fields{"metadata": fields{"labels": fields{"round": round}}}
	w.patch("nodes", "", marker, label)
	for _, ns := range churnNamespaces {
		w.patch("pods", ns, marker, label)
	}
	for _, p := range pairs {
		prefix, resource := "endpointslice/", "endpointslices"
		switch p.sd.Role {
		case "endpoints":
			prefix, resource = "endpoints/", "endpoints"
		case "endpointslice":
		default:
			continue
		}
		knows := func(group string) bool {
			return strings.Contains(group, fmt.Sprintf("__meta_kubernetes_pod_label_round=%q", round)) &&
				(!p.sd.AttachMetadata.Node || strings.Contains(group, fmt.Sprintf("__meta_kubernetes_node_label_round=%q", round)))
		}
		p.wait(t, "marker", func(prometheus, ours map[string]string) bool {
			for _, ns := range churnNamespaces {
				source := prefix + ns + "/" + marker
				if prometheus[source] == "" && ours[source] == "" {
					continue // not one of the selected namespaces
				}
				if !knows(prometheus[source]) || !knows(ours[source]) {
					w.touch(resource, ns, marker)
					return false
				}
			}
			return true
		})
	}
	for key := range w.exists {
		resource, rest, _ := strings.Cut(key, "/")
		if ns, name, _ := strings.Cut(rest, "/"); resource == "endpointslices" || resource == "endpoints" {
			w.touch(resource, ns, name)
		}
	}
}

// touch makes both sides rebuild the group of an object.
func (w *churn) touch(resource, namespace, name string) {
	w.t.Helper()
	w.patch(resource, namespace, name, fields{"metadata": fields{"annotations": fields{"touched": fmt.Sprint(w.events)}}})
}
