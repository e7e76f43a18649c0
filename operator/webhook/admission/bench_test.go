package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// typicalRules returns an object with n alerting and recording rules of typical size.
func typicalRules(t testing.TB, object, n int) []byte {
	var rules []string
	for i := range n {
		expr := fmt.Sprintf(`sum by (cluster, namespace, job) (rate(http_requests_total{job=~"api|web",code=~"5..",route!="/%d-%d"}[5m])) `+
			`/ on (cluster, namespace, job) group_left sum by (cluster, namespace, job) (rate(http_requests_total{job=~"api|web"}[5m])) > 0.01`, object, i)
		if i%2 == 0 {
			rules = append(rules, fmt.Sprintf("{record: 'job:http_errors:ratio_rate5m_%d', labels: {team: web}, expr: '%s'}", i, expr))
			continue
		}
		rules = append(rules, fmt.Sprintf("{alert: HighErrorRate%d, for: 5m, labels: {severity: page, team: web}, annotations: {summary: 'Many errors in {{ $labels.job }}.', "+
			"description: '{{ $labels.namespace }}/{{ $labels.job }} answers {{ $value | humanizePercentage }} of the requests with an error.'}, expr: '%s'}", i, expr))
	}
	return toJSON(t, ruleObject(rules...))
}

// BenchmarkReviews reviews 1,000 PrometheusRules of 50 expressions each over HTTP,
// sequentially and with several clients. One operation is one object.
func BenchmarkReviews(b *testing.B) {
	bodies := make([][]byte, 1000)
	for i := range bodies {
		body, err := json.Marshal(admissionv1.AdmissionReview{Request: request(typicalRules(b, i, 50), "prometheusrules v1")})
		if err != nil {
			b.Fatal(err)
		}
		bodies[i] = body
	}
	for _, path := range []string{ValidateRulesPath, MutateRulesPath} {
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("path=%s/clients=%d", path[1:], clients), func(b *testing.B) {
				benchmarkPath(b, path, clients, bodies)
			})
		}
	}
}

// BenchmarkObjects reviews ServiceMonitors with three endpoints, and workloads.
func BenchmarkObjects(b *testing.B) {
	const endpoint = "{port: web, interval: 30s, scheme: https, tlsConfig: {ca: {configMap: {name: ca, key: ca.crt}}}, bearerTokenSecret: {name: s, key: token}, " +
		"relabelings: [{sourceLabels: [__meta_kubernetes_pod_node_name], targetLabel: node}, {action: labeldrop, regex: 'pod_template_hash|tmp_.*'}], " +
		"metricRelabelings: [{sourceLabels: [__name__], regex: 'go_(gc|memstats)_.*', action: drop}]}"
	for resource, spec := range map[string]string{
		"servicemonitors v1": "{selector: {matchLabels: {app: web}}, endpoints: [" + endpoint + "," + endpoint + "," + endpoint + "]}",
		"prometheuses v1": "{version: v3.13.2, replicas: 2, shards: 2, retention: 15d, serviceMonitorSelector: {}, ruleSelector: {}, externalLabels: {cluster: a}, " +
			"remoteWrite: [{url: 'https://remote/write', basicAuth: {username: {name: s, key: u}, password: {name: s, key: p}}}], alerting: {alertmanagers: [{name: main, namespace: demo, port: web}]}, " +
			"storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 50Gi}}}}}}",
	} {
		body, err := json.Marshal(admissionv1.AdmissionReview{Request: request(toJSON(b, "metadata: {name: a}\nspec: "+spec), resource)})
		if err != nil {
			b.Fatal(err)
		}
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("kind=%s/clients=%d", strings.Fields(resource)[0], clients), func(b *testing.B) {
				benchmarkPath(b, ValidateObjectsPath, clients, [][]byte{body})
			})
		}
	}
}

// BenchmarkConversion converts a list of 100 AlertmanagerConfigs.
func BenchmarkConversion(b *testing.B) {
	r := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{DesiredAPIVersion: betaVersion}}
	for range 100 {
		r.Request.Objects = append(r.Request.Objects, runtime.RawExtension{Raw: []byte(alphaConfig)})
	}
	body, err := json.Marshal(r)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkPath(b, ConvertPath, 1, [][]byte{body})
}

func benchmarkPath(b *testing.B, path string, clients int, bodies [][]byte) {
	mux := http.NewServeMux()
	New(Options{Kinds: objectKinds}).Register(mux)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	var (
		mu        sync.Mutex
		latencies []time.Duration
		next      int
		left      = b.N
	)
	take := func() []byte {
		mu.Lock()
		defer mu.Unlock()
		if left == 0 {
			return nil
		}
		left--
		next++
		return bodies[next%len(bodies)]
	}
	b.SetBytes(int64(len(bodies[0])))
	b.ResetTimer()
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for body := take(); body != nil; body = take() {
				begin := time.Now()
				resp, err := srv.Client().Post(srv.URL+path, "application/json", bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				var answer bytes.Buffer
				_, err = answer.ReadFrom(resp.Body)
				resp.Body.Close()
				if err != nil || !bytes.Contains(answer.Bytes(), []byte(`"allowed":true`)) && !bytes.Contains(answer.Bytes(), []byte(`"Success"`)) {
					b.Errorf("%v %s", err, &answer)
					return
				}
				mu.Lock()
				latencies = append(latencies, time.Since(begin))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	b.StopTimer()
	slices.Sort(latencies)
	if n := len(latencies); n > 0 {
		b.ReportMetric(float64(latencies[n*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "objects/s")
	}
}
