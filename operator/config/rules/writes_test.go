package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// TestWritesOfARuler checks the writes for several changes of a ruler's rules: first the
// giving steps, then those that remove files.
func TestWritesOfARuler(t *testing.T) {
	large := strings.Repeat("x", MaxFileBytes)
	for _, tc := range []struct {
		name  string
		live  []Bucket
		files map[string]string
		want  string
	}{
		{"no rules", nil, nil, "put 0[]; "},
		{"no rules any more", []Bucket{{"thanos-ruler-main-rulefiles-0", map[string]string{"a": "1"}}}, nil, "put 0[]; "},
		{"nothing changes", []Bucket{{"thanos-ruler-main-rulefiles-0", map[string]string{"a": "1"}}}, map[string]string{"a": "1"}, "put 0[a]; "},
		{
			"one changes", []Bucket{{"thanos-ruler-main-rulefiles-0", map[string]string{"a": "1", "b": "1"}}},
			map[string]string{"a": "2", "b": "1"}, "put 0[a b]; ",
		},
		{
			"they outgrow a ConfigMap", []Bucket{{"thanos-ruler-main-rulefiles-0", map[string]string{"a": "1"}}},
			map[string]string{"a": "1", "b": large}, "put 1[b], put 0[a]; ",
		},
		{
			"they outgrow the three of a Prometheus", nil,
			map[string]string{"a": large, "b": large, "c": large, "d": large}, "put 0[a], put 1[b], put 2[c], put 3[d]; ",
		},
		{
			"the last ConfigMap is not needed any more",
			[]Bucket{{"thanos-ruler-main-rulefiles-0", map[string]string{"a": large}}, {"thanos-ruler-main-rulefiles-1", map[string]string{"b": "1"}}},
			map[string]string{"b": "1"}, "put 0[b]; remove 1[]",
		},
		{
			"those of others", []Bucket{{"prometheus-main-rulefiles-0", map[string]string{"x": "1"}}, {"thanos-ruler-main-2-rulefiles-0", map[string]string{"y": "1"}}},
			map[string]string{"a": "1"}, "put 0[a]; ",
		},
	} {
		base := "thanos-ruler-main-rulefiles"
		plan := Pack(base, tc.live, wanted(tc.files))
		writes := plan.Writes(tc.live, func(name string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: "demo", Name: name, Labels: map[string]string{"thanos-ruler-name": "main"}}
		}, func() map[string]Content { return wanted(tc.files) })
		got := steps(t, base, writes.Giving) + "; " + steps(t, base, writes.Taking)
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
		after := map[string]string{}
		for _, files := range writes.Files {
			maps.Copy(after, files)
		}
		for _, s := range slices.Concat(writes.Giving, writes.Taking) {
			if data := s.Whole().(*corev1.ConfigMap).Data; s.Verb == apply.Put && !maps.Equal(data, s.Digests) {
				t.Errorf("%s: %s has %q", tc.name, s.Object.GetName(), data)
			}
		}
		if d := cmp.Diff(len(tc.files), len(after)); d != "" || len(writes.Files) != len(plan.Names) {
			t.Errorf("%s: %d files in %d ConfigMaps, want %d in %v", tc.name, len(after), len(writes.Files), len(tc.files), plan.Names)
		}
	}
}

// steps formats writes as "put 0[a b], remove 1[]".
func steps(t *testing.T, base string, in []apply.Step) string {
	t.Helper()
	var out []string
	for _, s := range in {
		m := s.Object.(*corev1.ConfigMap)
		if m.Kind != "ConfigMap" || m.Labels["thanos-ruler-name"] != "main" {
			t.Errorf("%s: kind %q, labels %v", m.Name, m.Kind, m.Labels)
		}
		var names []string
		for name := range s.Digests {
			names = append(names, name)
		}
		slices.Sort(names)
		verb := map[apply.Verb]string{apply.Put: "put", apply.Remove: "remove"}[s.Verb]
		out = append(out, fmt.Sprintf("%s %s%v", verb, strings.TrimPrefix(m.Name, base+"-"), names))
	}
	return strings.Join(out, ", ")
}

func TestBucketsAreOfTheWorkload(t *testing.T) {
	owned := func(name string, uid types.UID) *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{name: "x"}}
		if uid != "" {
			m.OwnerReferences = []metav1.OwnerReference{{UID: uid, Controller: new(true)}}
		}
		return m
	}
	got := Buckets([]*corev1.ConfigMap{owned("ours", "u1"), owned("nobody's", ""), owned("of another", "u2")}, "u1")
	want := []Bucket{{"ours", map[string]string{"ours": "x"}}, {"nobody's", map[string]string{"nobody's": "x"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
