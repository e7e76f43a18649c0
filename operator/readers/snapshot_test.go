package readers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// cluster has one object of each kind in each of two namespaces, and records lists.
type cluster struct {
	readers.Reader
	refuses []string // of lists, as in asked
	asked   []string // "RESOURCE NAMESPACE"
}

func (c *cluster) List(_ context.Context, q readers.Query) (out []readers.Object, err error) {
	asked := strings.TrimSpace(q.Resource + " " + q.Namespace)
	c.asked = append(c.asked, asked)
	for _, r := range c.refuses {
		if r == asked {
			return nil, apierrors.NewForbidden(q.GroupResource(), "", errors.New("not allowed"))
		}
	}
	for _, name := range []string{"a", "b"} {
		switch {
		case q.GroupVersionResource == readers.Namespaces:
			out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
		case q.Namespace == "" || q.Namespace == name:
			out = append(out, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "x"}})
		}
	}
	return out, nil
}

// A snapshot has what may be read, notes about the rest, and reads nothing twice.
func TestRead(t *testing.T) {
	kinds := []readers.Kind{{Row: catalog.Prometheus}, {Row: catalog.Probe}, {Row: catalog.Prometheus}}
	for name, tc := range map[string]struct {
		refuses  []string
		complete bool
		objects  map[*catalog.Row]int
		labels   labels.Set // of namespace a
		unknown  bool
		notes    []string
		errs     []string // of commands that need everything
		asked    string
	}{
		"everything": {
			objects: map[*catalog.Row]int{catalog.Prometheus: 2, catalog.Probe: 2}, labels: labels.Set{"team": "a"}, asked: "namespaces, prometheuses, probes",
		},
		"no namespaces": {
			refuses: []string{"namespaces"}, objects: map[*catalog.Row]int{catalog.Prometheus: 2, catalog.Probe: 2},
			labels: labels.Set{corev1.LabelMetadataName: "a"}, unknown: true, asked: "namespaces, prometheuses, probes",
			notes: []string{"cannot read namespace labels, so namespace selectors match nothing: namespaces is forbidden: not allowed"},
			errs:  []string{"list namespaces, whose labels decide what workloads select: namespaces is forbidden: not allowed; the ClusterRole firekeeper-developer permits it, with a ClusterRoleBinding to you"},
		},
		"the own namespace": {
			refuses: []string{"prometheuses", "probes"}, objects: map[*catalog.Row]int{catalog.Prometheus: 1, catalog.Probe: 1}, labels: labels.Set{"team": "a"},
			asked: "namespaces, prometheuses, prometheuses b, probes, probes b",
			notes: []string{"no permission to list prometheuses.monitoring.coreos.com in namespaces other than b", "no permission to list probes.monitoring.coreos.com in namespaces other than b"},
			errs: []string{
				"list prometheuses (--prometheus-instance-namespaces limits the namespaces): prometheuses.monitoring.coreos.com is forbidden: not allowed; the ClusterRole firekeeper-developer permits it, with a ClusterRoleBinding to you",
				"list probes (--namespaces limits the namespaces): probes.monitoring.coreos.com is forbidden: not allowed; the ClusterRole firekeeper-developer permits it, with a ClusterRoleBinding to you",
			},
		},
		"all or nothing": {
			refuses: []string{"prometheuses", "prometheuses b"}, complete: true, objects: map[*catalog.Row]int{catalog.Prometheus: 0}, labels: labels.Set{"team": "a"},
			asked: "namespaces, prometheuses, prometheuses b",
			notes: []string{"no permission to list prometheuses.monitoring.coreos.com in all namespaces"},
			errs: []string{
				"list prometheuses (--prometheus-instance-namespaces limits the namespaces): prometheuses.monitoring.coreos.com is forbidden: not allowed; the ClusterRole firekeeper-developer permits it, with a ClusterRoleBinding to you",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{refuses: tc.refuses}
			got := readers.Read(t.Context(), c, readers.Wanted{Kinds: kinds, Own: []string{"b"}, NamespaceLabels: true, Complete: tc.complete})
			objects := map[*catalog.Row]int{}
			for row, all := range got.Objects {
				objects[row] = len(all)
			}
			if diff := cmp.Diff(tc.objects, objects); diff != "" {
				t.Error(diff)
			}
			set, _ := got.NamespaceLabels("a")
			if diff := cmp.Diff(tc.labels, set); diff != "" || (got.NamespaceUnknown() != nil) != tc.unknown {
				t.Error("labels", diff)
			}
			var notes, errs []string
			for _, m := range got.Missing {
				notes, errs = append(notes, m.String()), append(errs, m.Error())
				if !apierrors.IsForbidden(m) {
					t.Errorf("%v is not the error of the API server", m)
				}
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.errs, errs); diff != "" {
				t.Error(diff)
			}
			if asked := strings.Join(c.asked, ", "); asked != tc.asked {
				t.Errorf("asked for %s, want %s", asked, tc.asked)
			}
		})
	}
}
