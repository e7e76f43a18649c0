package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// replicas is a set of operators with one Lease. Each process has its own account, which identifies it in the audit
// log.
type replicas struct {
	environment *environment
	ns          string         // namespace of the Lease
	kubeconfig  string         // empty: that of the environment
	launches    []*environment // launch replicas in turn
	running     []*operator
	users       []string // user names of all replicas so far
}

// newReplicas grants the permissions of the component to the accounts of the operators. launches are copies of the environment
// with other operators.
func (w *environment) newReplicas(t *testing.T, launches ...*environment) *replicas {
	t.Helper()
	ns := w.namespace(t)
	text, err := os.ReadFile(deploy(t, "components/high-availability/rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, strings.NewReplacer(
		"- kind: ServiceAccount\n  name: prometheus-operator\n  namespace: firekeeper\n",
		"- kind: Group\n  name: system:serviceaccounts:firekeeper\n  apiGroup: rbac.authorization.k8s.io\n",
		"namespace: firekeeper", "namespace: "+ns,
	).Replace(string(text)))
	if len(launches) == 0 {
		launches = []*environment{w}
	}
	return &replicas{environment: w, ns: ns, launches: launches}
}

// launch starts another replica and waits until its caches are synced.
func (r *replicas) launch(t *testing.T) *operator {
	t.Helper()
	account := fmt.Sprintf("%s-%d", r.ns, len(r.users))
	args := []string{"--controller-id=" + r.ns, "--leader-elect", "--leader-elect-namespace=" + r.ns}
	if r.kubeconfig != "" {
		args = append(args, "--kubeconfig="+r.kubeconfig)
	}
	o := r.launches[len(r.users)%len(r.launches)].operator(t, account, "", args...)
	r.running, r.users = append(r.running, o), append(r.users, o.user)
	eventually(t, "it is ready", func() error {
		resp, err := http.Get(o.url + "/readyz")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("/readyz answers %s", resp.Status)
		}
		return nil
	})
	return o
}

// leader waits until a replica leads.
func (r *replicas) leader(t *testing.T) (out *operator) {
	t.Helper()
	eventually(t, "a replica leads", func() error {
		for _, o := range r.running {
			if v, err := o.metric("prometheus_operator_leader"); err != nil {
				return err
			} else if v == 1 {
				out = o
				return nil
			}
		}
		return errors.New("none does")
	})
	return out
}

// holder returns the holder of the Lease, or "" if there is none.
func (r *replicas) holder(t *testing.T) string {
	t.Helper()
	lease, err := r.environment.kube.CoordinationV1().Leases(r.ns).Get(t.Context(), "prometheus-operator", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// leaves removes a replica from the running ones.
func (r *replicas) leaves(o *operator) {
	r.running = slices.DeleteFunc(r.running, func(have *operator) bool { return have == o })
}

// fails waits until a process exits with an error.
func (o *operator) fails(t *testing.T) {
	t.Helper()
	o.done = true
	select {
	case err := <-o.ended:
		if exit, is := errors.AsType[*exec.ExitError](err); !is || exit.ExitCode() != 1 {
			t.Errorf("it ended with %v\n%s", err, o.log.Brief(logLines))
		}
	case <-time.After(deadline):
		_ = o.cmd.Process.Kill()
		t.Error("it did not end")
	}
}

// oneWriter checks that writes of different replicas never overlap: each write was made by the last writer of the
// Lease, and was completed before another replica wrote the Lease.
func (r *replicas) oneWriter(t *testing.T) {
	t.Helper()
	all, err := r.environment.audit.everything()
	if err != nil {
		t.Fatal(err)
	}
	var writes []call
	for _, c := range all {
		if c.writes() && slices.Contains(r.users, c.User.Username) {
			writes = append(writes, c)
		}
	}
	slices.SortStableFunc(writes, func(a, b call) int { return a.Received.Compare(b.Received) })
	var (
		holder   string
		answered time.Time // completion of the last write
		terms    int
		count    = map[string]int{}
	)
	for _, c := range writes {
		switch user := c.User.Username; {
		case c.Object.Resource == "leases" && c.Response.Code >= 300:
		case c.Object.Resource == "leases" && user != holder:
			if !c.Received.After(answered) {
				t.Errorf("%s takes the Lease at %s, and a write of %s is answered at %s", user, c.Received, holder, answered)
			}
			holder = user
			terms++
		case c.Object.Resource == "leases":
		case user != holder:
			t.Errorf("%s: %s by %s, but %s leads", c.Received, c.what(), user, holder)
		default:
			count[user]++
			if c.Answered.After(answered) {
				answered = c.Answered
			}
		}
	}
	t.Logf("%d terms, writes by user: %v", terms, count)
	if terms < 2 {
		t.Errorf("the Lease changed hands only %d times", terms)
	}
}

// churn continuously changes the monitor "churn" until rest is called, so that the leader is always writing.
func (w *environment) churn(t *testing.T, ns string) (rest func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	api := w.resource(t, "monitoring.coreos.com/v1", "PodMonitor", ns)
	done := make(chan error, 1)
	go func() {
		var last error
		for i := 0; ctx.Err() == nil; i++ {
			patch := fmt.Appendf(nil, `{"spec":{"podMetricsEndpoints":[{"port":"web","interval":"%ds"}]}}`, 10+i%100)
			if _, err := api.Patch(ctx, "churn", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil && ctx.Err() == nil {
				last = err
			}
		}
		done <- last
	}()
	return func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The leader of two or three replicas is stopped, killed and paused while monitors change: there is never more than one
// writer, no change is lost, and the workload is not affected. The time until another one leads depends on the machine
// here; it is tested in operator/kube/startup with virtual time.
func TestReplicas(t *testing.T) {
	w := start(t)
	t.Parallel()
	w.newReplicas(t).changeHands(t)
}

// changeHands makes replica after replica lead.
func (r *replicas) changeHands(t *testing.T) {
	t.Helper()
	w, first := r.environment, r.launch(t)
	r.leader(t)
	ns := w.deployed(t, first, r.ns)
	w.apply(t, podMonitor(ns, "churn", "x"))
	base, churned := "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/churn/0"
	w.jobs(t, ns, "web", base, churned)
	rest := w.churn(t, ns)
	before, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "prometheus-web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	change := func() {
		name := fmt.Sprintf("change-%02d", len(changes))
		w.apply(t, podMonitor(ns, name, "x"))
		changes = append(changes, "podMonitor/"+ns+"/"+name+"/0")
	}
	arrive := func() {
		t.Helper()
		w.jobs(t, ns, "web", slices.Concat([]string{base}, changes, []string{churned})...)
	}
	for round, how := range []string{"stop", "kill", "pause", "pause", "stop", "kill"} {
		for len(r.running) < 2+round/3 {
			r.launch(t)
		}
		leader := r.leader(t)
		r.leaves(leader)
		began := time.Now()
		switch how {
		case "stop":
			held := r.holder(t)
			leader.stop(t)
			began = time.Now()
			if r.holder(t) == held {
				t.Error("a leader that is stopped keeps the Lease")
			}
		case "kill":
			leader.kill(t)
		case "pause":
			if err := leader.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		change()
		r.leader(t)
		t.Logf("%s, %d left: another leads after %s", how, len(r.running), time.Since(began).Round(10*time.Millisecond))
		arrive()
		if how == "pause" {
			change() // the paused replica has to notice it, too
			if err := leader.cmd.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			leader.fails(t)
			if !strings.Contains(leader.log.String(), "lost the lead") {
				t.Errorf("the log does not say why it ended:\n%s", leader.log.Brief(logLines))
			}
			arrive()
		}
	}
	rest()
	r.leader(t).settle(t)
	w.isUnchanged(t, before)
	r.oneWriter(t)
}

// isUnchanged compares a StatefulSet with an earlier version.
func (w *environment) isUnchanged(t *testing.T, before *appsv1.StatefulSet) {
	t.Helper()
	after, err := w.kube.AppsV1().StatefulSets(before.Namespace).Get(t.Context(), before.Name, metav1.GetOptions{})
	if err != nil || after.UID != before.UID || after.Generation != before.Generation {
		t.Errorf("the StatefulSet changed: %v, before\n%+v\nafter\n%+v", err, before, after)
	}
}

// An operator that may not read the Lease reports it.
func TestReplicaWithoutPermission(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns := w.namespace(t)
	account := "restricted-" + ns
	w.bind(t, account, clusterRole)
	o := w.launch(t, account, "--leader-elect", "--leader-elect-namespace="+ns)
	o.fails(t)
	if text := o.log.String(); !strings.Contains(text, "operator: --leader-elect: read the Lease "+ns+"/prometheus-operator: ") {
		t.Errorf("it says %s", o.log.Brief(logLines))
	}
}
