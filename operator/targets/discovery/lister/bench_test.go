package lister

import (
	"net/http/httptest"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// client returns a client of a recorded cluster.
func client(b testing.TB, recorded discoverytest.RecordedServer) Cluster {
	b.Helper()
	h := httptest.NewServer(recorded)
	b.Cleanup(h.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: h.URL, QPS: -1})
	if err != nil {
		b.Fatal(err)
	}
	return Cluster{Kube: kube}
}

// monitorOfTen is a job like that of a ServiceMonitor for a tenth of the Services.
const monitorOfTen = "kubernetes_sd_configs: [{role: endpointslice, namespaces: {names: [demo]}}], " +
	"relabel_configs: [{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: web-3}, {source_labels: [__meta_kubernetes_pod_name], target_label: pod}]"

// BenchmarkRead reads all pods of a cluster.
func BenchmarkRead(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		c := client(b, discoverytest.Record(b, pods, pageSize))
		b.Run(strconv.Itoa(pods), func(b *testing.B) {
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				kind := discovery.Kinds(&targets.KubernetesSD{Role: "pod"})[0]
				objects, err := c.read(b.Context(), list{kind: kind, namespace: "demo"})
				if err != nil || objects.Len() != pods {
					b.Fatal(objects, err)
				}
			}
			reportCPU(b, began)
		})
	}
}

// BenchmarkFind measures the time from a cluster to the targets of one ServiceMonitor whose
// namespace has all pods.
func BenchmarkFind(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		c := client(b, discoverytest.Record(b, pods, pageSize))
		b.Run(strconv.Itoa(pods), func(b *testing.B) {
			text := promconfig.JobText{Text: []byte("- {job_name: a, " + monitorOfTen + "}"), Origins: origins(2)}
			jobs, err := targets.ReadJobs(text)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				got, err := c.Find(b.Context(), jobs, workload)
				if err != nil {
					b.Fatal(err)
				}
				if counts := jobs[0].Evaluate(got.Found[0]).Counts(); counts[targets.Kept] != pods/10*2 { // two ports of each pod
					b.Fatal(counts)
				}
			}
			reportCPU(b, began)
		})
	}
}

// BenchmarkBytesPerPod reports the heap of a trimmed pod.
func BenchmarkBytesPerPod(b *testing.B) {
	const pods = 20_000
	c := client(b, discoverytest.Record(b, pods, pageSize))
	kind := discovery.Kinds(&targets.KubernetesSD{Role: "pod"})[0]
	for b.Loop() {
		before := heap()
		objects, err := c.read(b.Context(), list{kind: kind, namespace: "demo"})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/pods, "B/pod")
		runtime.KeepAlive(objects)
	}
}

// cpu returns the CPU time of the process. On a busy machine it is more meaningful than elapsed
// time.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU reports the CPU time per iteration since began.
func reportCPU(b *testing.B, began time.Duration) {
	b.ReportMetric(float64(cpu(b)-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// encodedStatus returns a response that is not a list.
func encodedStatus(t testing.TB) []byte {
	t.Helper()
	return discoverytest.Encoded(t, &metav1.Status{Status: metav1.StatusSuccess})
}
