package preview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// Asker reads the targets of the servers of workloads.
type Asker interface {
	// Ask queries the servers of a shard, or of all. Unreachable servers have an error.
	Ask(ctx context.Context, w *Workload, shard int) []Asked
}

// Asked is a server and its response.
type Asked struct {
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

// Servers is an [Asker] for pods in a cluster.
type Servers struct{ promapi.Cluster }

// askedAtOnce is the maximum number of concurrent requests, since responses can be large.
const askedAtOnce = 4

// Ask implements Asker.
func (s Servers) Ask(ctx context.Context, w *Workload, shard int) []Asked {
	out, err := s.pods(ctx, w, shard)
	if err == nil && w.servers.at.ServerPort == 0 {
		err = fmt.Errorf("spec.listenLocal is true, so that its pods answer only themselves")
	}
	if err != nil {
		return []Asked{{Pod: w.Name, Shard: AllShards, Answer: promapi.Answer{Err: err}}}
	}
	var g errgroup.Group
	g.SetLimit(askedAtOnce)
	for i := range out {
		g.Go(func() error {
			out[i].Answer = s.Cluster.Ask(ctx, promapi.Server{
				Namespace: w.Namespace, Pod: out[i].Pod, Scheme: w.servers.at.Scheme, Port: w.servers.at.ServerPort, Prefix: w.servers.prefix,
			})
			return nil
		})
	}
	_ = g.Wait()
	return out
}

// pods returns the expected pods of StatefulSets, by name, or the existing pods of a DaemonSet.
func (s Servers) pods(ctx context.Context, w *Workload, shard int) (out []Asked, err error) {
	for i, set := range w.servers.sets {
		for r := range w.servers.replicas {
			if shard == AllShards || shard == i {
				out = append(out, Asked{Pod: set + "-" + strconv.Itoa(r), Shard: i})
			}
		}
	}
	if !w.PerNode {
		return out, nil
	}
	list, err := s.Kube.CoreV1().Pods(w.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(w.servers.selector).String()})
	if err != nil {
		return nil, fmt.Errorf("list its pods: %w", err)
	}
	for i := range list.Items {
		if p := &list.Items[i]; p.Spec.NodeName != "" {
			out = append(out, Asked{Pod: p.Name, Node: p.Spec.NodeName})
		}
	}
	slices.SortFunc(out, func(a, b Asked) int { return cmp.Compare(a.Pod, b.Pod) })
	return out, nil
}

// podNames returns a human-readable list: "pods a, b".
func podNames(all []string) string {
	if len(all) == 1 {
		return "pod " + all[0]
	}
	return "pods " + strings.Join(all, ", ")
}
