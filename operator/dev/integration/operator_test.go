package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// deadline is the timeout for steps that should be immediate. It is long because other packages may load the machine at
// the same time.
const deadline = 2 * time.Minute

// eventually repeats a check until it passes.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	repeat(t, deadline, 20*time.Millisecond, what, check)
}

// within is like eventually with another timeout, which may be long, and longer pauses.
func within(t *testing.T, limit time.Duration, what string, check func() error) {
	t.Helper()
	repeat(t, limit, 100*time.Millisecond, what, check)
}

func repeat(t *testing.T, limit, pause time.Duration, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pause) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: still after %s: %v", what, limit, err)
}

// clusterRole is the name of the role in deploy/rbac.yaml.
const clusterRole = "firekeeper-operator"

// operator is one running operator.
type operator struct {
	environment *environment
	user        string // user name at the API server
	url         string // empty until it is known
	log         *logtest.Log
	cmd         *exec.Cmd
	ended       chan error
	done        bool
}

// operator starts an operator as a ServiceAccount with the permissions of deploy/rbac.yaml, or of another ClusterRole
// if role is set, and waits until its caches are synced. It is stopped at the end of the test and must exit
// successfully.
func (w *environment) operator(t *testing.T, account, role string, args ...string) *operator {
	t.Helper()
	if role == "" {
		role = clusterRole
	}
	w.bind(t, account, role)
	return w.run(t, account, args...)
}

// controllers is the number of controllers of an operator if all kinds are installed.
const controllers = 4

// run starts an operator as an account with bound permissions, and waits until its caches are synced.
func (w *environment) run(t *testing.T, account string, args ...string) *operator {
	t.Helper()
	o := w.launch(t, account, args...)
	o.ready(t, controllers)
	return o
}

// ready waits until the caches of this number of controllers are synced.
func (o *operator) ready(t *testing.T, want float64) {
	t.Helper()
	eventually(t, "operator ready", func() error {
		select {
		case err := <-o.ended:
			o.ended <- err
			t.Fatalf("the operator ended: %v\n%s", err, o.log.Brief(logLines))
		default:
		}
		if v, err := o.metric("prometheus_operator_ready"); err != nil || v != want {
			return fmt.Errorf("prometheus_operator_ready = %v (%v)", v, err)
		}
		return nil
	})
}

// launch starts an operator as an account with bound permissions.
func (w *environment) launch(t *testing.T, account string, args ...string) *operator {
	t.Helper()
	o := &operator{
		environment: w, user: "system:serviceaccount:firekeeper:" + account,
		log: &logtest.Log{}, ended: make(chan error, 1),
	}
	args = append([]string{"--as=" + o.user, "--web.listen-address=127.0.0.1:0", "--log-level=debug"}, args...)
	o.cmd = exec.CommandContext(context.Background(), w.program, args...)
	o.cmd.Env = append(append(os.Environ(), w.env...), "KUBECONFIG="+w.cluster.Kubeconfig)
	o.cmd.Stdout, o.cmd.Stderr = o.log, o.log
	child.DiesWithUs(o.cmd)
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- o.cmd.Wait() }()
	t.Cleanup(func() {
		o.stop(t)
		if t.Failed() {
			t.Logf("log of the operator %s, all of it in %s: %s", account, o.keepLog(t), o.log.Brief(logLines))
		}
	})
	return o
}

// stop terminates the operator like a kubelet and expects a successful exit.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	if o.done {
		return
	}
	o.done = true
	if err := o.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case err := <-o.ended:
		if err != nil {
			t.Errorf("the operator ended with %v\n%s", err, o.log.Brief(logLines))
		}
	case <-time.After(deadline):
		_ = o.cmd.Process.Kill()
		t.Error("the operator did not stop")
	}
	if faults := faults.FindAllString(o.log.String(), 3); faults != nil {
		t.Errorf("the operator has a fault:\n%s", strings.Join(faults, "\n"))
	}
}

// logLines is the number of log lines of an operator that a failed test prints.
const logLines = 40

// faults matches messages that an operator must never log, with the lines that follow.
var faults = regexp.MustCompile(`.*(DATA RACE|reconciliation panicked).*(\n.*){0,40}`)

// keepLog saves the complete log to a file outside of the test's folder, and returns its name.
func (o *operator) keepLog(t *testing.T) string {
	t.Helper()
	name, err := o.log.Keep("firekeeper-operator-*.log")
	if err != nil {
		t.Error(err)
	}
	return name
}

// listening matches the logged address. The operator chooses a free port itself, because a port chosen by the test
// could be in use before the operator starts.
var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)

// families returns the operator's metrics.
func (o *operator) families() (map[string]*dto.MetricFamily, error) {
	if o.url == "" {
		found := listening.FindStringSubmatch(o.log.String())
		if found == nil {
			return nil, errors.New("it does not listen yet")
		}
		o.url = "http://" + found[1]
	}
	resp, err := http.Get(o.url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	return parser.TextToMetricFamilies(resp.Body)
}

// metric returns the sum of the series of a counter or gauge with these label values ("name", "value", …).
func (o *operator) metric(name string, labels ...string) (float64, error) {
	families, err := o.families()
	if err != nil {
		return 0, err
	}
	return sum(families, name, labels...)
}

func sum(families map[string]*dto.MetricFamily, name string, labels ...string) (float64, error) {
	f := families[name]
	if f == nil {
		return 0, fmt.Errorf("no metric %s", name)
	}
	out := 0.0
	for _, m := range f.Metric {
		if matches(m, labels) {
			out += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return out, nil
}

func matches(m *dto.Metric, labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		found := false
		for _, p := range m.Label {
			found = found || p.GetName() == labels[i] && p.GetValue() == labels[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}

// quietFor is the time without activity after which an operator is idle. Status writes are delayed by 0.1 s, all other
// writes are immediate.
const quietFor = 1500 * time.Millisecond

// quietAnswers is the minimum number of scrapes without activity in this time, because an operator or test that gets no
// CPU time is not idle.
const quietAnswers = 12

// settle waits until the operator is idle.
func (o *operator) settle(t *testing.T) {
	t.Helper()
	var last [2]float64
	since, answers := time.Now(), 0
	eventually(t, "operator idle", func() error {
		families, err := o.families()
		if err != nil {
			return err
		}
		did, err := total(families,
			"prometheus_operator_reconcile_operations_total", "prometheus_operator_status_update_operations_total",
			"prometheus_operator_kubernetes_client_http_requests_total", "prometheus_operator_workqueue_adds_total")
		if err != nil {
			return err
		}
		did -= renewals(families)
		// Calls are only counted once the API server responds.
		does, err := total(families, "prometheus_operator_workqueue_depth", "prometheus_operator_workqueue_unfinished_work_seconds")
		if err != nil {
			return err
		}
		if now := [2]float64{did, does}; now != last || does != 0 {
			last, since, answers = now, time.Now(), 0
		}
		answers++
		if quiet := time.Since(since); quiet < quietFor || answers < quietAnswers {
			return fmt.Errorf("quiet for %s and %d answers only, at work on %v", quiet, answers, does)
		}
		return nil
	})
}

// renewals returns the number of calls that renew the Lease of a leader, one per second even if it is idle.
func renewals(families map[string]*dto.MetricFamily) (out float64) {
	for _, m := range families["prometheus_operator_kubernetes_client_http_request_duration_seconds"].GetMetric() {
		for _, label := range m.Label {
			if label.GetName() == "endpoint" && strings.Contains(label.GetValue(), "/leases") {
				out += float64(m.GetSummary().GetSampleCount())
			}
		}
	}
	return out
}

// total returns the sum of several metrics.
func total(families map[string]*dto.MetricFamily, names ...string) (float64, error) {
	out := 0.0
	for _, name := range names {
		v, err := sum(families, name)
		if err != nil {
			return 0, err
		}
		out += v
	}
	return out, nil
}

// during returns the calls that the operator makes because of do, filtered by inTheEnd. It must be idle before, and is
// idle afterwards.
func (o *operator) during(t *testing.T, do func()) []call {
	t.Helper()
	before := len(o.environment.audit.calls(t, o.user))
	do()
	o.settle(t)
	return inTheEnd(o.environment.audit.calls(t, o.user)[before:])
}

// bind grants a ClusterRole to a ServiceAccount of the namespace firekeeper.
func (w *environment) bind(t *testing.T, account, role string) {
	t.Helper()
	w.apply(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-%[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[2]s}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: firekeeper}]
`, account, role))
}

// rules returns the rules of the operator's ClusterRole.
func (w *environment) rules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	role, err := w.kube.RbacV1().ClusterRoles().Get(t.Context(), clusterRole, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return role.Rules
}

// render runs the command render and returns its output.
func (w *environment) render(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), w.commands, append([]string{"render"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("render: %v\n%s", err, &errs)
	}
	return out.String(), errs.String()
}
