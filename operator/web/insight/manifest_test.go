package insight_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// A message leads to the line of its field, or of the nearest parent that exists.
func TestLineOf(t *testing.T) {
	const manifest = `kind: ServiceMonitor
metadata:
  name: web
spec:
  endpoints:
  - port: http
    interval: 10 s
  - basicAuth:
      username:
        name: login
        key: user
  groups: text
`
	for message, want := range map[string]int{
		`spec.endpoints[0].interval: "10 s" is not a duration`:           7,
		`endpoints[1]: basicAuth: username: name of the Secret is empty`: 9,
		`endpoints[1]: basicAuth: password: Secret "a/b" does not exist`: 8,
		`spec.endpoints[7].port: no`:                                     5,
		`spec.groups[0].rules: no`:                                       12,
		`spec.selector: it is missing`:                                   4,
		`metadata.name: too long`:                                        3,
		`it has no scrape class "x"`:                                     0,
		``:                                                               0,
		`spec.endpoints[99999999999999999999].port: no`:                  5,
		strings.Repeat("spec.", 100_000):                                 4,
	} {
		if got := insight.LineOf(manifest, message); got != want {
			t.Errorf("%.60s: line %d, want %d", message, got, want)
		}
	}
	for _, text := range []string{"", "a: [", "- a", "null"} {
		if got := insight.LineOf(text, "spec.a: b"); got != 0 {
			t.Errorf("%q: line %d", text, got)
		}
	}
}

// A manifest is shown without the credentials that its author wrote into it, but with the names of Secrets and their
// keys, which may be the cause of a fault.
func TestManifest(t *testing.T) {
	s := loaded(t, []byte(selectsAll+`
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: demo, uid: w, resourceVersion: "1"}
spec:
  selector: {matchLabels: {app: web}}
  endpoints:
  - port: http
    params: {api_key: [canary1], module: [http_2xx]}
    proxyUrl: http://me:canary2@proxy.example/
    basicAuth: {username: {name: login, key: user}, password: {name: login, key: pin}}
    relabelings:
    - {targetLabel: __param_token, replacement: canary3}
    - {sourceLabels: [__param_token], regex: canary4, action: keep}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: team, namespace: demo, uid: t, resourceVersion: "1"}
spec:
  route: {receiver: a}
  receivers:
  - name: a
    webhookConfigs: [{url: "https://chat.example/hooks/canary5"}]
`))
	a := answers(t, s, nil)
	for row, name := range map[*catalog.Row]string{catalog.ServiceMonitor: "web", catalog.AlertmanagerConfig: "team"} {
		o := insight.Object{Row: row, NamespacedName: types.NamespacedName{Namespace: "demo", Name: name}}
		masked, err := a.Manifest(t.Context(), o, true)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(masked, "canary") || !strings.Contains(masked, "<hidden>") || strings.Contains(masked, "uid") {
			t.Errorf("%s:\n%s", row, masked)
		}
		if row == catalog.ServiceMonitor {
			for _, has := range []string{"http_2xx", "key: user", "key: pin", "name: login", "app: web", "proxy.example"} {
				if !strings.Contains(masked, has) {
					t.Errorf("hides %s:\n%s", has, masked)
				}
			}
		}
		if raw, err := a.Manifest(t.Context(), o, false); err != nil || !strings.Contains(raw, "canary") {
			t.Errorf("%s, as written: %v\n%s", row, err, raw)
		}
	}
	long := strings.Repeat("x", 200_000)
	s.monitor("demo", "long", long)
	if _, err := a.Manifest(t.Context(), insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "long"}}, true); err == nil {
		t.Error("a manifest of 200 kB is shown")
	}
}

// A manifest that is too long to be shown costs no more than its JSON.
func TestLongManifest(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "long", ResourceVersion: "1"}}
	for range 2_000 {
		m.Spec.Endpoints = append(m.Spec.Endpoints, v1.Endpoint{Port: "web", Path: strings.Repeat("<", 300)})
	}
	s.objects[catalog.ServiceMonitor.GroupVersionResource()] = []readers.Object{m}
	a := answers(t, s, nil)
	o := insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "long"}}
	allocations := testing.AllocsPerRun(1, func() {
		if _, err := a.Manifest(t.Context(), o, true); !apierrors.IsRequestEntityTooLargeError(err) {
			t.Errorf("the manifest: %v", err)
		}
	})
	if allocations > 10_000 { // as YAML it has some 100,000
		t.Errorf("%.0f allocations", allocations)
	}
	m.Spec.Endpoints = m.Spec.Endpoints[:300] // 90 kB, or six times as much with the escapes of HTML
	if text, err := a.Manifest(t.Context(), o, true); err != nil || !strings.Contains(text, "<<<") {
		t.Errorf("a manifest with few endpoints: %v", err)
	}
}
