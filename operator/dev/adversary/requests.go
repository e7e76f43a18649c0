package adversary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

func pick[T any](rng *rand.Rand, all ...T) T { return all[rng.IntN(len(all))] }

// hostile returns the n-th request, made by a random row of the table.
func (c *callers) hostile(rng *rand.Rand, n int) request {
	rows := requests
	if c.hooksOnly {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r requestRow) bool { return !r.hooks })
	}
	total := 0
	for _, row := range rows {
		total += row.weight
	}
	at := rng.IntN(total)
	for _, row := range rows {
		if at -= row.weight; at < 0 {
			q := row.make(c, rng, n)
			q.what = row.name
			return q
		}
	}
	panic("the weights do not add up")
}

// requestRow generates one type of request.
type requestRow struct {
	name   string
	weight int
	hooks  bool // sent to the webhooks only
	make   func(*callers, *rand.Rand, int) request
}

// requests is the table of hostile requests.
var requests = []requestRow{
	{"reads", 30, false, (*callers).reads},
	{"pages", 10, false, (*callers).pages},
	{"previews", 15, false, (*callers).previews},
	{"bodies", 10, false, (*callers).bodies},
	{"slow bodies", 3, false, (*callers).slowBodies},
	{"headers", 2, false, (*callers).headers},
	{"admission", 20, true, (*callers).admission},
	{"conversion", 8, true, (*callers).conversion},
	{"bodies at the webhooks", 6, true, (*callers).webhookBodies},
	{"slow bodies at the webhooks", 2, true, (*callers).slowReviews},
}

// tokenFor returns a token, mostly a valid one with few permissions.
func (c *callers) tokenFor(rng *rand.Rand) string {
	return pick(rng, c.mallory, c.mallory, c.mallory, c.nobody, c.nobody, "", "x.y.z", strings.Repeat("t", 9000), c.mallory+"AAAA", "a b", "eyJhbGciOiJub25lIn0.e30.")
}

// answersOf lists the last path segments of the HTTP API for objects.
var answersOf = []string{"status", "overview", "sources", "rollout", "shards", "config", "routes", "targets", "target", "explain", "changes", "match", "nothing"}

// oddValue returns a value of a query parameter, mostly an invalid one.
func oddValue(rng *rand.Rand) string {
	return pick(rng, "", "0", "-1", "1000", "1001", "99999999999999999999", "a", "%", "\x00", "..", "rejected", "ServiceMonitor", strings.Repeat("v", 5000), "(a|b)*", "{{.}}",
		"e30=", strings.Repeat("e30", 2000), "{\"a\":\"b\"}", "a=b,c=d", "http://192.0.2.7:80/metrics", "2026-01-01T00:00:00Z", "true")
}

var params = []string{"limit", "continue", "filter", "state", "kind", "reason", "label", "alert", "labels", "match", "shard", "url", "job", "from", "nothing"}

// reads requests objects that the caller may or may not read.
func (c *callers) reads(rng *rand.Rand, _ int) request {
	row := catalog.All[rng.IntN(len(catalog.All))]
	namespace := pick(rng, monitoring, goodTenant, hostileNS, private, private, "default", "..", "a%2fb", strings.Repeat("n", 300))
	name := pick(rng, "main", "web", "hidden", "hidden", "gone", fmt.Sprintf("hostile-%d-%d", c.w.Seed%1000, rng.IntN(3000)), "%00", strings.Repeat("n", 3000), "..%2f..")
	path := fmt.Sprintf("/apis/%s/namespaces/%s/%s/%s/%s", row.GroupVersion(), namespace, row.Resource, name, answersOf[rng.IntN(len(answersOf))])
	switch rng.IntN(8) {
	case 0:
		path = pick(rng, "/api/v1/overview", "/api/v1/events", "/openapi/v3", "/api/v1/namespaces/"+namespace+"/pods/"+name+"/targets", "/api/v1/alerts", "/api/", "/apis", "//", "/api/v1/../../debug/pprof/heap", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1")
	case 1:
		path = "/" + strings.Repeat(pick(rng, "a/", "%2f", "../", "."), pick(rng, 1, 100, 3000))
	}
	if rng.IntN(2) == 0 && !strings.Contains(path, "?") {
		query := url.Values{}
		for range pick(rng, 1, 2, 5, 300) {
			query.Add(params[rng.IntN(len(params))], oddValue(rng))
		}
		path += "?" + query.Encode()
	}
	return request{method: pick(rng, http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions, "BREW"), url: c.w.operatorURL() + path, token: c.tokenFor(rng)}
}

// pages requests the web pages.
func (c *callers) pages(rng *rand.Rand, _ int) request {
	resource := catalog.All[rng.IntN(len(catalog.All))].Resource
	namespace := pick(rng, monitoring, goodTenant, hostileNS, private)
	name := pick(rng, "main", "web", "hidden", "gone", "%3Cscript%3E")
	path := pick(rng, "/", "/index.json", "/go?q="+url.QueryEscape(oddValue(rng)), "/preview", "/events", "/static/../../etc/passwd", "/static/"+name,
		"/"+resource+"/"+namespace+"/"+name, "/"+resource+"/"+namespace+"/"+name+"/target?url="+url.QueryEscape(oddValue(rng)), "/pods/"+namespace+"/"+name,
		"/"+resource+"/"+namespace+"/"+name+"?"+params[rng.IntN(len(params))]+"="+url.QueryEscape(oddValue(rng)))
	return request{method: http.MethodGet, url: c.w.operatorURL() + path, token: c.tokenFor(rng)}
}

// spies contains manifests of the hostile user that try to read foreign objects.
const spies = `
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: spy, namespace: hostile}
spec:
  namespaceSelector: {any: true}
  selector: {}
  endpoints: [{targetPort: 80, relabelings: [{sourceLabels: [__meta_kubernetes_service_name], targetLabel: seen}, {sourceLabels: [__meta_kubernetes_service_label_app], regex: "c.*", action: keep}]}]
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: hidden, namespace: private}
spec: {selector: {}, endpoints: [{port: web}]}
`

// previews sends hostile manifests.
func (c *callers) previews(rng *rand.Rand, n int) request {
	q := request{method: http.MethodPost, url: c.w.operatorURL() + "/api/v1/preview", token: c.tokenFor(rng), kind: pick(rng, "application/yaml", "application/json", "text/plain", "")}
	if rng.IntN(6) == 0 {
		q.body = []byte(spies)
		return q
	}
	for i := range pick(rng, 1, 1, 3, 30) {
		o := c.source.Object(2_000_000 + n*30 + i)
		text, err := json.Marshal(o.Manifest)
		if err != nil {
			continue
		}
		if rng.IntN(3) == 0 && len(text) < 300_000 {
			if asYAML, err := yaml.JSONToYAML(text); err == nil {
				text = asYAML
			}
		}
		q.body = append(append(q.body, "\n---\n"...), text...)
		if len(q.body) > 1<<20 && rng.IntN(4) > 0 {
			q.body = q.body[:1<<20]
			break
		}
	}
	return q
}

// document returns a small text that is expensive to parse.
func document(rng *rand.Rand) []byte {
	n := pick(rng, 1000, 100_000, 400_000)
	return []byte(pick(rng,
		strings.Repeat("[", n), strings.Repeat("[", n)+strings.Repeat("]", n), strings.Repeat(`{"a":`, n), `{"spec":`+strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)+"}",
		"["+strings.Repeat("{},", n)+"{}]", "["+strings.Repeat("1,", n)+"1]", `{"apiVersion":"v1","kind":"List","items":[`+strings.Repeat("{},", n)+"{}]}",
		strings.Repeat("- ", n), strings.Repeat("a: {b: ", n/10), strings.Repeat("---\n", n), strings.Repeat("---\na: 1\n", n/5), strings.Repeat("? ", n/10), strings.Repeat("!!binary ", n/10),
		aliases(rng), "%YAML 9.9\n---\n", strings.Repeat("\x00", n), strings.Repeat("\xff\xfe", n), `"`+strings.Repeat(`\u0000`, n/6)+`"`, strings.Repeat("a", n),
		"apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: a, namespace: hostile}\nspec:\n  selector: {}\n  endpoints: ["+strings.Repeat("{},", n)+"{}]\n",
		"apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: a, namespace: hostile}\nspec: {groups: [{name: a, rules: ["+strings.Repeat("{},", n)+"{}]}]}\n",
		"{"+strings.Repeat(`"a":1,`, n)+`"b":1}`, "1e"+strings.Repeat("9", 300), `{"kind":`+strings.Repeat("9", n)+"}"))
}

// aliases returns YAML aliases that expand to much more than their text.
func aliases(rng *rand.Rand) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < pick(rng, 5, 9, 30); i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10))
	}
	return b.String()
}

func (c *callers) bodies(rng *rand.Rand, _ int) request {
	path := pick(rng, "/api/v1/preview", "/api/v1/preview", "/api/v1/preview", "/api/v1/overview", "/preview", "/apis/monitoring.coreos.com/v1/namespaces/hostile/prometheuses/x/targets")
	return request{method: pick(rng, http.MethodPost, http.MethodPost, http.MethodPut), url: c.w.operatorURL() + path, token: c.tokenFor(rng), kind: pick(rng, "application/yaml", "application/json"), body: document(rng)}
}

func (c *callers) slowBodies(rng *rand.Rand, _ int) request {
	return request{method: http.MethodPost, token: c.tokenFor(rng), kind: "application/json", body: []byte(`{"kind": "` + strings.Repeat("a", 1000)), slow: true,
		url: c.w.operatorURL() + "/api/v1/preview"}
}

func (c *callers) slowReviews(rng *rand.Rand, n int) request {
	q := c.slowBodies(rng, n)
	q.url = c.w.webhookURL() + pick(rng, "/convert", "/admission-prometheusrules/validate")
	return q
}

func (c *callers) headers(rng *rand.Rand, _ int) request {
	return request{method: http.MethodGet, url: pick(rng, c.w.operatorURL()+"/api/v1/overview", c.w.webhookURL()+"/healthz"), token: c.tokenFor(rng), headers: pick(rng, 10, 60, 70, 900)}
}

// larger returns an object that is too large for etcd, by repeating its lists and strings.
func larger(rng *rand.Rand, m hostile.Manifest) hostile.Manifest {
	factor := pick(rng, 1, 1, 1, 3, 10)
	if factor == 1 {
		return m
	}
	out, _ := grown(m, factor).(map[string]any)
	return out
}

// grown repeats the outermost lists of a value.
func grown(v any, factor int) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = grown(value, factor)
		}
		return out
	case []any:
		var out []any
		for range factor {
			out = append(out, v...)
		}
		return out
	}
	return v
}
