package preview

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// Querier reads the targets of the servers of workloads.
type Querier interface {
	// Targets queries the servers of a shard, or of all. Unreachable servers have an error.
	Targets(ctx context.Context, w *Workload, shard int) []ServerResponse
}

// ServerResponse is a server and its response.
type ServerResponse struct {
	Pod   string
	Shard int
	Node  string // of a pod that scrapes the targets on its node
	promapi.Answer
}

// servers are the addresses of the pods of a workload.
type servers struct {
	// sets are the StatefulSets of shards, each with replicas pods. selector selects the pods of a
	// DaemonSet.
	sets     []string
	replicas int
	selector map[string]string
	at       delivery.Pod
	prefix   string
}

// serversOf returns the servers of a workload.
func serversOf(c explain.Candidate) servers {
	shape := c.Setup.Shape(c.Object)
	out := servers{replicas: int(shape.Replicas), selector: shape.Selector, at: shape.Reloaders, prefix: c.Object.GetWorkloadFields().RoutePrefix}
	for _, s := range shape.Sets {
		out.sets = append(out.sets, s.Name)
	}
	return out
}

// HealthSource reads the health of the targets of workloads.
type HealthSource interface {
	// Health queries all servers and calls each with one scraped target after the other, which are
	// not kept. The returned servers have no targets. Unreachable ones have an error.
	Health(ctx context.Context, w *Workload, each func(of *ServerResponse, t promapi.Target)) []ServerResponse
}

// Servers is an [Querier] and a [HealthSource] for pods in a cluster.
type Servers struct {
	promapi.Cluster
	// MaxPods (optional) is the maximum number of servers to query, MaxBytes that of bytes that all
	// of them may send for [Servers.Health], and AtOnce that of concurrent requests.
	MaxPods  int
	MaxBytes int64
	AtOnce   int
}

// Defaults: responses can be large.
const (
	queriedAtOnce = 4
	maxHealth     = 1 << 30 // bytes
)

// Targets implements Querier.
func (s Servers) Targets(ctx context.Context, w *Workload, shard int) []ServerResponse {
	return s.each(ctx, w, shard, func(to *ServerResponse, at promapi.Server) { to.Answer = s.Cluster.Targets(ctx, at) })
}

// Health implements HealthSource.
func (s Servers) Health(ctx context.Context, w *Workload, each func(*ServerResponse, promapi.Target)) []ServerResponse {
	allowance := promapi.NewAllowance(cmp.Or(s.MaxBytes, maxHealth))
	var mu sync.Mutex
	return s.each(ctx, w, AllShards, func(to *ServerResponse, at promapi.Server) {
		to.Err = s.Active(ctx, at, allowance, func(t promapi.Target) {
			mu.Lock()
			defer mu.Unlock()
			each(to, t)
		})
	})
}

// each calls query for the servers of a shard, or of all, concurrently.
func (s Servers) each(ctx context.Context, w *Workload, shard int, query func(*ServerResponse, promapi.Server)) []ServerResponse {
	out, err := s.pods(ctx, w, shard)
	if err == nil && w.servers.at.ServerPort == 0 {
		err = fmt.Errorf("spec.listenLocal is true, so that its pods answer only themselves")
	}
	if err != nil {
		return []ServerResponse{{Pod: w.Name, Shard: AllShards, Answer: promapi.Answer{Err: err}}}
	}
	var more []ServerResponse
	if n := s.most(); len(out) > n {
		more = []ServerResponse{{Pod: "others", Shard: AllShards, Answer: promapi.Answer{Err: fmt.Errorf("only the first %d of its pods are asked", n)}}}
		out = out[:n]
	}
	var g errgroup.Group
	g.SetLimit(cmp.Or(s.AtOnce, queriedAtOnce))
	for i := range out {
		g.Go(func() error {
			query(&out[i], promapi.Server{
				Namespace: w.Namespace, Pod: out[i].Pod, Scheme: w.servers.at.Scheme, Port: w.servers.at.ServerPort, Prefix: w.servers.prefix,
			})
			return nil
		})
	}
	_ = g.Wait()
	return append(out, more...)
}

// most returns the maximum number of pods.
func (s Servers) most() int { return cmp.Or(s.MaxPods, math.MaxInt-1) }

// pods returns the expected pods of StatefulSets, by name, or the existing pods of a DaemonSet, at
// most one more than [Servers.most].
func (s Servers) pods(ctx context.Context, w *Workload, shard int) (out []ServerResponse, err error) {
	for i, set := range w.servers.sets {
		for r := range w.servers.replicas {
			if len(out) > s.most() {
				return out, nil
			}
			if shard == AllShards || shard == i {
				out = append(out, ServerResponse{Pod: set + "-" + strconv.Itoa(r), Shard: i})
			}
		}
	}
	if !w.PerNode {
		return out, nil
	}
	options := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(w.servers.selector).String()}
	if s.MaxPods > 0 {
		options.Limit = int64(s.MaxPods) + 1
	}
	list, err := s.Kube.CoreV1().Pods(w.Namespace).List(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("list its pods: %w", err)
	}
	for i := range list.Items {
		if p := &list.Items[i]; p.Spec.NodeName != "" {
			out = append(out, ServerResponse{Pod: p.Name, Node: p.Spec.NodeName})
		}
	}
	slices.SortFunc(out, func(a, b ServerResponse) int { return cmp.Compare(a.Pod, b.Pod) })
	return out, nil
}

// podNames returns a human-readable list: "pods a, b".
func podNames(all []string) string {
	if len(all) == 1 {
		return "pod " + all[0]
	}
	return "pods " + strings.Join(all, ", ")
}
