package live

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/discovery/discoverytest"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// encoded is a list as API servers send it.
func encoded(b testing.TB, list apiruntime.Object) []byte {
	b.Helper()
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), corev1.SchemeGroupVersion)
	if _, slices := list.(*discoveryv1.EndpointSliceList); slices {
		encoder = scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), discoveryv1.SchemeGroupVersion)
	}
	text, err := apiruntime.Encode(encoder, list)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// recorded is an API server with the pages of lists, by the end of the path.
type recorded map[string][][]byte

// ServeHTTP implements http.Handler.
func (r recorded) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	pages := r[path[strings.LastIndex(path, "/")+1:]]
	at, _ := strconv.Atoi(request.URL.Query().Get("continue"))
	if pages == nil { // permissions: everything
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": {"allowed": true}}`)
		return
	}
	w.Header().Set("Content-Type", apiruntime.ContentTypeProtobuf)
	_, _ = w.Write(pages[at])
}

// recording is a cluster with Services of ten pods each.
func recording(b testing.TB, pods int) recorded {
	b.Helper()
	out := recorded{}
	token := func(page, pages int) metav1.ListMeta {
		if page+1 < pages {
			return metav1.ListMeta{ResourceVersion: "1", Continue: strconv.Itoa(page + 1)}
		}
		return metav1.ListMeta{ResourceVersion: "1"}
	}
	pages := pods / pageSize
	var services corev1.ServiceList
	var slices discoveryv1.EndpointSliceList
	for page := range pages {
		list := corev1.PodList{ListMeta: token(page, pages)}
		for i := range pageSize {
			list.Items = append(list.Items, discoverytest.TypicalPod(page*pageSize+i))
		}
		for s := range pageSize / 10 {
			meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%d-%d", page, s), Labels: map[string]string{"app": "web-" + strconv.Itoa(s%10)}}
			services.Items = append(services.Items, corev1.Service{ObjectMeta: meta})
			slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080))}}}
			slice.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
			for _, pod := range list.Items[s*10 : s*10+10] {
				slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
					NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: "demo", Name: pod.Name}})
			}
			slices.Items = append(slices.Items, slice)
		}
		out["pods"] = append(out["pods"], encoded(b, &list))
	}
	out["services"], out["endpointslices"] = [][]byte{encoded(b, &services)}, [][]byte{encoded(b, &slices)}
	return out
}

// client reaches the recorded cluster.
func (r recorded) client(b testing.TB) Cluster {
	b.Helper()
	h := httptest.NewServer(r)
	b.Cleanup(h.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: h.URL, QPS: -1})
	if err != nil {
		b.Fatal(err)
	}
	return Cluster{Kube: kube}
}

// monitorOfTen is a job as that of a ServiceMonitor for a tenth of the Services.
const monitorOfTen = "kubernetes_sd_configs: [{role: endpointslice, namespaces: {names: [demo]}}], " +
	"relabel_configs: [{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: web-3}, {source_labels: [__meta_kubernetes_pod_name], target_label: pod}]"

// BenchmarkRead reads all pods of a cluster.
func BenchmarkRead(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		c := recording(b, pods).client(b)
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

// BenchmarkFind is the way from a cluster to the targets of one ServiceMonitor whose
// namespace has all pods.
func BenchmarkFind(b *testing.B) {
	for _, pods := range []int{1_000, 10_000, 100_000} {
		c := recording(b, pods).client(b)
		b.Run(strconv.Itoa(pods), func(b *testing.B) {
			text := targets.Document{Text: []byte("- {job_name: a, " + monitorOfTen + "}"), Origins: origins(2)}
			jobs, err := text.Jobs()
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
	c := recording(b, pods).client(b)
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

// cpu is the time that the process has used. On a busy machine it says more than the clock.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// reportCPU reports the time of the process for each run of a loop that began at a time.
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

// encodedStatus is an answer that is no list.
func encodedStatus(t testing.TB) []byte {
	t.Helper()
	return encoded(t, &metav1.Status{Status: metav1.StatusSuccess})
}
