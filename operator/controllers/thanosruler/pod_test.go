package thanosruler

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// A changed remote-write file replaces the pods, because Thanos reads it only at startup,
// except in the layout that must match the pods of the reference.
func TestRemoteWriteReplacesPods(t *testing.T) {
	build := func(layout workload.Layout, file string, writes ...v1.RemoteWriteSpec) (*appsv1.StatefulSet, string) {
		tr := &v1.ThanosRuler{}
		tr.Namespace, tr.Name = "demo", "main"
		tr.Spec.QueryEndpoints, tr.Spec.RemoteWrite = []string{"http://query"}, writes
		o := newBuilder(tr, workload.Config{Layout: layout, ThanosBaseImage: "thanos", RulesReloaderImage: "rules-reloader:v1", ConfigReloaderImage: "config-reloader:v1"})
		in := workload.PodInputs{Files: o.remoteWriteHash([]byte(file)), TLSSecrets: 1}
		set, err := o.StatefulSet(in)
		if err != nil {
			t.Fatal(err)
		}
		hash, err := o.InputHash(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		return set, hash
	}
	one := v1.RemoteWriteSpec{URL: "http://a"}
	for name, tc := range map[string]struct {
		layout  workload.Layout
		writes  []v1.RemoteWriteSpec
		differs bool
	}{
		"split":                {workload.LayoutSplit, []v1.RemoteWriteSpec{one}, true},
		"single":               {workload.LayoutSingle, []v1.RemoteWriteSpec{one}, false},
		"without remote write": {workload.LayoutSplit, nil, false},
	} {
		before, hashBefore := build(tc.layout, "password: a", tc.writes...)
		after, hashAfter := build(tc.layout, "password: b", tc.writes...)
		const key = wellknown.AnnotationRemoteWrite
		pods := before.Spec.Template.Annotations[key] != after.Spec.Template.Annotations[key]
		if pods != tc.differs || (hashBefore != hashAfter) != tc.differs {
			t.Errorf("%s: the pods differ: %v, the input hash: %v", name, pods, hashBefore != hashAfter)
		}
	}
}
