package commands

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// largeCluster is a cluster with pods in the namespace demo. Reads of pods and the like
// elsewhere fail and are recorded.
type largeCluster struct {
	manifests *served // of our kinds and of namespaces
	demo      discoverytest.RecordedServer

	requests, bytes atomic.Int64
	elsewhere       atomic.Value // path of a read of pods or the like outside of demo
}

// counted counts the bytes of responses.
type counted struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// ServeHTTP implements [http.Handler].
func (l *largeCluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.requests.Add(1)
	w = counted{w, &l.bytes}
	path := r.URL.Path
	list := path[strings.LastIndex(path, "/")+1:]
	switch {
	case l.demo[list] == nil && r.Method == http.MethodGet:
		l.manifests.ServeHTTP(w, r)
	case l.demo[list] != nil && !strings.Contains(path, "/namespaces/demo/"):
		l.elsewhere.Store(path)
		http.Error(w, "too much", http.StatusInternalServerError)
	default:
		l.demo.ServeHTTP(w, r)
	}
}

const manyPods = `apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: k8s, namespace: demo}
spec: {version: 3.5.0, shards: 2, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: demo}
spec: {selector: {matchLabels: {app: web-3}}, endpoints: [{port: http}]}`

// BenchmarkTargets measures the whole command for a ServiceMonitor that selects a tenth of
// the Services of its namespace, which has this number of pods. It fails if the command reads
// other namespaces.
func BenchmarkTargets(b *testing.B) {
	b.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, pods := range []int{1_000, 10_000, 25_000, 100_000} {
		l := &largeCluster{manifests: &served{}, demo: discoverytest.Record(b, pods, 500)}
		for doc := range strings.SplitSeq(manyPods, "\n---\n") {
			var o map[string]any
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				b.Fatal(err)
			}
			l.manifests.objects = append(l.manifests.objects, o)
		}
		server := httptest.NewServer(l)
		b.Cleanup(server.Close)
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			want := fmt.Sprintf("%d targets", pods/10)
			b.ReportAllocs()
			l.requests.Store(0)
			l.bytes.Store(0)
			began := usedCPU(b)
			for b.Loop() {
				var out, errs bytes.Buffer
				code := Operator(context.Background(), []string{"targets", "servicemonitor", "demo/web", "--apiserver=" + server.URL}, &out, &errs)
				if path := l.elsewhere.Load(); code != 0 || path != nil || !strings.Contains(out.String(), want) {
					b.Fatalf("exit code %d, lists %v, want %q\n%s%.2000s", code, path, want, &errs, &out)
				}
			}
			b.ReportMetric(float64(usedCPU(b)-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(l.requests.Load())/float64(b.N), "requests/op")
			b.ReportMetric(float64(l.bytes.Load())/float64(b.N)/1e6, "MB-read/op")
		})
	}
}

// usedCPU returns the CPU time of the process, which is more reliable than elapsed time on a
// busy machine.
func usedCPU(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
