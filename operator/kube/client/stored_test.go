package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// misfit is a value of a field that is valid in the schema of a kind but does not fit its type.
type misfit struct{ field, spec string }

// misfits finds the misfits in the schema of a kind, one per field.
func misfits(t testing.TB, row *catalog.Row) (out []misfit) {
	t.Helper()
	found := map[string]misfit{}
	leaves(specOf(t, row), "spec", func(s string) string { return s }, func(field, spec string) {
		if json.Unmarshal([]byte(`{"spec":`+spec+`}`), row.New()) != nil {
			found[field] = misfit{field, spec}
		}
	})
	for _, field := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[field])
	}
	return out
}

var definitions = sync.OnceValues(func() ([]*apiextensionsv1.CustomResourceDefinition, error) { return crds.Full("1.0.0") })

func specOf(t testing.TB, row *catalog.Row) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	all, err := definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range all {
		for _, v := range crd.Spec.Versions {
			if crd.Spec.Names.Kind == row.Kind && v.Name == row.Version {
				return v.Schema.OpenAPIV3Schema.Properties["spec"]
			}
		}
	}
	t.Fatalf("no schema of %s %s", row.Kind, row.Version)
	return apiextensionsv1.JSONSchemaProps{}
}

// leaves calls try for each field below a schema with a spec that only has a value of this field.
// around embeds a value at the position of the schema.
func leaves(s apiextensionsv1.JSONSchemaProps, path string, around func(string) string, try func(field, spec string)) {
	for _, value := range values(s) {
		try(path, around(value))
	}
	for name, p := range s.Properties {
		leaves(p, path+"."+name, func(v string) string { return around(fmt.Sprintf(`{%q:%s}`, name, v)) }, try)
	}
	if s.Items != nil && s.Items.Schema != nil {
		leaves(*s.Items.Schema, path+"[0]", func(v string) string { return around("[" + v + "]") }, try)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		leaves(*s.AdditionalProperties.Schema, path+".k", func(v string) string { return around(`{"k":` + v + `}`) }, try)
	}
}

// values returns extreme values that a schema allows.
func values(s apiextensionsv1.JSONSchemaProps) (out []string) {
	switch {
	case s.XIntOrString && s.Pattern != "":
		return []string{`"1e1.5"`, `"1e99999"`, `"1e"`}
	case s.XIntOrString:
		return []string{`3000000000`, `-3000000000`}
	case s.Type == "integer":
		for _, n := range []float64{3000000000, -3000000000, -1, 9007199254740991} {
			if (s.Maximum == nil || n <= *s.Maximum) && (s.Minimum == nil || n >= *s.Minimum) {
				out = append(out, fmt.Sprintf("%.0f", n))
			}
		}
	case s.Type == "string" && s.Format == "date-time":
		return []string{`"2020-01-01T00:00:00+24:00"`}
	case s.Type == "string" && len(s.Enum) == 0 && s.Pattern == "":
		return []string{`"some text"`}
	case s.Type == "" && s.XPreserveUnknownFields != nil:
		return []string{`5`, `"x"`, `[]`, `true`, `{"a":1}`}
	}
	return out
}

func (m misfit) object(row *catalog.Row, name string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"labels":{"team":"a"},"name":%q,"namespace":"bad","resourceVersion":"5","uid":"u"},"spec":%s}`,
		row.GroupVersion().String(), row.Kind, name, m.spec)
}

// The tests below need the misfits that misfits finds.
func TestMisfitsAreFound(t *testing.T) {
	for row, want := range map[*catalog.Row]string{
		catalog.ServiceMonitor:     "spec.endpoints[0].targetPort",
		catalog.PodMonitor:         "spec.podMetricsEndpoints[0].targetPort",
		catalog.Probe:              "spec.nativeHistogramMinBucketFactor",
		catalog.ScrapeConfig:       "spec.nativeHistogramMinBucketFactor",
		catalog.PrometheusRule:     "spec.groups[0].rules[0].expr",
		catalog.AlertmanagerConfig: "spec.receivers[0].webhookConfigs[0].maxAlerts",
		catalog.Prometheus:         "spec.replicas", catalog.PrometheusAgent: "spec.replicas",
		catalog.Alertmanager: "spec.replicas", catalog.ThanosRuler: "spec.replicas",
	} {
		if !slices.ContainsFunc(misfits(t, row), func(m misfit) bool { return m.field == want }) {
			t.Errorf("%s: %s is not found", row, want)
		}
	}
}

// stored serves objects of one kind by list, watch and get.
type stored struct {
	row     *catalog.Row
	objects map[string]string // by name
	streams bool              // whether a watch begins with all objects if the client requests it
	later   chan string       // watch events
}

// ServeHTTP implements http.Handler. The keys of a list are in the order of API servers.
func (s *stored) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q, parts := r.URL.Query(), strings.Split(r.URL.Path, "/")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		all = append(all, s.objects[name])
	}
	switch last := parts[len(parts)-1]; {
	case last != s.row.Resource:
		fmt.Fprint(w, s.objects[last])
	case q.Get("watch") == "":
		fmt.Fprintf(w, `{"apiVersion":%q,"items":[%s],"kind":%q,"metadata":{"resourceVersion":"9"}}`,
			s.row.GroupVersion().String(), strings.Join(all, ","), s.row.Kind+"List")
	case q.Get("sendInitialEvents") != "" && !s.streams:
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422}`)
	default:
		if q.Get("sendInitialEvents") != "" {
			for _, object := range all {
				fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", object)
			}
			fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n",
				s.row.GroupVersion().String(), s.row.Kind)
		}
		w.(http.Flusher).Flush()
		for {
			select {
			case event := <-s.later:
				fmt.Fprintln(w, event)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
}

func (s *stored) client(t *testing.T) *Client {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	scheme := runtime.NewScheme()
	if err := catalog.Versions[s.row.GroupVersion()](scheme); err != nil {
		t.Fatal(err)
	}
	c, err := New(&rest.Config{Host: server.URL, QPS: -1}, scheme, s.row.GroupVersion())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// isMisfit checks that an object has its metadata and a fault for the field that does not fit.
func (m misfit) isMisfit(o catalog.Object) error {
	err := v1.Undecodable(o)
	if err == nil || !strings.HasPrefix(err.Error(), m.field+": want ") && err.Error() != m.field+": invalid value" || strings.Contains(err.Error(), "v1.") {
		return fmt.Errorf("%s: the fault is %v", m.field, err)
	}
	if o.GetNamespace() != "bad" || o.GetUID() != "u" || o.GetResourceVersion() == "" || o.GetLabels()["team"] != "a" {
		return fmt.Errorf("%s: metadata is %s/%s %s %v", m.field, o.GetNamespace(), o.GetName(), o.GetUID(), o.GetLabels())
	}
	return nil
}

// Objects that do not fit do not affect the list, watch and get of a valid one, and each of them
// is returned with the faulty field.
func TestStoredButNotDecodable(t *testing.T) {
	good := misfit{spec: "{}"}
	for _, row := range catalog.All {
		for _, streams := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %s, streams %t", row.Kind, row.Version, streams), func(t *testing.T) {
				all := misfits(t, row)
				server := &stored{row: row, objects: map[string]string{"a": good.object(row, "a"), "z": good.object(row, "z")}, streams: streams, later: make(chan string)}
				want := map[string]misfit{}
				for i, m := range all {
					name := fmt.Sprintf("b%d", i)
					server.objects[name], want[name] = m.object(row, name), m
				}
				api := server.client(t)
				changes := make(chan informer.Event[catalog.Object], 2*len(server.objects))
				store := informer.NewStore(api.REST(), row.Resource, row.New(), informer.Watch{Namespaces: everywhere(t), Bounds: &informer.Bounds{
					Capacity: capacity.New(1 << 30), Kind: row.Kind,
					Page: func(ctx context.Context, namespace string, o metav1.ListOptions, most int64) (runtime.Object, int64, error) {
						return api.Page(ctx, row.Resource, namespace, o, most)
					},
					Read: func(ctx context.Context, name types.NamespacedName) (runtime.Object, error) {
						return api.Read(ctx, row.Resource, name)
					},
				}}, nil)
				if err := store.OnChange(func(e informer.Event[catalog.Object]) { changes <- e }); err != nil {
					t.Fatal(err)
				}
				store.Run(t.Context())
				if err := store.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				checkStore(t, store, want, len(server.objects))
				server.readsByName(t, api, want)
				for range server.objects {
					<-changes
				}
				version := 10
				changed := func(object string) catalog.Object {
					version++
					server.later <- `{"type":"MODIFIED","object":` + strings.Replace(object, `"resourceVersion":"5"`, fmt.Sprintf(`"resourceVersion":"%d"`, version), 1) + `}`
					return (<-changes).After
				}
				for _, m := range all {
					if err := m.isMisfit(changed(m.object(row, "b0"))); err != nil {
						t.Error(err)
					}
				}
				if o := changed(good.object(row, "a")); o.GetName() != "a" || v1.Undecodable(o) != nil {
					t.Errorf("the change of the good object is %v", o)
				}
			})
		}
	}
}

func everywhere(t *testing.T) informer.Namespaces {
	t.Helper()
	all, err := informer.NewNamespaces(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func checkStore(t *testing.T, store *informer.Store[catalog.Object], want map[string]misfit, n int) {
	t.Helper()
	found := 0
	for o := range store.All() {
		found++
		if m, bad := want[o.GetName()]; bad {
			if err := m.isMisfit(o); err != nil {
				t.Error(err)
			}
		} else if err := v1.Undecodable(o); err != nil {
			t.Errorf("%s: %v", o.GetName(), err)
		}
	}
	if found != n {
		t.Errorf("%d of %d objects", found, n)
	}
}

// readsByName reads each object in both ways, and the list like callers without an informer.
func (s *stored) readsByName(t *testing.T, api *Client, want map[string]misfit) {
	t.Helper()
	for name, m := range want {
		into := s.row.New()
		if err := api.REST().Get().Namespace("bad").Resource(s.row.Resource).Name(name).Do(t.Context()).Into(into); err != nil {
			t.Fatal(err)
		}
		got, err := api.REST().Get().Namespace("bad").Resource(s.row.Resource).Name(name).Do(t.Context()).Get()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []catalog.Object{into, got.(catalog.Object)} {
			if err := m.isMisfit(o); err != nil {
				t.Error(err)
			}
		}
	}
	list, err := api.REST().Get().Resource(s.row.Resource).Do(t.Context()).Get()
	if err != nil {
		t.Fatal(err)
	}
	if version := list.(metav1.ListInterface).GetResourceVersion(); version != "9" {
		t.Errorf("the version of the list is %q", version)
	}
}
