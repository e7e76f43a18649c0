// Package stored_test verifies that the objects stored in one namespace, however large in total, do not exhaust the
// operator's memory.
package stored_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/cage"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

const (
	// limit is half the memory limit of the container in deploy/operator.yaml.
	limit = 250 << 20
	// monitors and monitorBytes are the number and size of the tenant's monitors. In total they exceed the operator's
	// memory.
	monitors, monitorBytes = 230, 1_200_000
	patience               = 3 * time.Minute
)

type environment struct {
	*cluster.Cluster
	config  *rest.Config
	kube    kubernetes.Interface
	program string
	scratch string
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	w := &environment{Cluster: clustertest.Start(t, cluster.Options{APIServerArgs: []string{"--max-requests-inflight=50"}}), scratch: t.TempDir()}
	w.config = &rest.Config{Host: w.Host, BearerToken: w.Token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: w.CAFile}}
	var err error
	if w.kube, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	if w.program, err = trial.Build(w.scratch, "operator"); err != nil {
		t.Fatal(err)
	}
	w.kubectl(t, "create", "-f", filepath.Join("..", "..", "..", "..", "deploy", "crds"))
	w.kubectl(t, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	w.apply(t, objects)
	return w
}

// objects contains a Prometheus that selects everything, and a monitor of a well-behaved tenant.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: bad}
---
apiVersion: v1
kind: Namespace
metadata: {name: good}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: all, namespace: default}
spec: {serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: own, namespace: good}
spec: {serviceMonitorSelector: {}}
`

func (w *environment) kubectl(t *testing.T, args ...string) {
	t.Helper()
	if text, err := w.Kubectl(t.Context(), args...); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", args[0], err, text)
	}
}

func (w *environment) apply(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(w.scratch, "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.kubectl(t, "apply", "--server-side", "-f", file)
}

// change sets the interval of the well-behaved tenant's monitor and waits until it is written.
func (w *environment) change(t *testing.T, p *cage.Process, interval string) time.Duration {
	t.Helper()
	w.apply(t, "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: good}\n"+
		"spec: {selector: {}, endpoints: [{port: http, interval: "+interval+"}]}\n")
	began := time.Now()
	eventually(t, p, "the configuration has the interval "+interval, func() error {
		s, err := w.kube.CoreV1().Secrets("good").Get(t.Context(), "prometheus-own", metav1.GetOptions{})
		if err != nil {
			return err
		}
		r, err := gzip.NewReader(bytes.NewReader(s.Data["prometheus.yaml.gz"]))
		if err != nil {
			return err
		}
		text, err := io.ReadAll(r)
		if err == nil && !bytes.Contains(text, []byte("scrape_interval: "+interval)) {
			err = errors.New("it has not")
		}
		return err
	})
	return time.Since(began)
}

// fill creates the tenant's monitors, whose text is incompressible.
func (w *environment) fill(t *testing.T) {
	t.Helper()
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(4)
	for i := range monitors {
		g.Go(func() error {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			text := make([]byte, monitorBytes)
			for at := range text {
				text[at] = letters[random.IntN(len(letters))]
			}
			body := fmt.Sprintf(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":"m%04d","namespace":"bad"},`+
				`"spec":{"selector":{},"endpoints":[{"port":"http","params":{"a":["%s"]}}]}}`, i, text)
			return w.kube.CoreV1().RESTClient().Post().AbsPath("/apis/monitoring.coreos.com/v1/namespaces/bad/servicemonitors").
				SetHeader("Content-Type", "application/json").Body([]byte(body)).Do(ctx).Error()
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// operator starts an operator with the memory limit of its container.
func (w *environment) operator(t *testing.T) (p *cage.Process, ready string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p, err = cage.Start(cage.Program{
		Name: "operator", Path: w.program, Limit: limit, Log: filepath.Join(w.scratch, "operator.log"),
		Args: []string{"--kubeconfig=" + w.Kubeconfig, "--web.listen-address=" + address},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			text, _ := os.ReadFile(filepath.Join(w.scratch, "operator.log"))
			t.Logf("log of the operator: %.8000s", text[max(0, len(text)-8000):])
		}
	})
	if err := p.Limited(); err != nil {
		t.Skipf("no cgroup can be written here: %v", err)
	}
	return p, "http://" + address + "/metrics"
}

// synced waits until the caches are synced.
func synced(t *testing.T, p *cage.Process, url string) {
	t.Helper()
	eventually(t, p, "the caches are complete", func() error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && !strings.Contains(string(text), `prometheus_operator_ready{controller="prometheus"} 1`) {
			err = errors.New("not ready")
		}
		return err
	})
}

func eventually(t *testing.T, p *cage.Process, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
		if ended := p.Err(); ended != nil {
			t.Fatalf("%s: %v", what, ended)
		}
	}
	t.Fatalf("%s: still after %s: %v", what, patience, err)
}

// With 276 MB of monitors stored by one tenant, an operator with 250 MiB starts, writes the changes of another tenant,
// and reports on a monitor of the first why it is left out. This also holds if the monitors exist before it starts.
func TestManyStoredObjects(t *testing.T) {
	w := newEnvironment(t)
	p, url := w.operator(t)
	synced(t, p, url)
	w.change(t, p, "11s")
	w.fill(t)
	t.Logf("with %d monitors of %d bytes, a change took %s", monitors, monitorBytes, w.change(t, p, "12s"))
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("stored while it runs: %d MiB at most", p.Usage().Peak>>20)

	began := time.Now()
	p, url = w.operator(t)
	synced(t, p, url)
	t.Logf("caches complete after %s", time.Since(began).Round(time.Millisecond))
	t.Logf("after the restart, a change took %s", w.change(t, p, "13s"))
	eventually(t, p, "an Event says why a monitor is left out", func() error {
		events, err := w.kube.EventsV1().Events("bad").List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range events.Items {
			if strings.Contains(e.Note, "the operator holds at most") {
				return nil
			}
		}
		return fmt.Errorf("%d Events", len(events.Items))
	})
	w.change(t, p, "14s")
	t.Logf("stored before it starts: %d MiB at most, %d MiB now", p.Usage().Peak>>20, p.Usage().RSS>>20)
}
