package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// aPod is the only pod of a cluster, and its token.
type aPod struct{ token string }

func (p aPod) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	if token != p.token {
		return nil, false, nil
	}
	return &authenticator.Response{Audiences: authenticator.Audiences{feed.Audience}, User: &user.DefaultInfo{
		Name: "system:serviceaccount:demo:default", Extra: map[string][]string{
			"authentication.kubernetes.io/pod-name": {"prometheus-k8s-0"}, "authentication.kubernetes.io/pod-uid": {"u"},
		}}}, true, nil
}

func (p aPod) Pod(context.Context, types.NamespacedName) (*corev1.Pod, error) {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "prometheus-k8s-0", UID: "u", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: "prometheus-k8s", Controller: new(true)},
	}}}, nil
}

// The discovery service and config-reloader are compatible: full lists, changes, removed jobs, a new leader, and the
// list of a shard that was removed.
func TestDiscoveryService(t *testing.T) {
	of := feed.Shard{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "demo", Name: "k8s"}}
	pod := aPod{"token"}
	service := &feed.Server{Feed: feed.New(), Identity: feed.Identity{Tokens: pod, Pods: pod}, Log: slog.New(slog.DiscardHandler)}
	service.Feed.SetOwners(map[types.NamespacedName]feed.Owner{{Namespace: "demo", Name: "prometheus-k8s"}: {Shard: of}})
	apply := func(changes ...feed.Change) { service.Feed.Apply(time.Now(), of, changes) }
	line := func(name string, targets int) feed.Change {
		var groups []string
		for i := range targets {
			groups = append(groups, fmt.Sprintf(`{"targets":["10.0.0.%d:80"],"labels":{}}`, i))
		}
		return feed.Change{Job: name, Line: []byte(fmt.Sprintf("{\"job\":%q,\"groups\":[%s]}\n", name, strings.Join(groups, ","))), Targets: targets}
	}
	apply(line(aJob, 1), line("probe/demo/b", 0))
	service.Feed.Lead(7)
	mux := http.NewServeMux()
	service.Register(mux)
	d := &discovery{Server: httptest.NewTLSServer(mux)}
	t.Cleanup(func() { d.CloseClientConnections(); d.Close() })
	p := newPod(t, d, pod.token)
	process := start(t, append(p.args(), "--targets-report-interval=50ms")...)
	p.until(t, `200 [{"targets":["10.0.0.0:80"],"labels":{}}]`)
	process.Until("a report", func() bool {
		status, _ := service.Status()
		streams := status[of].Streams
		return len(streams) == 1 && streams[0].Report != nil && streams[0].Report.Version == status[of].Version && streams[0].Report.Requested == 1
	})
	if got := p.get("probe/demo/b"); got != "200 []" {
		t.Errorf("a job without targets: %s", got)
	}
	apply(line(aJob, 0), feed.Change{Job: "probe/demo/b"})
	p.until(t, "200 []")
	reloadtest.Until(t, "the job to go", func() bool { return strings.HasPrefix(p.get("probe/demo/b"), "503") })
	if process.Metric("reloader_targets_connections_total") != "1" || process.Metric("reloader_targets_leader") != "7" {
		t.Errorf("%s connections, leader %s", process.Metric("reloader_targets_connections_total"), process.Metric("reloader_targets_leader"))
	}
	service.Feed.Lead(8)
	apply(line(aJob, 2))
	process.Until("the next leader", func() bool { return process.Metric("reloader_targets_leader") == "8" })
	p.until(t, `200 [{"targets":["10.0.0.0:80"],"labels":{}},{"targets":["10.0.0.1:80"],"labels":{}}]`)

	// A list that fits into the limits of the service fits into those of config-reloader, whatever labels the targets
	// have.
	r := rand.New(rand.NewPCG(0, 0))
	for i, size := range []int{100, 12_000, 20_000, 30_000} {
		note := make([]byte, size)
		for i := range note {
			note[i] = byte('a' + r.IntN(26))
		}
		group := fmt.Sprintf(`,{"targets":["a"],"labels":{"note":"%s"}}`, note)
		groups := strings.Repeat(group, 3_000_000/size)[1:]
		apply(feed.Change{Job: aJob, Line: []byte(fmt.Sprintf("{\"job\":%q,\"groups\":[%s]}\n", aJob, groups)), Targets: i})
		status, _ := service.Status()
		process.Until("the list", func() bool { return "8-"+process.Metric("reloader_targets_sequence") == status[of].Version })
		if here, err := strconv.ParseFloat(process.Metric("reloader_targets_bytes"), 64); err != nil || here > float64(status[of].Bytes) {
			t.Errorf("notes of %d bytes: %.0f bytes here (%v), %d at the service", size, here, err, status[of].Bytes)
		}
	}
}
