package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// demo is the namespace of the pods, of the Prometheus k8s and of the ServiceMonitor web.
const demo = "demo"

// podsOfService is the number of pods of a Service of discoverytest. A tenth of the Services are selected.
const podsOfService, selectedShare = 10, 10

// pods measures the targets of many pods, in the order of the costs of the part.
func (w *whole) pods(ctx context.Context, count int) (out []float64, err error) {
	b, err := w.newControlPlaneAlone(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	if err := b.fillPods(ctx, count, w.say); err != nil {
		return nil, err
	}
	once, err := w.listTargets(ctx, b, count/selectedShare)
	if err != nil {
		return nil, err
	}
	followed, err := w.follow(ctx, b, count)
	return append(once, followed...), err
}

// fillPods creates a namespace with pods, a Prometheus and what it needs to find its targets.
func (b *controlPlane) fillPods(ctx context.Context, count int, say func(string, ...any)) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: demo}}
	if _, err := b.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := b.allowDiscovery(ctx); err != nil {
		return err
	}
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: "k8s"}}
	p.Spec.Version, p.Spec.Shards = "3.5.0", new(int32(2))
	p.Spec.ServiceDiscoveryRole, p.Spec.ServiceMonitorSelector = v1.EndpointSliceRole, &metav1.LabelSelector{}
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: "web"}}
	m.Spec.Selector.MatchLabels = map[string]string{"app": "web-3"}
	m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
	for kind, obj := range map[string]object{"prometheuses": p, "servicemonitors": m} {
		if err := b.crds[v1.SchemeGroupVersion].Post().Namespace(demo).Resource(kind).Body(obj).Do(ctx).Error(); err != nil {
			return err
		}
	}
	return b.storePods(ctx, count, say)
}

// allowDiscovery lets all ServiceAccounts read what targets consist of.
func (b *controlPlane) allowDiscovery(ctx context.Context) error {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "discovery"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"", "discovery.k8s.io"}, Resources: []string{"services", "pods", "endpointslices"}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"}}}
	if _, err := b.kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := b.kube.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{})
	return err
}

// storePods stores pods, and the Services and EndpointSlices with them, in the encoding of the API server.
func (b *controlPlane) storePods(ctx context.Context, count int, say func(string, ...any)) error {
	return b.storeServices(ctx, count, count/podsOfService, discoverytest.TypicalService, say)
}

// storeServices is like storePods, with other Services.
func (b *controlPlane) storeServices(ctx context.Context, count, services int, service func(i int) (corev1.Service, discoveryv1.EndpointSlice), say func(string, ...any)) error {
	began := time.Now()
	core, discovery := encoder(corev1.SchemeGroupVersion), encoder(discoveryv1.SchemeGroupVersion)
	put := func(what, folder string, count int, one func(i int) (name string, value []byte, err error)) error {
		return b.store.putAll(ctx, 0, count, func(i int) (pair, error) {
			name, value, err := one(i)
			return pair{[]byte(path.Join("/registry", folder, demo, name)), value}, err
		}, every(20_000, count, what, say))
	}
	err := errors.Join(
		put("pods", "pods", count, func(i int) (string, []byte, error) {
			pod := discoverytest.TypicalPod(i)
			pod.ResourceVersion = ""
			value, err := runtime.Encode(core, &pod)
			return pod.Name, value, err
		}),
		put("Services", "services/specs", services, func(i int) (string, []byte, error) {
			one, _ := service(i)
			value, err := runtime.Encode(core, &one)
			return one.Name, value, err
		}),
		put("EndpointSlices", "endpointslices", services, func(i int) (string, []byte, error) {
			_, slice := service(i)
			value, err := runtime.Encode(discovery, &slice)
			return slice.Name, value, err
		}),
	)
	took := time.Since(began)
	say("stored %d pods with %d Services in %s", count, services, took.Round(time.Second))
	return err
}

func encoder(version schema.GroupVersion) runtime.Encoder {
	return scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), version)
}

// watchMemory reads the peak memory of a process in short intervals. The returned function stops it and returns the last
// value in bytes.
func watchMemory(pid int) func() int {
	done, top := make(chan struct{}), make(chan int)
	go func() {
		every := time.NewTicker(20 * time.Millisecond)
		defer every.Stop()
		most := 0
		for {
			select {
			case <-done:
				top <- most
				return
			case <-every.C:
				if _, now, err := child.Resident(pid); err == nil { // else it has just ended
					most = max(most, now)
				}
			}
		}
	}()
	return func() int {
		close(done)
		return <-top
	}
}

// listTargets runs the command targets three times and returns the medians of its duration and CPU time, and its memory.
func (w *whole) listTargets(ctx context.Context, b *controlPlane, targets int) ([]float64, error) {
	var took, cpu []time.Duration
	most := 0
	for range 3 {
		cmd := exec.CommandContext(ctx, w.operator, "targets", "servicemonitor", demo+"/web", "--kubeconfig="+b.Kubeconfig)
		began := time.Now()
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("operator targets: %w", err)
		}
		top := watchMemory(cmd.Process.Pid)
		err := cmd.Wait()
		most = max(most, top())
		text := out.String()
		if err != nil {
			return nil, fmt.Errorf("operator targets: %w: %.2000s", err, text)
		}
		took = append(took, time.Since(began))
		if want := fmt.Sprintf("%d targets", targets); !strings.Contains(strings.ReplaceAll(text, ",", ""), want) {
			return nil, fmt.Errorf("operator targets: no %q in %.2000s", want, text)
		}
		cpu = append(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(took)
	slices.Sort(cpu)
	w.say("operator targets: %s, CPU %s, memory at most %s", ms(took[1]), ms(cpu[1]), mb(most))
	return []float64{envelope.Of(took[1]), envelope.Of(cpu[1]), float64(most)}, nil
}
