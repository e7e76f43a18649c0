package insight_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// Requests that compile many objects in parallel succeed and contain no credentials. Run it with
// the race detector.
func TestManyObjectsWithCredentials(t *testing.T) {
	const many = 200
	text := strings.Builder{}
	text.WriteString(selectsAll + `---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: demo, uid: c, resourceVersion: "1", generation: 1}
spec: {alertmanagerConfigSelector: {}, alertmanagerConfigNamespaceSelector: {}}
`)
	for i := range many {
		fmt.Fprintf(&text, `---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: m%d, namespace: demo, uid: m%[1]d, resourceVersion: "1", generation: 1}
spec:
  selector: {matchLabels: {app: web}}
  endpoints: [{port: http, basicAuth: {username: {name: login%[1]d, key: user}, password: {name: login%[1]d, key: pass}}}]
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: AlertmanagerConfig
metadata: {name: c%[1]d, namespace: demo, uid: c%[1]d, resourceVersion: "1", generation: 1}
spec:
  route: {receiver: page}
  receivers: [{name: page, pagerdutyConfigs: [{routingKey: {name: login%[1]d, key: pass}}]}]
`, i)
	}
	s := loaded(t, []byte(text.String()))
	for i := range many {
		s.references.(*assets.Static).AddSecret(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint("login", i)},
			Data:       map[string][]byte{"user": fmt.Appendf(nil, "cnry-user-%d", i), "pass": fmt.Appendf(nil, "cnry-pass-%d", i)},
		})
	}
	alertmanager := insight.Object{Row: catalog.Alertmanager, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "main"}}
	for _, c := range []struct {
		name string
		ask  func(a insight.Answers) (answer any, rows int, err error)
		want int
	}{
		{"overview", func(a insight.Answers) (any, int, error) {
			out, err := a.Overview(t.Context(), everything, insight.OverviewQuery{Page: page})
			if err != nil {
				return nil, 0, err
			}
			return out, out.Workloads[0].Accepted + out.Workloads[1].Accepted, nil
		}, 2 * many},
		{"config of a Prometheus", func(a insight.Answers) (any, int, error) {
			out, err := a.Config(t.Context(), everything, main, insight.ConfigQuery{Page: insight.Page{Limit: 1000, Filter: "m"}})
			if err != nil {
				return nil, 0, err
			}
			return out, strings.Count(fmt.Sprint(out), "basic_auth:"), nil
		}, many},
		{"config of an Alertmanager", func(a insight.Answers) (any, int, error) {
			out, err := a.Config(t.Context(), everything, alertmanager, insight.ConfigQuery{Page: page})
			if err != nil {
				return nil, 0, err
			}
			return out, strings.Count(fmt.Sprint(out), "routing_key: <hidden>"), nil
		}, many},
		{"routes", func(a insight.Answers) (any, int, error) {
			out, err := a.Routes(t.Context(), everything, alertmanager.NamespacedName, nil)
			if err != nil {
				return nil, 0, err
			}
			return out, len(out.Route.Routes), nil
		}, many},
		{"preview", func(a insight.Answers) (any, int, error) {
			out, err := a.Preview(t.Context(), everything, []byte(selectsAll))
			if err != nil {
				return nil, 0, err
			}
			return out, len(out.Workloads[0].Objects), nil
		}, many},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, rows, err := c.ask(answers(t, s, nil))
			if err != nil {
				t.Fatal(err)
			}
			out, err := encode(answer)
			if err != nil {
				t.Fatal(err)
			}
			if rows != c.want || strings.Contains(string(out), "cnry") {
				t.Errorf("%d of %d objects:\n%.2000s", rows, c.want, out)
			}
		})
	}
}
