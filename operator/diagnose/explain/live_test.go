package explain

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/readers/apiserver"
)

const (
	apis = "/apis/monitoring.coreos.com/"
	head = `"metadata": {"namespace": "demo", "name": `
)

// answers are the responses of the API server by path; other paths return 404. A response other
// than 200 is "CODE REASON".
var answers = map[string]string{
	"/api/v1/namespaces/demo":                            `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "demo"}}`,
	apis + "v1/namespaces/demo/servicemonitors/web":      `{"kind": "ServiceMonitor", "apiVersion": "monitoring.coreos.com/v1", ` + head + `"web"}, "spec": {"selector": {}, "endpoints": [{}]}}`,
	apis + "v1/namespaces/demo/prometheusrules/web":      `{"kind": "PrometheusRule", "apiVersion": "monitoring.coreos.com/v1", ` + head + `"web", "uid": "abc"}, "spec": {}}`,
	apis + "v1/namespaces/demo/prometheuses":             `{"kind": "PrometheusList", "apiVersion": "monitoring.coreos.com/v1", "items": [{` + head + `"k8s"}, "spec": {"serviceMonitorSelector": {}, "ruleSelector": {}}}]}`,
	"/api/v1/namespaces/demo/configmaps?prometheus-name": `{"kind": "ConfigMapList", "apiVersion": "v1", "items": [{` + head + `"other"}, "data": {"demo-b.yaml": ""}}, {` + head + `"rules-0"}, "data": {"demo-web-abc.yaml": ""}}]}`,
}

// slackSecret has a configuration with a global setting.
var slackSecret = `{"kind": "Secret", "apiVersion": "v1", ` + head + `"alertmanager-main"}, "data": {"alertmanager.yaml": "` +
	base64.StdEncoding.EncodeToString([]byte("global: {slack_api_url: \"https://slack.example.com/\"}\nroute: {receiver: none}\nreceivers: [{name: none}]\n")) + `"}}`

// globals returns the answers about an AlertmanagerConfig that needs a global setting, an Alertmanager and its
// Secret.
func globals(alertmanager, secret string) map[string]string {
	const of = `{"kind": "AlertmanagerConfig", "apiVersion": "monitoring.coreos.com/v1alpha1", ` + head
	return map[string]string{
		apis + "v1/namespaces/demo/prometheuses":                   "404 NotFound",
		apis + "v1/namespaces/demo/alertmanagers":                  `{"kind": "AlertmanagerList", "apiVersion": "monitoring.coreos.com/v1", "items": [` + alertmanager + `]}`,
		apis + "v1alpha1/namespaces/demo/alertmanagerconfigs/web":  of + `"web"}, "spec": {"route": {"receiver": "chat"}, "receivers": [{"name": "chat", "slackConfigs": [{"channel": "a"}]}]}}`,
		apis + "v1alpha1/namespaces/demo/alertmanagerconfigs/base": of + `"base"}, "spec": {"route": {"receiver": "none"}, "receivers": [{"name": "none"}]}}`,
		"/api/v1/namespaces/demo/secrets/alertmanager-main":        secret,
	}
}

// cluster returns a reader of a fake API server.
func cluster(t *testing.T, answers map[string]string) readers.Reader {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path
		if label, _, labeled := strings.Cut(r.URL.Query().Get("labelSelector"), "="); labeled {
			path += "?" + label
		}
		w.Header().Set("Content-Type", "application/json")
		code, text := http.StatusOK, answers[path]
		if text == "" {
			text = "404 NotFound"
		}
		if text[0] != '{' {
			var reason string
			fmt.Sscan(text, &code, &reason)
			text = fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "message": %q, "code": %d}`, reason, reason, code)
		}
		w.WriteHeader(code)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	cfg := &rest.Config{Host: server.URL}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	out := apiserver.Reader{Kube: kube, CRDs: map[schema.GroupVersion]*client.Client{}}
	for version, add := range catalog.Versions {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
		if out.CRDs[version], err = client.New(cfg, scheme, version); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Each kind of workload is listed, unless its CRD is not installed, or listing is forbidden and
// the kind cannot use the object.
func TestLive(t *testing.T) {
	const agents, forbidden = apis + "v1alpha1/namespaces/demo/prometheusagents", "403 Forbidden"
	for name, tc := range map[string]struct {
		kind    string
		answers map[string]string // override the default answers
		want    []string          // one per result
		err     string
	}{
		"a monitor":                {kind: "smon", want: []string{"Prometheus k8s Accepted"}},
		"a rule and its ConfigMap": {kind: "promrule", want: []string{"Prometheus k8s Accepted demo-web-abc.yaml in ConfigMap rules-0"}},
		"agents": {
			kind: "smon", answers: map[string]string{agents: `{"kind": "PrometheusAgentList", "apiVersion": "monitoring.coreos.com/v1alpha1", "items": [{` + head + `"edge"}, "spec": {}}]}`},
			want: []string{"Prometheus k8s Accepted", "PrometheusAgent edge SelectorNotSet"},
		},
		"agents that may not be listed": {kind: "smon", answers: map[string]string{agents: forbidden}, err: "list prometheusagents (--prometheus-instance-namespaces limits the namespaces): "},
		"and do not select rules":       {kind: "promrule", answers: map[string]string{agents: forbidden}, want: []string{"Prometheus k8s Accepted demo-web-abc.yaml in ConfigMap rules-0"}},
		"ConfigMaps that may not be listed": {
			kind: "promrule", answers: map[string]string{"/api/v1/namespaces/demo/configmaps?prometheus-name": forbidden},
			want: []string{"Prometheus k8s Accepted demo-web-abc.yaml"},
		},
		"a receiver that uses a global setting": {
			kind: "amcfg", answers: globals(`{`+head+`"main"}, "spec": {"alertmanagerConfigSelector": {}}}`, slackSecret), want: []string{"Alertmanager main Accepted"},
		},
		"a global setting that is missing": {
			kind: "amcfg", answers: globals(`{`+head+`"main"}, "spec": {"alertmanagerConfigSelector": {}}}`, "404 NotFound"), want: []string{"Alertmanager main Rejected"},
		},
		"global settings that may not be read": {
			kind: "amcfg", answers: globals(`{`+head+`"main"}, "spec": {"alertmanagerConfigSelector": {}}}`, forbidden), want: []string{"Alertmanager main NotKnown"},
		},
		"global settings beside an object used by name": {
			kind: "amcfg",
			answers: globals(`{`+head+`"main"}, "spec": {"alertmanagerConfigSelector": {}, "alertmanagerConfiguration": {"name": "base", "global": {"slackApiUrl": {"name": "alertmanager-main", "key": "url"}}}}}`,
				`{"kind": "Secret", "apiVersion": "v1", `+head+`"alertmanager-main"}, "data": {"url": "aHR0cHM6Ly9zbGFjay5leGFtcGxlLmNvbS8="}}`),
			want: []string{"Alertmanager main Accepted"},
		},
		"no such object": {kind: "pmon", err: "PodMonitor demo/web does not exist in the cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			all := maps.Clone(answers)
			maps.Copy(all, tc.answers)
			setups := setups(engine.Options{Instances: namespaces(t, "demo")})
			n, err := ParseName(Kinds(setups), tc.kind, "demo/web")
			if err != nil {
				t.Fatal(err)
			}
			q, err := fromCluster(t.Context(), cluster(t, all), setups, n)
			if tc.err != "" || err != nil {
				if err == nil || tc.err == "" || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("err = %v, want %q", err, tc.err)
				}
				return
			}
			var got []string
			for _, v := range Explain(q, informer.Namespaces{}).Workloads {
				parts := []string{v.Workload.Kind, v.Workload.Name, string(v.Reason), v.file()}
				got = append(got, strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
