package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	httpapi "github.com/firekeeper-dev/firekeeper/operator/web"
)

// withSecrets has a secret value in every place where a workload reads one from a Secret.
const withSecrets = `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NAMESPACE}
stringData: {user: canary-user, pass: canary-pass, url: "https://hooks.example/canary-url"}
---
apiVersion: v1
kind: Secret
metadata: {name: additional, namespace: NAMESPACE}
stringData:
  jobs: '[{job_name: more, static_configs: [{targets: ["a:1"]}], basic_auth: {username: canary-more, password: canary-more-pass}, params: {token: [canary-token]}}]'
---
apiVersion: v1
kind: Secret
metadata: {name: alertmanager-main, namespace: NAMESPACE}
stringData:
  alertmanager.yaml: |
    # canary-comment
    global: {slack_api_url: "https://hooks.example/canary-slack"}
    route: {receiver: chat}
    receivers: [{name: chat, slack_configs: [{channel: all}]}, {name: hook, webhook_configs: [{url: "https://hook.example/canary-hook"}]}]
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: NAMESPACE, labels: {canary: none}, annotations: {operator.prometheus.io/controller-id: http-api-secrets}}
spec:
  serviceMonitorSelector: {}
  probeSelector: {}
  scrapeConfigSelector: {}
  ruleSelector: {}
  additionalScrapeConfigs: {name: additional, key: jobs}
  remoteWrite:
  - url: https://store.example/write
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: pass}}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: NAMESPACE, annotations: {operator.prometheus.io/controller-id: http-api-secrets}}
spec: {alertmanagerConfigSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  endpoints:
  - port: http
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: pass}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: bad, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  endpoints: [{port: http, basicAuth: {password: {name: login, key: none}}}]
---
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata: {name: site, namespace: NAMESPACE}
spec:
  prober: {url: prober.example}
  bearerTokenSecret: {name: login, key: pass}
  targets: {staticConfig: {static: [site.example]}}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeConfig
metadata: {name: sd, namespace: NAMESPACE}
spec:
  httpSDConfigs: [{url: "http://sd.example/targets", authorization: {credentials: {name: login, key: pass}}}]
  staticConfigs: [{targets: ["a:1"]}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: alerts, namespace: NAMESPACE}
spec: {groups: [{name: a, rules: [{alert: Down, expr: up == 0}]}]}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: team, namespace: NAMESPACE}
spec:
  route: {receiver: team}
  receivers:
  - name: team
    slackConfigs: [{apiURL: {name: login, key: url}, channel: "#team"}]
    pagerdutyConfigs: [{routingKey: {name: login, key: pass}}]
`

// withSecretsNames maps resources to the names of these objects.
var withSecretsNames = map[string]string{
	"prometheuses": "main", "alertmanagers": "main", "servicemonitors": "web", "probes": "site", "scrapeconfigs": "sd", "prometheusrules": "alerts", "alertmanagerconfigs": "team",
}

var link = regexp.MustCompile(`(?:href|action)="([^"#]*)"`)

// No response of the HTTP API and the web pages contains a value of a Secret.
func TestHTTPAPIHasNoSecrets(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "http-api-secrets", "", "--controller-id=http-api-secrets", "--web.api=open")
	ns := w.namespace(t)
	w.apply(t, strings.ReplaceAll(withSecrets, "NAMESPACE", ns))
	w.reconciled(t, ns, "main", "True")
	configuration, err := w.configuration(t, ns, "prometheus-main")
	if err != nil || !strings.Contains(configuration, "canary-pass") {
		t.Fatalf("the secrets are not in use: %v", err)
	}
	asked := 0
	clean := func(method, path, body string) string {
		asked++
		code, text := o.send(t, method, path, body)
		if strings.Contains(strings.ReplaceAll(text, `"canary":"none"`, ""), "canary-") {
			at := strings.Index(text, "canary-")
			t.Errorf("%s %s: %d …%s…", method, path, code, text[max(0, at-100):min(len(text), at+100)])
		}
		if code >= 500 && code != http.StatusServiceUnavailable {
			t.Errorf("%s %s: %d %.300s", method, path, code, text)
		}
		return text
	}
	for _, r := range httpapi.Routes() {
		for _, path := range r.Paths() {
			for resource, name := range withSecretsNames {
				if strings.Contains(path, "/"+resource+"/") {
					path = strings.NewReplacer("{namespace}", ns, "{name}", name, "{id}", "0a1b").Replace(path)
				}
			}
			switch {
			case r.Name == "events":
			case r.Method == http.MethodPost:
				clean(r.Method, path, strings.ReplaceAll(withSecrets, "NAMESPACE", ns))
				clean(r.Method, path, "kind: canary-kind\nspec: [canary-value")
			default:
				clean(r.Method, path, "")
				clean(r.Method, path+"?limit=1000&job=more&label=app%3Dweb", "")
			}
		}
	}
	for _, name := range []string{"bad", "none"} {
		clean("GET", "/apis/monitoring.coreos.com/v1/namespaces/"+ns+"/servicemonitors/"+name+"/explain", "")
	}
	o.crawl(t, ns, clean)
	if asked < 100 {
		t.Errorf("asked for %d things only", asked)
	}
	if strings.Contains(o.log.String(), "canary-") {
		t.Error("a value of a Secret is in the log")
	}
	o.hears(t, w, ns)
}

// crawl follows the links of the pages to other pages about the namespace.
func (o *operator) crawl(t *testing.T, ns string, read func(method, path, body string) string) {
	t.Helper()
	seen, todo := map[string]bool{"/": true}, []string{"/"}
	for ; len(todo) > 0 && len(seen) < 400; todo = todo[1:] {
		from, err := url.Parse(todo[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(read("GET", todo[0], ""), -1) {
			to, err := from.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
			if err != nil {
				t.Errorf("%s: link %q: %v", from, m[1], err)
				continue
			}
			if next := to.RequestURI(); to.Host == "" && strings.Contains(next, ns) && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	for _, resource := range []string{"prometheuses", "alertmanagers", "servicemonitors"} {
		if path := "/" + resource + "/" + ns + "/" + withSecretsNames[resource]; !seen[path] {
			t.Errorf("no link to %s from the other pages", path)
		}
	}
}

// hears reads the event stream until it reports a change.
func (o *operator) hears(t *testing.T, w *environment, ns string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	w.patch(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns, "web", `{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`)
	want := fmt.Sprintf(`"namespace":"%s","name":"web"`, ns)
	for read := bufio.NewScanner(resp.Body); read.Scan(); {
		if strings.Contains(read.Text(), want) {
			return
		}
	}
	t.Errorf("no event of a changed ServiceMonitor: %v", ctx.Err())
}

// send sends a request and returns the response with its headers.
func (o *operator) send(t *testing.T, method, path, body string) (code int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, o.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, fmt.Sprint(resp.Header) + string(all)
}
