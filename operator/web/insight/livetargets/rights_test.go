package livetargets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// few allows a limited number of permission checks and fails afterwards.
type few struct {
	only
	left int
}

func (f *few) May(ctx context.Context, verb string, of schema.GroupResource, namespace string) (bool, error) {
	if f.left--; f.left < 0 {
		return false, errors.New("too many reviews")
	}
	return f.only.May(ctx, verb, of, namespace)
}

// If a permission check fails, only the targets that depend on it are hidden.
func TestRightsUnknown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("pods").Add(pod("other", "web-1", "web", 2))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		most := 0
		for left := range 15 {
			got := b.request(t, &few{only{"list pods in demo", "list pods in other"}, left}, all(ofMain))
			if got.Counts.Total() != len(got.Items) || len(got.Items) < 2 && !strings.Contains(fmt.Sprint(got.Notes), "too many reviews") {
				t.Errorf("%d reviews: %v, notes %q", left, names(got.Items), got.Notes)
			}
			if left == 0 && len(got.Items) > 0 || len(got.Items) < most {
				t.Errorf("%d reviews: %v", left, names(got.Items))
			}
			most = len(got.Items)
		}
		if most != 2 {
			t.Errorf("%d targets", most)
		}
		target := b.request(t, everything{}, all(ofMain)).Items[0]
		if _, err := b.Target(t.Context(), &few{}, ofMain, target.Job, target.ID, ""); err == nil || !strings.Contains(err.Error(), "too many reviews") {
			t.Error(err)
		}
	})
}

// Callers who may see the pods of a job but not get its object see which field drops a target, but
// not the value of the field.
func TestRulesOfOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.api.Kind("pods").Add(pod("demo", "db-0", "db", 1))
		hush := strings.Replace(monitorText, "port: http,", "port: http, relabelings: [{sourceLabels: [__meta_kubernetes_pod_name], regex: hush-.*, action: keep}],", 1)
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.Replace(hush, "app: web", "app: db", 1)))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		rights := only{"list pods in demo"}
		for _, tc := range []struct {
			rights only
			shows  bool
		}{{rights, false}, {append(rights, "get podmonitors in demo"), true}} {
			target := b.request(t, tc.rights, all(ofMain)).Items[0]
			trace, err := b.Target(t.Context(), tc.rights, ofMain, target.Job, target.ID, "")
			if err != nil {
				t.Fatal(err)
			}
			for what, text := range map[string]string{
				"target": fmt.Sprintf("%+v %+v", target, target.Drop), "trace": fmt.Sprintf("%+v %+v %s", trace, trace.Target.Drop, trace.Manifest),
			} {
				if target.State != targets.Dropped || strings.Contains(text, "hush") != tc.shows || !strings.Contains(text, "spec.podMetricsEndpoints[0].relabelings[0]") || !strings.Contains(text, "10.0.") {
					t.Errorf("%s, shows %v: %s", what, tc.shows, text)
				}
			}
		}
		if got := b.request(t, only{}, all(ofWeb)).Items[0]; got.Drop == nil || got.Drop.Rule.Regex != "hush-.*" {
			t.Errorf("of the object itself: %+v", got)
		}
	})
}

// Notes about a workload are shown only to callers who may get it. Permission to get a pod or an
// object that it uses is not enough.
func TestNotesOfOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		invalid := strings.Replace(prometheusText, "{shards: 2,", "{shards: 2, paused: true, additionalScrapeConfigs: {name: hush, key: hush},", 1)
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t, invalid))
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.request(t, nil, all(ofMain))
		settled(aMinute)
		byPod := insight.TargetQuery{Pod: types.NamespacedName{Namespace: "demo", Name: "web-0"}, Shard: preview.AllShards}
		for _, q := range []insight.TargetQuery{all(ofWeb), byPod} {
			for _, rights := range []only{{}, {"get prometheuses in monitoring"}} {
				notes := fmt.Sprint(b.request(t, rights, q).Notes)
				if may := len(rights) > 0; strings.Contains(notes, "spec.paused") != may || !strings.Contains(notes, "Prometheus monitoring/main") {
					t.Errorf("%v: %s", rights, notes)
				}
			}
		}
	})
}

// An EndpointSlice that refers to pods in other namespaces does not reveal them to its author.
func TestPodsOfOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), read[v1.Prometheus](t,
			strings.Replace(prometheusText, "{shards: 2,", "{serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {},", 1)))
		b.cluster.set(catalog.ServiceMonitor.GroupVersionResource(), read[v1.ServiceMonitor](t,
			"{metadata: {namespace: demo, name: web}, spec: {selector: {}, namespaceSelector: {any: true}, endpoints: [{port: http}]}}"))
		hushed := pod("other", "hushed", "web", 2)
		hushed.Annotations = map[string]string{"token": "hush"}
		b.api.Kind("pods").Add(hushed)
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		b.api.Kind("services").Add(read[corev1.Service](t, "{metadata: {namespace: demo, name: web}, spec: {ports: [{name: http, port: 80}]}}"))
		for name, of := range map[string]string{"web-1": "namespace: other, name: hushed", "web-2": "namespace: demo, name: web-0"} {
			b.api.Kind("endpointslices").Add(read[discoveryv1.EndpointSlice](t, "{metadata: {namespace: demo, name: "+name+", labels: {kubernetes.io/service-name: web}}, "+
				"addressType: IPv4, ports: [{name: http, port: 80}], endpoints: [{addresses: [10.0.0.2], targetRef: {kind: Pod, "+of+"}}]}"))
		}
		ofMonitor := insight.Object{Row: catalog.ServiceMonitor, NamespacedName: types.NamespacedName{Namespace: "demo", Name: "web"}}
		b.request(t, nil, all(ofMonitor))
		settled(aMinute)
		for _, tc := range []struct {
			rights only
			shows  bool
		}{{only{"list pods in demo", "list pods in other"}, false}, {only{"list pods in "}, true}} {
			got := b.request(t, tc.rights, all(ofMonitor))
			if want := map[bool]int{false: 1, true: 2}[tc.shows]; len(got.Items) != want || got.Counts.Total() != want {
				t.Fatalf("%v, notes %q", names(got.Items), got.Notes)
			}
			for _, target := range got.Items {
				own := target.Source.Name == "web-2"
				if text := fmt.Sprintf("%+v", target); strings.Contains(text, "hush") != (tc.shows && !own) || (target.Discovered != nil) != (tc.shows || own) {
					t.Errorf("%v: %s", tc.rights, text)
				}
			}
		}
	})
}
