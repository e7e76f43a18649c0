package truth

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// Targets can be read from real servers through the pod proxy of an API server.
func TestRunning(t *testing.T) {
	if os.Getenv("FIREKEEPER_TRUTH") == "" {
		t.Skip("waits for scrapes of real servers; FIREKEEPER_TRUTH=5 runs it")
	}
	for _, p := range releases(t) {
		t.Run(p.version, func(t *testing.T) {
			t.Parallel()
			s := p.run(t, `scrape_configs:
- job_name: a
  static_configs: [{targets: ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"], labels: {team: x}}]
  params: {token: [secret]}
  relabel_configs: [{source_labels: [__address__], regex: .*:3, action: drop}]
- job_name: b
  static_configs: [{targets: ["127.0.0.1:1"]}]
`)
			target, err := url.Parse(s.url)
			if err != nil {
				t.Fatal(err)
			}
			proxy := httptest.NewServer(http.StripPrefix("/api/v1/namespaces/demo/pods/http:main-0:9090/proxy", httputil.NewSingleHostReverseProxy(target)))
			defer proxy.Close()
			kube, err := kubernetes.NewForConfig(&rest.Config{Host: proxy.URL})
			if err != nil {
				t.Fatal(err)
			}
			var got promapi.Answer
			for began := time.Now(); len(got.Targets) < 3 && time.Since(began) < limit; time.Sleep(100 * time.Millisecond) { // there is no event for discovered targets
				got = promapi.Cluster{Kube: kube}.Targets(t.Context(), promapi.Server{Namespace: "demo", Pod: "main-0", Scheme: "http", Port: 9090})
			}
			labels := func(job, instance string) map[string]string {
				out := map[string]string{"instance": instance, "job": job}
				if job == "a" {
					out["team"] = "x"
				}
				return out
			}
			for i := range got.Targets {
				got.Targets[i].LastScrape, got.Targets[i].Duration = time.Time{}, 0
				got.Targets[i].Health, got.Targets[i].LastError = "", "" // the addresses are unreachable or not scraped yet
			}
			want := []promapi.Target{
				{Job: "a", URL: "http://127.0.0.1:1/metrics?token=secret", Labels: labels("a", "127.0.0.1:1")},
				{Job: "a", URL: "http://127.0.0.1:2/metrics?token=secret", Labels: labels("a", "127.0.0.1:2")},
				{Job: "b", URL: "http://127.0.0.1:1/metrics", Labels: labels("b", "127.0.0.1:1")},
			}
			if got.Err != nil || !cmp.Equal(got.Targets, want) {
				t.Errorf("%v\n%s", got.Err, cmp.Diff(want, got.Targets))
			}
			if got.Dropped == nil {
				t.Logf("%s does not tell how many targets are dropped", p.version)
			} else if got.Dropped["a"] != 1 || got.Dropped["b"] != 0 {
				t.Errorf("%v", got.Dropped)
			}
		})
	}
}
