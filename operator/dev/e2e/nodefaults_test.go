package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/chaos"
)

// nodeFault is one of chaos.NodeFaults.
type nodeFault struct {
	// strikes starts the fault. The victim is one of two pods. The returned function ends the fault once the operator has
	// written the change, or is nil.
	strikes func(f *faultyNode, t *testing.T, victim corev1.Pod) (ends func())
	// restarts is the container of the victim that is killed: "" for none, "*" if the pod is replaced.
	restarts string
	// outage is whether neither of the pods gets a change until the fault has ended.
	outage bool
}

var nodeFaults = map[string]nodeFault{
	"config-reloader killed": {strikes: kills("config-reloader"), restarts: "config-reloader"},
	"rules-reloader killed":  {strikes: kills("rules-reloader"), restarts: "rules-reloader"},
	"Prometheus killed":      {strikes: kills("prometheus"), restarts: "prometheus"},
	"reloaders paused":       {strikes: (*faultyNode).pausesReloaders},
	"pod deleted":            {strikes: (*faultyNode).deletesPod, restarts: "*"},
	"kubelet killed":         {strikes: crashes("kubelet"), outage: true},
	"containerd killed":      {strikes: crashes("containerd"), outage: true},
	"node not ready":         {strikes: (*faultyNode).pausesKubelet, outage: true},
}

// faultyNode is a Prometheus "web" with two replicas on a node that gets faults.
type faultyNode struct {
	space
	changes int // made so far
}

// Each fault of pods and of their node begins in each state of a change. The servers get the change, lose nothing
// meanwhile, and nothing is restarted that was not killed.
func TestFaultsOfANode(t *testing.T) {
	long(t)
	if os.Getenv("FIREKEEPER_E2E_CLUSTER") != "" {
		t.Skip("kills programs of the node, which must be one of this process")
	}
	n := start(t) // not in parallel: all tests share the node
	f := &faultyNode{space: n.space(t, "faults")}
	f.operatorOf(t, "--config-reloader-cpu-limit=0")
	f.web(t, "replicas: 2")
	f.rolledOut(t, "web", webPods...)
	f.settles(t)
	set := f.statefulSet(t, "prometheus-web")

	results := chaos.Coverage{}
	for _, fault := range chaos.NodeFaults() {
		results[fault.Name] = map[string]chaos.Cell{}
		for _, moment := range chaos.Moments() {
			cell := chaos.Cell{Of: 1}
			if t.Run(fault.Name+" "+moment, func(t *testing.T) { f.disturbed(t, nodeFaults[fault.Name], moment) }) {
				cell.Done++
			}
			results[fault.Name][moment] = cell
		}
	}
	if now := f.statefulSet(t, "prometheus-web"); now.UID != set.UID || now.Generation != set.Generation {
		t.Errorf("the StatefulSet was changed: generation %d of %s, was %d of %s", now.Generation, now.UID, set.Generation, set.UID)
	}
	if os.Getenv("FIREKEEPER_CHAOS") != "" {
		if err := chaos.WriteNode(root(), results); err != nil {
			t.Error(err)
		}
	}
}

// disturbed changes a rule and a monitor at once, with a fault that begins at a moment of the change.
func (f *faultyNode) disturbed(t *testing.T, fault nodeFault, moment string) {
	pods, err := f.pods(t.Context(), "web")
	if err != nil || len(pods) != 2 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	f.changes++
	// Victims alternate, because the kubelet waits longer before each further restart of a container.
	victim := pods[f.changes%2]
	before := containers(pods)
	g := f.guard(t, webGroups, f.webJobs(), webPods...)
	written := f.firstWrite(t, "Secret", "ConfigMap")
	await := func() {
		select {
		case <-written:
		case <-time.After(patience):
			t.Fatal("the operator writes nothing")
		}
	}

	expr, label := fmt.Sprintf("sum(up) + %d", f.changes), fmt.Sprintf("e2e_fault_%d", f.changes)
	change := func() {
		f.merge(t, "prometheusrules", "app", `{"spec":{"groups":[{"name":"first","rules":[{"record":"up:sum","expr":"`+expr+`"}]},{"name":"second","rules":[{"alert":"Down","expr":"up == 0"}]}]}}`)
		f.merge(t, "servicemonitors", "app", `{"spec":{"targetLabels":["`+label+`"]}}`)
	}
	var ends func()
	switch moment {
	case "before the change":
		ends = fault.strikes(f, t, victim)
		change()
		await()
	case "once it is written":
		change()
		await()
		ends = fault.strikes(f, t, victim)
	case "once a pod has loaded it":
		change()
		f.runs(t, expr, label, victim.Name)
		ends = fault.strikes(f, t, victim)
	}
	if fault.outage && moment == "before the change" {
		f.notApplied(t)
	}
	if ends != nil {
		ends()
	}

	f.restarted(t, before, victim.Name, fault.restarts)
	f.runs(t, expr, label, webPods...)
	f.rolledOut(t, "web", webPods...)
	f.settles(t)
	g.end(t)
	f.restarted(t, before, victim.Name, fault.restarts) // nothing else later
}

// applied is the jsonpath of the conditions after a change.
const applied = conditions + `ConfigApplied={.status.conditions[?(@.type=="ConfigApplied")].status}`

// settles waits until the status says that everything is as wanted.
func (f *faultyNode) settles(t *testing.T) {
	t.Helper()
	f.says(t, "web", applied, "Available=True Reconciled=True ConfigApplied=True")
}

// notApplied waits until the status does not say any more that the pods have loaded the configuration.
func (f *faultyNode) notApplied(t *testing.T) {
	t.Helper()
	until(t, "a status without the change", patience, func(context.Context) (bool, error) {
		got := f.in(t, "get", "prometheus", "web", "-o", "jsonpath="+applied)
		return !strings.Contains(got, "ConfigApplied=True"), fmt.Errorf("the status is %s", got)
	})
}

// containers returns the identity of each container, as "pod container": "UID of the pod, restarts".
func containers(pods []corev1.Pod) map[string]string {
	out := map[string]string{}
	for _, p := range pods {
		for _, c := range p.Status.ContainerStatuses {
			out[p.Name+" "+c.Name] = fmt.Sprintf("%s, %d", p.UID, c.RestartCount)
		}
	}
	return out
}

// restarted waits until the killed container was restarted, or the killed pod replaced, and checks that nothing else was.
func (f *faultyNode) restarted(t *testing.T, before map[string]string, victim, killed string) {
	t.Helper()
	until(t, "restarts of "+killed+" in "+victim, patience, func(ctx context.Context) (bool, error) {
		pods, err := f.pods(ctx, "web")
		if err != nil {
			return false, err
		}
		after := containers(pods)
		missing := len(after) != len(before)
		for name, was := range before {
			pod, container, _ := strings.Cut(name, " ")
			switch is := after[name]; {
			case pod == victim && (killed == "*" || killed == container):
				missing = missing || is == was
			case is != was && is != "":
				t.Fatalf("%s was %s, is %s", name, was, is)
			}
		}
		return !missing, fmt.Errorf("containers are %v, were %v", after, before)
	})
}

// processes returns the processes of a container.
func processes(t *testing.T, pod corev1.Pod, container string) (out []int) {
	t.Helper()
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container })
	if at < 0 {
		t.Fatalf("no container %s in %s", container, pod.Name)
	}
	_, id, _ := strings.Cut(pod.Status.ContainerStatuses[at].ContainerID, "://")
	groups, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range groups {
		group, err := os.ReadFile(file) // processes may end meanwhile
		if err != nil || id == "" || !strings.Contains(string(group), id) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pid)
	}
	if len(out) == 0 {
		t.Fatalf("no process of container %s in %s", container, pod.Name)
	}
	return out
}

// signal sends a signal to processes.
func signal(t *testing.T, processes []int, s syscall.Signal) {
	t.Helper()
	for _, pid := range processes {
		if err := syscall.Kill(pid, s); err != nil {
			t.Errorf("%s to process %d: %v", s, pid, err)
		}
	}
}

// kills returns a fault that kills a container of the victim.
func kills(container string) func(*faultyNode, *testing.T, corev1.Pod) func() {
	return func(_ *faultyNode, t *testing.T, victim corev1.Pod) func() {
		signal(t, processes(t, victim, container), syscall.SIGKILL)
		return nil
	}
}

// pausesReloaders stops both reloaders of the victim until the other pod has loaded the change.
func (f *faultyNode) pausesReloaders(t *testing.T, victim corev1.Pod) func() {
	both := slices.Concat(processes(t, victim, "config-reloader"), processes(t, victim, "rules-reloader"))
	signal(t, both, syscall.SIGSTOP)
	proceed := sync.OnceFunc(func() { signal(t, both, syscall.SIGCONT) })
	t.Cleanup(proceed) // if the test fails
	expr, label := fmt.Sprintf("sum(up) + %d", f.changes), fmt.Sprintf("e2e_fault_%d", f.changes)
	return func() {
		f.runs(t, expr, label, webPods[1-slices.Index(webPods, victim.Name)])
		proceed()
	}
}

// deletesPod deletes the victim. Without a grace period, the kubelet (1.34) may panic and is gone.
func (f *faultyNode) deletesPod(t *testing.T, victim corev1.Pod) func() {
	err := f.kube.CoreV1().Pods(f.name).Delete(t.Context(), victim.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))})
	if err != nil {
		t.Fatal(err)
	}
	return nil
}

// crashes returns a fault that kills a program of the node.
func crashes(program string) func(*faultyNode, *testing.T, corev1.Pod) func() {
	return func(f *faultyNode, t *testing.T, _ corev1.Pod) func() {
		restart, err := f.Crash(program)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// pausesKubelet stops the kubelet until the node is not ready.
func (f *faultyNode) pausesKubelet(t *testing.T, _ corev1.Pod) func() {
	kubelet := []int{f.Processes()["kubelet"]}
	signal(t, kubelet, syscall.SIGSTOP)
	proceed := sync.OnceFunc(func() { signal(t, kubelet, syscall.SIGCONT) })
	t.Cleanup(proceed) // if the test fails
	return func() {
		until(t, "a node that is not ready", patience, func(ctx context.Context) (bool, error) {
			nodes, err := f.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, err
			}
			return slices.ContainsFunc(nodes.Items[0].Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue
			}), nil
		})
		proceed()
	}
}
