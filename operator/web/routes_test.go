package web

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

const (
	prometheusPath     = "/apis/monitoring.coreos.com/v1/namespaces/demo/prometheuses/main"
	alertmanagerPath   = "/apis/monitoring.coreos.com/v1/namespaces/demo/alertmanagers/main"
	serviceMonitorPath = "/apis/monitoring.coreos.com/v1/namespaces/demo/servicemonitors/web"
)

// asking has requests for every route, with the resulting calls.
var asking = []struct{ route, path, asks string }{
	{"overview", "/api/v1/overview", "overview {Page:{Filter: Limit:100 Continue:} Level: Kind: Namespace:}"},
	{"overview", "/api/v1/overview?filter=main&limit=7&continue=x", "overview {Page:{Filter:main Limit:7 Continue:x} Level: Kind: Namespace:}"},
	{"overview", "/api/v1/overview?level=broken&kind=Prometheus&namespace=demo", "overview {Page:{Filter: Limit:100 Continue:} Level:broken Kind:Prometheus Namespace:demo}"},
	{"objects", "/api/v1/objects?kind=ServiceMonitor&namespace=demo&state=rejected&filter=w", "objects ServiceMonitor demo rejected {Filter:w Limit:100 Continue:}"},
	{"workload", prometheusPath + "/overview", "workload Prometheus demo/main"},
	{"sources", prometheusPath + "/sources", "sources Prometheus demo/main {Page:{Filter: Limit:100 Continue:} State: Kind:}"},
	{"sources", prometheusPath + "/sources?state=not+selected&kind=PodMonitor&limit=1000", "{Page:{Filter: Limit:1000 Continue:} State:not selected Kind:PodMonitor}"},
	{"rollout", alertmanagerPath + "/rollout?limit=1", "rollout Alertmanager demo/main {Filter: Limit:1 Continue:}"},
	{"shards", prometheusPath + "/shards", "workload Prometheus demo/main"},
	{"shards", prometheusPath + "/shards?shards=3", "reshard Prometheus demo/main 3"},
	{"config", prometheusPath + "/config?filter=web", "config Prometheus demo/main {Page:{Filter:web "},
	{"routes", alertmanagerPath + "/routes", "routes demo/main []"},
	{"routes", alertmanagerPath + "/routes?label=severity%3Dpage&label=team=a%3Db", `routes demo/main ["severity=page" "team=a=b"]`},
	{"explain", serviceMonitorPath + "/explain", "explain ServiceMonitor demo/web v1"},
	{"explain", "/apis/monitoring.coreos.com/v1beta1/namespaces/demo/alertmanagerconfigs/a/explain", "explain AlertmanagerConfig demo/a v1alpha1"},
	{"targets", serviceMonitorPath + "/targets?state=&reason=&job=&shard=&limit=100&continue=", "targets ServiceMonitor demo/web {Filter: Limit:100 Continue:} state= reason= job= shard=-1"},
	{"targets", prometheusPath + "/targets?state=dropped&reason=spec.selector&job=x/y&shard=0", "Prometheus demo/main {Filter: Limit:100 Continue:} state=dropped reason=spec.selector job=x/y shard=0"},
	{"target", prometheusPath + "/targets/0a1b?job=serviceMonitor/demo/web/0", `target Prometheus demo/main serviceMonitor/demo/web/0 0a1b in ""`},
	{"target", prometheusPath + "/targets/0a1b?job=x&source=Pod/demo/web-0", `target Prometheus demo/main x 0a1b in "Pod/demo/web-0"`},
	{"pod", "/api/v1/namespaces/demo/pods/web-0/targets?shard=1", "targets demo/web-0 {Filter: Limit:100 Continue:} state= reason= job= shard=1"},
}

// TestEachPathCallsItsMethod: each path calls the expected method with its parameters.
func TestEachPathCallsItsMethod(t *testing.T) {
	k := newFake()
	srv := serve(t, New(Options{Mode: Open}), k)
	tried := sets.New("status", "preview", "openapi", "events") // in other tests
	for _, tc := range asking {
		resp, body := ask(t, srv, "GET", tc.path)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("ETag") == "" || !strings.Contains(k.last(), tc.asks) {
			t.Errorf("%s: %s\n%s\nasks %s\nwant %s", tc.path, resp.Status, body, k.last(), tc.asks)
		}
		tried.Insert(tc.route)
	}
	for _, r := range Routes() {
		if !tried.Has(r.Name) {
			t.Errorf("no request of the route %s", r.Name)
		}
	}
}

// TestParameters: the error for an invalid parameter names it and the valid values.
func TestParameters(t *testing.T) {
	k := newFake()
	srv := serve(t, New(Options{Mode: Open}), k)
	for path, has := range map[string]string{
		"/api/v1/overview?limit=0":                          `parameter "limit": want an integer from 1 to 1000, is "0"`,
		"/api/v1/overview?limit=1001":                       `parameter "limit": want an integer from 1 to 1000`,
		"/api/v1/overview?level=bad":                        `parameter "level"`,
		"/api/v1/overview?limit=many":                       `is "many"`,
		"/api/v1/overview?limit=1&limit=2":                  `parameter "limit": given more than once`,
		"/api/v1/overview?Limit=1":                          `parameter "Limit": not known here; known are continue, filter, kind, level, limit, namespace`,
		"/api/v1/overview?a=%zz":                            `the query of the URL is not valid`,
		"/api/v1/overview?a=1;b=2":                          `the query of the URL is not valid`,
		"/api/v1/overview?filter=" + long(5000):             `parameter "filter": want at most 4096 bytes`,
		prometheusPath + "/sources?state=good":              `parameter "state": want one of accepted, rejected, not selected, unknown, is "good"`,
		prometheusPath + "/sources?kind=Prometheus":         `want one of ServiceMonitor, PodMonitor, Probe, ScrapeConfig, PrometheusRule, AlertmanagerConfig, is`,
		prometheusPath + "/targets?state=lost":              `parameter "state": want one of kept, otherShard, dropped`,
		prometheusPath + "/targets?shard=-1":                `parameter "shard": want an integer from 0`,
		prometheusPath + "/targets/x":                       `parameter "job": required`,
		prometheusPath + "/targets/x?job=":                  `parameter "job": required`,
		prometheusPath + "/shards?limit=1":                  `parameter "limit": not known here; known are shards`,
		prometheusPath + "/shards?shards=0":                 `parameter "shards": want an integer from 1 to 1000, is "0"`,
		prometheusPath + "/overview?limit=1":                `parameter "limit": not known here; this path has none`,
		prometheusPath + "/shards?" + long(5000) + "=1":     `not known here`,
		alertmanagerPath + "/routes?label=severity":         `parameter "label": want NAME=VALUE, is "severity"`,
		alertmanagerPath + "/routes?label==x":               `parameter "label": want NAME=VALUE`,
		alertmanagerPath + "/routes?label=a=b&label=" + "c": `is "c"`,
		"/openapi/v3?pretty=1":                              `parameter "pretty"`,
	} {
		resp, body := ask(t, srv, "GET", path)
		if s := statusOf(t, body); resp.StatusCode != 400 || s.Code != 400 || !strings.Contains(s.Message, has) || len(body) > 1000 {
			t.Errorf("%.100s: %s\n%s\nwant %s", path, resp.Status, body, has)
		}
	}
	if k.last() != "" {
		t.Errorf("asked %s", k.last())
	}
}

// TestImpossibleNames: invalid object names cause no access review.
func TestImpossibleNames(t *testing.T) {
	server := newAPIServer(t)
	h := New(Options{Mode: Authenticated})
	connect(t, h, server)
	k := newFake()
	srv := serve(t, h, k)
	const namespaces = "/apis/monitoring.coreos.com/v1/namespaces/"
	for _, path := range []string{
		namespaces + "demo/prometheuses/Main/status", namespaces + "demo/prometheuses/a%2Fb/status", namespaces + "demo/prometheuses/..%2F..%2Fsecrets/status",
		namespaces + "de.mo/prometheuses/main/status", namespaces + "demo/prometheuses/a%00b/shards", namespaces + "demo/prometheuses/" + long(254) + "/shards",
		namespaces + "demo/prometheuses/%2e%2e/config", namespaces + "%2e%2e/prometheuses/main/config", "/api/v1/namespaces/demo/pods/Web/targets",
		namespaces + "demo/prometheuses/main/status/", namespaces + "demo/prometheuses", namespaces + "demo/secrets/main/status", "/api/v1/secrets", "/apis/", "/api/v2/overview",
	} {
		resp, body := ask(t, srv, "GET", path, "Authorization", "Bearer reader")
		if resp.StatusCode != 404 || len(body) > 2000 {
			t.Errorf("%.100s: %s %s", path, resp.Status, body)
		}
	}
	for _, path := range []string{namespaces + "demo/prometheuses/../secrets/main/config", "//api/v1/overview", namespaces + "demo/./prometheuses/main/config"} {
		if resp, body := ask(t, srv, "GET", path, "Authorization", "Bearer reader"); resp.StatusCode/100 != 3 || strings.Contains(body, "demo/main") {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	if n := server.tokens.Load() + server.rights.Load(); n != 0 || k.last() != "" {
		t.Errorf("%d reviews, asked %q", n, k.last())
	}
}

// TestErrorsOfAnswers: errors are like those of an API server, and faults do not reveal internals.
func TestErrorsOfAnswers(t *testing.T) {
	k := newFake()
	log := &logs{}
	srv := serve(t, New(Options{Mode: Open, Logger: log.logger()}), k)
	k.err = errGone
	if resp, body := ask(t, srv, "GET", serviceMonitorPath+"/explain"); resp.StatusCode != 404 || !strings.Contains(body, `servicemonitors.monitoring.coreos.com \"web\" not found`) {
		t.Errorf("%s %s", resp.Status, body)
	}
	k.err = fmt.Errorf("read targets: %w", context.DeadlineExceeded)
	if resp, body := ask(t, srv, "GET", serviceMonitorPath+"/explain"); resp.StatusCode != 504 || statusOf(t, body).Reason != metav1.StatusReasonTimeout {
		t.Errorf("%s %s", resp.Status, body)
	}
	k.err, k.panics = nil, true
	for range 2 {
		resp, body := ask(t, srv, "GET", serviceMonitorPath+"/explain")
		if s := statusOf(t, body); resp.StatusCode != 500 || s.Kind != "Status" || strings.Contains(body, "nil map") || strings.Contains(body, ".go") {
			t.Errorf("%s %s", resp.Status, body)
		}
	}
	if n := strings.Count(log.String(), "panic while answering"); n != 2 || !strings.Contains(log.String(), "nil map") {
		t.Errorf("the log has %d panics: %s", n, log)
	}
	k.panics = false
	if resp, body := ask(t, srv, "GET", serviceMonitorPath+"/explain"); resp.StatusCode != 200 {
		t.Errorf("after a panic: %s %s", resp.Status, body)
	}
}

// TestNotReadYet: until the cluster has been read, responses are unavailable, not empty.
func TestNotReadYet(t *testing.T) {
	srv := serve(t, New(Options{Mode: Open}), nil)
	for _, path := range []string{"/api/v1/overview", prometheusPath + "/sources", "/api/v1/events"} {
		if resp, body := ask(t, srv, "GET", path); resp.StatusCode != 503 || !strings.Contains(body, "has not read the cluster yet") || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
	if resp, _ := ask(t, srv, "GET", mainStatus); resp.StatusCode != 200 {
		t.Errorf("the status: %s", resp.Status)
	}
}
