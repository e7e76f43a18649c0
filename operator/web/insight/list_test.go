package insight_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// monitor adds a ServiceMonitor, which is rejected if its scrape class does not exist.
func (s *store) monitor(namespace, name, class string) {
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name + class), ResourceVersion: "1", Generation: 1}}
	m.Spec.ScrapeClass = class
	m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
	s.put(catalog.ServiceMonitor.GroupVersionResource(), m)
	n := &corev1.Namespace{}
	n.Name, n.Labels = namespace, map[string]string{corev1.LabelMetadataName: namespace}
	s.put(readers.Namespaces, n)
}

// demoOnly may list and get everything in namespace demo.
var demoOnly = allowed{"* * demo"}

func asJSON(t *testing.T, v any, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A list has the state of each object, and can be searched and filtered.
func TestObjects(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	s.monitor("demo", "good", "")
	s.monitor("demo", "bad", "none")
	s.monitor("shop", "bad", "none")
	s.monitor("shop", "odd", "other")
	a := answers(t, s, nil)
	for name, tc := range map[string]struct {
		rights  allowed
		q       insight.ObjectQuery
		want    string // rows
		counted int
		unread  bool
	}{
		"all":             {everything, insight.ObjectQuery{}, "demo/bad rejected, demo/good accepted, shop/bad rejected, shop/odd rejected", 4, false},
		"rejected":        {everything, insight.ObjectQuery{State: status.Rejected}, "demo/bad rejected, shop/bad rejected, shop/odd rejected", 4, false},
		"a namespace":     {everything, insight.ObjectQuery{Namespace: "shop"}, "shop/bad rejected, shop/odd rejected", 2, false},
		"a name":          {everything, insight.ObjectQuery{Page: insight.Page{Filter: "BAD"}}, "demo/bad rejected, shop/bad rejected", 2, false},
		"of a tenant":     {demoOnly, insight.ObjectQuery{}, "demo/bad rejected, demo/good accepted", 2, true},
		"own namespace":   {demoOnly, insight.ObjectQuery{Namespace: "demo"}, "demo/bad rejected, demo/good accepted", 2, false},
		"of others":       {demoOnly, insight.ObjectQuery{Namespace: "shop"}, "", 0, true},
		"without details": {allowed{"list servicemonitors"}, insight.ObjectQuery{Namespace: "shop", State: status.Rejected}, "shop/bad rejected, shop/odd rejected", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			tc.q.Row, tc.q.Limit = catalog.ServiceMonitor, 10
			out, err := a.Objects(t.Context(), tc.rights, tc.q)
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			counted := 0
			for _, o := range out.Items {
				rows = append(rows, o.Namespace+"/"+o.Name+" "+string(o.State))
				if hidden := name == "without details"; strings.Contains(o.Message, "scrape class") == hidden && o.State == status.Rejected {
					t.Errorf("message of %s: %q", o.Ref, o.Message)
				}
			}
			for _, n := range out.Counts {
				counted += n
			}
			if got := strings.Join(rows, ", "); got != tc.want || counted != tc.counted || (len(out.Unread) > 0) != tc.unread {
				t.Errorf("%s; %d counted; %v", got, counted, out.Unread)
			}
		})
	}
	if _, err := a.Objects(t.Context(), everything, insight.ObjectQuery{Row: catalog.Prometheus, Page: page}); err == nil {
		t.Error("no workload selects a Prometheus, but there is a list")
	}
}

// bounded permits a number of access reviews.
type bounded struct {
	allowed
	left *int
}

// May implements [access.Rights].
func (b bounded) May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	if *b.left == 0 {
		return false, apierrors.NewServiceUnavailable("ask about one namespace")
	}
	*b.left--
	return b.allowed.May(ctx, verb, of, namespace)
}

// If there are too many namespaces to review, the first ones are listed, always the same ones, and the others are
// unknown.
func TestObjectsOfManyNamespaces(t *testing.T) {
	s, rights := loaded(t, []byte(selectsAll)), allowed{}
	for i := range 20 {
		s.monitor(fmt.Sprintf("ns-%02d", (i*7)%20), "web", "")
		rights = append(rights, fmt.Sprintf("list servicemonitors ns-%02d", i))
	}
	a := answers(t, s, nil)
	left := 11
	out, err := a.Objects(t.Context(), bounded{rights, &left}, insight.ObjectQuery{Row: catalog.ServiceMonitor, Page: page})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) != 10 || out.Items[9].Namespace != "ns-09" || !strings.Contains(strings.Join(out.Unread, "; "), "whether you may list servicemonitors.monitoring.coreos.com is not known: ask about one namespace") {
		t.Errorf("%d of %d, %v", len(out.Items), out.Total, out.Unread)
	}
	left = 2
	if out, err = a.Objects(t.Context(), bounded{rights, &left}, insight.ObjectQuery{Row: catalog.ServiceMonitor, Namespace: "ns-19", Page: page}); err != nil || len(out.Items) != 1 || len(out.Unread) > 0 {
		t.Errorf("of one namespace: %+v, %v", out, err)
	}
}

// Only namespaces where the caller may list are suggested, and not each of them needs a review.
func TestSuggestedNamespaces(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	for _, n := range []string{"shop", "demo", "other"} {
		s.monitor(n, "web", "")
	}
	a := answers(t, s, nil)
	for name, tc := range map[string]struct {
		rights    allowed
		namespace string
		want      string
	}{
		"everywhere":           {everything, "", "[demo other shop]"},
		"everywhere, filtered": {everything, "shop", "[demo other shop]"},
		"of a tenant":          {demoOnly, "", "[demo]"},
		"of others":            {demoOnly, "shop", "[]"},
	} {
		out, err := a.Objects(t.Context(), tc.rights, insight.ObjectQuery{Row: catalog.ServiceMonitor, Namespace: tc.namespace, Page: page})
		if err != nil || fmt.Sprint(out.Namespaces) != tc.want {
			t.Errorf("%s: %v, %v", name, out.Namespaces, err)
		}
	}
	for name, tc := range map[string]struct {
		rights allowed
		want   string
	}{"everywhere": {everything, "shop"}, "of a tenant": {demoOnly, "demo"}} {
		out, err := a.Overview(t.Context(), tc.rights, insight.OverviewQuery{Page: page})
		if all := fmt.Sprint(out.Namespaces); err != nil || !strings.Contains(all, tc.want) || tc.want == "demo" && strings.Contains(all, "shop") {
			t.Errorf("overview, %s: %s, %v", name, all, err)
		}
	}
}

// Objects that a caller may not list change neither rows, counts, pages nor suggestions.
func TestObjectsOfOthers(t *testing.T) {
	ask := func(hidden bool) (out string) {
		s := loaded(t, []byte(selectsAll))
		s.monitor("demo", "b", "")
		s.monitor("demo", "d", "none")
		if hidden {
			for _, name := range []string{"a", "b", "c", "wep"} {
				s.monitor("other", name, "none")
				s.monitor("shop", name, "")
			}
		}
		a := answers(t, s, nil)
		for _, q := range []insight.ObjectQuery{{}, {State: status.Rejected}, {Namespace: "other"}, {Page: insight.Page{Filter: "other"}}} {
			q.Row, q.Limit = catalog.ServiceMonitor, 1
			list, err := a.Objects(t.Context(), demoOnly, q)
			out += asJSON(t, list, err) + "\n"
		}
		for _, key := range []types.NamespacedName{{Namespace: "demo", Name: "a"}, {Namespace: "other", Name: "a"}, {Namespace: "other", Name: "weq"}, {Namespace: "demo", Name: "web"}} {
			names, err := a.Similar(t.Context(), demoOnly, insight.Object{Row: catalog.ServiceMonitor, NamespacedName: key})
			out += asJSON(t, names, err) + "\n"
		}
		return out
	}
	if without, with := ask(false), ask(true); without != with {
		t.Errorf("without objects of others:\n%s\nwith them:\n%s", without, with)
	}
}

// A misspelled name has suggestions: of the same namespace, of other kinds, and of other namespaces.
func TestSimilar(t *testing.T) {
	s := loaded(t, []byte(selectsAll))
	s.monitor("demo", "frontend", "")
	s.monitor("shop", "backend", "")
	a := answers(t, s, nil)
	for _, tc := range []struct {
		rights          allowed
		row             *catalog.Row
		namespace, name string
		want            string
	}{
		{everything, catalog.ServiceMonitor, "demo", "frontnd", `[{"kind":"ServiceMonitor","namespace":"demo","name":"frontend"}]`},
		{everything, catalog.ServiceMonitor, "demo", "backend", `[{"kind":"ServiceMonitor","namespace":"shop","name":"backend"}]`},
		{everything, catalog.PodMonitor, "demo", "frontend", `[{"kind":"ServiceMonitor","namespace":"demo","name":"frontend"}]`},
		{everything, catalog.Prometheus, "demo", "mian", `[{"kind":"Prometheus","namespace":"demo","name":"main"}]`},
		{everything, catalog.ServiceMonitor, "demo", strings.Repeat("x", 1<<20), `null`},
		{demoOnly, catalog.ServiceMonitor, "demo", "backend", `null`},
		{allowed{}, catalog.ServiceMonitor, "demo", "frontnd", `null`},
	} {
		got, err := a.Similar(t.Context(), tc.rights, insight.Object{Row: tc.row, NamespacedName: types.NamespacedName{Namespace: tc.namespace, Name: tc.name}})
		if text := asJSON(t, got, err); text != tc.want {
			t.Errorf("%s %s/%.20s: %s", tc.row, tc.namespace, tc.name, text)
		}
	}
}
