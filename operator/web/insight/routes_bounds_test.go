package insight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

const selectsConfigs = `
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: demo, uid: a, resourceVersion: "1", generation: 1}
spec: {alertmanagerConfigSelector: {}}
`

// AlertmanagerConfigs, of which each is accepted, make a response neither large nor slow: routes inherit receivers with
// hundreds of integrations and long labels, and matchers compile to much or take long for each character of a label.
func TestExpensiveRoutes(t *testing.T) {
	long := []string{"namespace=demo", "a=" + strings.Repeat("b", 4000)}
	url := "http://example"
	for name, tc := range map[string]struct {
		objects int
		spec    v1alpha1.AlertmanagerConfigSpec
		labels  []string
		want    string // part of the error
	}{
		"integrations": {1, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r", WebhookConfigs: slices.Repeat([]v1alpha1.WebhookConfig{{URL: &url}}, 490)}},
			Route:     &v1alpha1.Route{Receiver: "r", Routes: slices.Repeat([]apiextensionsv1.JSON{{Raw: []byte(`{"receiver":"r"}`)}}, 1000)},
		}, nil, "the routes are too long with all that they inherit"},
		"labels": {1, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r"}},
			Route: &v1alpha1.Route{
				Receiver: "r", GroupBy: []string{strings.Repeat("x", 100_000)},
				Routes: slices.Repeat([]apiextensionsv1.JSON{{Raw: []byte(`{"receiver":"r"}`)}}, 1000),
			},
		}, nil, "the routes are too long with all that they inherit"},
		"large expressions": {6, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r"}},
			Route:     &v1alpha1.Route{Receiver: "r", Matchers: slices.Repeat([]v1alpha1.Matcher{{Name: "a", Value: `\pL{300}`, MatchType: "=~"}}, 1)},
		}, nil, "compile to too much"},
		"slow expressions": {14, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r"}},
			Route:     &v1alpha1.Route{Receiver: "r", Matchers: slices.Repeat([]v1alpha1.Matcher{{Name: "a", Value: `(.?){800}`, MatchType: "!~"}}, 3)},
		}, long, "take too long for labels with such long values"},
		"short values": {14, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r"}},
			Route:     &v1alpha1.Route{Receiver: "r", Matchers: slices.Repeat([]v1alpha1.Matcher{{Name: "a", Value: `(.?){800}`, MatchType: "!~"}}, 3)},
		}, []string{"namespace=demo", "a=b"}, ""},
		"a usual one": {1, v1alpha1.AlertmanagerConfigSpec{
			Receivers: []v1alpha1.Receiver{{Name: "r", WebhookConfigs: []v1alpha1.WebhookConfig{{URL: &url}}}},
			Route: &v1alpha1.Route{
				Receiver: "r", GroupBy: []string{"job"}, Matchers: []v1alpha1.Matcher{{Name: "a", Value: `b+`, MatchType: "=~"}},
				Routes: slices.Repeat([]apiextensionsv1.JSON{{Raw: []byte(`{"receiver":"r","matchers":[{"name":"a","value":"c|d","matchType":"=~"}]}`)}}, 4000),
			},
		}, []string{"namespace=demo", "a=" + strings.Repeat("b", 100)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := loaded(t, []byte(selectsConfigs))
			for i := range tc.objects {
				c := &v1alpha1.AlertmanagerConfig{Spec: tc.spec}
				c.ObjectMeta = metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint("c", i), UID: types.UID(fmt.Sprint(i)), ResourceVersion: "1", Generation: 1}
				s.put(catalog.AlertmanagerConfig.GroupVersionResource(), c)
			}
			out, err := answers(t, s, nil).Routes(t.Context(), everything, types.NamespacedName{Namespace: "demo", Name: "main"}, tc.labels)
			if tc.want != "" {
				if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("err = %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil || len(out.Route.Routes) != tc.objects || len(out.Notes) > 0 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}
