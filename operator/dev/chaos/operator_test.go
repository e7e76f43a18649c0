package chaos

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/chaos/faultproxy"
)

// operator is an operator that is started again and again, as one account and through one proxy.
type operator struct {
	proxy      *faultproxy.Proxy
	user       string
	account    string
	args       []string
	kubeconfig string

	log *logtest.Log // of all processes so far

	mu    sync.Mutex // a proxy kills the process while the test waits
	cmd   *exec.Cmd  // nil if none runs
	ended chan error // of the running process
}

const kubeconfigTemplate = `apiVersion: v1
kind: Config
clusters: [{name: proxy, cluster: {server: "SERVER", certificate-authority-data: CA}}]
users: [{name: admin, user: {token: "TOKEN"}}]
contexts: [{name: proxy, context: {cluster: proxy, user: admin}}]
current-context: proxy
`

// newOperator returns an operator that manages the workloads with this ID, with the permissions of deploy/rbac.yaml. It
// is not started.
func newOperator(t *testing.T, w *world, id string, args ...string) *operator {
	t.Helper()
	ca, err := os.ReadFile(w.cluster.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.New(w.cluster.Host, ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := strings.NewReplacer("SERVER", proxy.URL(), "CA", base64.StdEncoding.EncodeToString(proxy.CA()), "TOKEN", w.cluster.Token).Replace(kubeconfigTemplate)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &operator{proxy: proxy, kubeconfig: file, log: &logtest.Log{}, account: id, user: "system:serviceaccount:firekeeper:" + id}
	o.bind(t, w)
	o.args = append([]string{"--as=" + o.user, "--web.listen-address=127.0.0.1:0", "--log-level=debug", "--feature-gates=StatusForConfigurationResources=true", "--controller-id=" + id}, args...)
	t.Cleanup(func() {
		o.kill()
		if t.Failed() {
			t.Logf("log of the operator, all of it in %s: %s", o.keepLog(t), o.log.Brief(60))
		}
		if faults := serious.FindAllString(o.log.String(), 3); faults != nil {
			t.Errorf("the operator has a fault:\n%s", strings.Join(faults, "\n"))
		}
	})
	return o
}

// keepLog saves the complete log to a file, and returns its name.
func (o *operator) keepLog(t *testing.T) string {
	t.Helper()
	name, err := o.log.Keep("firekeeper-chaos-*.log")
	if err != nil {
		t.Error(err)
	}
	return name
}

// bind grants the permissions of deploy/rbac.yaml.
func (o *operator) bind(t *testing.T, w *world) {
	t.Helper()
	w.apply(t, strings.ReplaceAll(binding, "ID", o.account))
}

const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ID}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: firekeeper-operator}
subjects: [{kind: ServiceAccount, name: ID, namespace: firekeeper}]
`

// serious matches messages that an operator must never log.
var serious = regexp.MustCompile(`.*(panicked|DATA RACE|goroutine \d+ \[running).*(\n.*){0,20}`)

// start starts a process.
func (o *operator) start(t *testing.T) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), path, o.args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+o.kubeconfig)
	cmd.Stdout, cmd.Stderr = o.log, o.log
	child.DiesWithUs(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cmd, o.ended = cmd, ended
}

// kill ends the process like a crash. It is a no-op if none runs.
func (o *operator) kill() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cmd == nil {
		return
	}
	_ = o.cmd.Process.Signal(syscall.SIGKILL)
	<-o.ended
	o.cmd = nil
}

// restart kills the process and starts another one, undisturbed.
func (o *operator) restart(t *testing.T) {
	t.Helper()
	o.kill()
	o.proxy.Disturb(nil)
	o.start(t)
}

// died reports whether the process has ended on its own.
func (o *operator) died() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cmd == nil {
		return errors.New("the operator does not run")
	}
	select {
	case err := <-o.ended:
		o.ended <- err
		return fmt.Errorf("the operator ended: %w", errors.Join(err, errors.New(o.log.Brief(20))))
	default:
		return nil
	}
}

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)

// busy returns the keys that are queued or being processed, and the number of keys that were queued so far.
func (o *operator) busy(ctx context.Context) (now, ever float64, err error) {
	found := listening.FindAllStringSubmatch(o.log.String(), -1)
	if found == nil {
		return 0, 0, errors.New("the operator does not listen yet")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+found[len(found)-1][1]+"/metrics", nil)
	if err != nil {
		return 0, 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return 0, 0, err
	}
	sum := func(name string) (out float64) {
		for _, m := range families[name].GetMetric() {
			out += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		return out
	}
	if ready := sum("prometheus_operator_ready"); ready < controllers {
		return 0, 0, fmt.Errorf("%v of %d controllers are ready", ready, controllers)
	}
	return sum("prometheus_operator_workqueue_depth") + sum("prometheus_operator_workqueue_unfinished_work_seconds"),
		sum("prometheus_operator_workqueue_adds_total"), nil
}

// controllers is the number of controllers: Prometheus, PrometheusAgent, Alertmanager and ThanosRuler.
const controllers = 4

// idle waits until the operator has nothing to do and no request is unanswered.
func (o *operator) idle(t *testing.T) {
	t.Helper()
	o.idleOr(t, nil)
}

// idleOr is like idle, and also returns when stop is closed.
func (o *operator) idleOr(t *testing.T, stop <-chan struct{}) {
	t.Helper()
	last, same := -1.0, 0
	await(t, "the operator is idle", func() error {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := o.died(); err != nil {
			if stop == nil {
				t.Fatal(err)
			}
			return err // stop is closed soon
		}
		now, ever, err := o.busy(t.Context())
		if err != nil {
			return err
		}
		if same++; now != 0 || ever != last {
			last, same = ever, 0
		}
		if same < 4 { // a status write is queued for 100 ms
			return fmt.Errorf("at work on %v", now)
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if err := o.proxy.Quiet(ctx); err != nil {
		t.Fatal(err)
	}
}
