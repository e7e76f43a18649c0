package trial

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// Operator is an operator that is started again and again, as one account and through one proxy.
type Operator struct {
	Process
	Proxy *faultproxy.Proxy
	User  string // as which it calls the API server

	account string
}

const kubeconfigTemplate = `apiVersion: v1
kind: Config
clusters: [{name: proxy, cluster: {server: "SERVER", certificate-authority-data: CA}}]
users: [{name: admin, user: {token: "TOKEN"}}]
contexts: [{name: proxy, context: {cluster: proxy, user: admin}}]
current-context: proxy
`

// NewOperator returns an operator that manages the workloads with this ID, with the permissions of deploy/rbac.yaml. It
// is not started.
func NewOperator(t *testing.T, w *Environment, id string, args ...string) *Operator {
	t.Helper()
	ca, err := os.ReadFile(w.Cluster.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faultproxy.New(w.Cluster.Host, ca)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := strings.NewReplacer("SERVER", proxy.URL(), "CA", base64.StdEncoding.EncodeToString(proxy.CA()), "TOKEN", w.Cluster.Token).Replace(kubeconfigTemplate)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	o := &Operator{Proxy: proxy, account: id, User: "system:serviceaccount:firekeeper:" + id}
	o.Bind(t, w)
	o.Name, o.Env = "the operator", []string{"KUBECONFIG=" + file}
	o.Args = append([]string{path, "--as=" + o.User, "--web.listen-address=127.0.0.1:0", "--feature-gates=StatusForConfigurationResources=true", "--controller-id=" + id}, args...)
	t.Cleanup(func() {
		o.Kill()
		if t.Failed() {
			t.Logf("log of the operator, all of it in %s: %s", o.KeepLog(t), o.Log.Brief(60))
		}
		if faults := serious.FindAllString(o.Log.String(), 3); faults != nil {
			t.Errorf("the operator has a fault:\n%s", strings.Join(faults, "\n"))
		}
	})
	return o
}

// KeepLog saves the complete log to a file, and returns its name.
func (o *Operator) KeepLog(t *testing.T) string {
	t.Helper()
	name, err := o.Log.Keep("firekeeper-operator-*.log")
	if err != nil {
		t.Error(err)
	}
	return name
}

// Explain logs what the operator waits for: requests that are not finished, and the goroutines of it and of the proxy in
// a file.
func (o *Operator) Explain(t *testing.T) {
	t.Helper()
	t.Logf("unfinished requests %q", o.Proxy.Unfinished())
	var goroutines string
	if err := Get(t.Context(), "http://"+o.Address()+"/debug/pprof/goroutine?debug=2", &goroutines); err != nil {
		t.Logf("goroutines of the operator: %v", err)
		return
	}
	f, err := os.CreateTemp("", "firekeeper-goroutines-*.txt")
	if err != nil {
		t.Error(err)
		return
	}
	_, err = f.WriteString(goroutines + "\n\nThe test and its proxy:\n\n")
	err = errors.Join(err, pprof.Lookup("goroutine").WriteTo(f, 2))
	t.Logf("goroutines of the operator: %s %v", f.Name(), errors.Join(err, f.Close()))
}

// Bind grants the permissions of deploy/rbac.yaml.
func (o *Operator) Bind(t *testing.T, w *Environment) {
	t.Helper()
	w.Apply(t, o.Binding())
}

// Binding is the manifest of the permissions.
func (o *Operator) Binding() string { return strings.ReplaceAll(binding, "ID", o.account) }

const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: ID}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: firekeeper-operator}
subjects: [{kind: ServiceAccount, name: ID, namespace: firekeeper}]
`

// serious matches messages that an operator must never log.
var serious = regexp.MustCompile(`.*(panicked|DATA RACE|goroutine \d+ \[running).*(\n.*){0,20}`)

// Restart kills the process and starts another one, undisturbed.
func (o *Operator) Restart(t *testing.T) {
	t.Helper()
	o.Kill()
	o.Proxy.Disturb(nil)
	o.Start(t)
}

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)`)

// Address returns where the running operator listens, "" if it does not yet.
func (o *Operator) Address() string {
	found := listening.FindStringSubmatch(o.Since())
	if found == nil {
		return ""
	}
	return found[1]
}

// Busy returns the keys that are queued or being processed, and the number of keys that were queued so far.
func (o *Operator) Busy(ctx context.Context) (now, ever float64, err error) {
	address := o.Address()
	if address == "" {
		return 0, 0, errors.New("the operator does not listen yet")
	}
	sum, err := Metrics(ctx, "http://"+address+"/metrics")
	if err != nil {
		return 0, 0, err
	}
	if ready := sum("prometheus_operator_ready"); ready < controllers {
		return 0, 0, fmt.Errorf("%v of %d controllers are ready", ready, controllers)
	}
	return sum("prometheus_operator_workqueue_depth") + sum("prometheus_operator_workqueue_unfinished_work_seconds"),
		sum("prometheus_operator_workqueue_adds_total"), nil
}

// Metrics reads a page of metrics. sum returns the sum of the gauges and counters of a name.
func Metrics(ctx context.Context, url string) (sum func(name string) float64, err error) {
	var page string
	if err := Get(ctx, url, &page); err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	if err != nil {
		return nil, err
	}
	return func(name string) (out float64) {
		for _, m := range families[name].GetMetric() {
			out += m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
		return out
	}, nil
}

// controllers is the number of controllers: Prometheus, PrometheusAgent, Alertmanager and ThanosRuler.
const controllers = 4

// Idle waits until the operator has nothing to do and no request is unanswered.
func (o *Operator) Idle(t *testing.T) {
	t.Helper()
	o.IdleOr(t, nil)
}

// IdleOr is like Idle, and also returns when stop is closed.
func (o *Operator) IdleOr(t *testing.T, stop <-chan struct{}) {
	t.Helper()
	last, same := -1.0, 0
	Await(t, "the operator is idle", func() error {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := o.Died(); err != nil {
			if stop == nil {
				t.Fatal(err)
			}
			return err // stop is closed soon
		}
		now, ever, err := o.Busy(t.Context())
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
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	if err := o.Proxy.Quiet(ctx); err != nil {
		o.Explain(t)
		t.Fatal(err)
	}
}
