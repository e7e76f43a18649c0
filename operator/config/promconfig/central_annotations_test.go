package promconfig

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func TestTargetDiscovery(t *testing.T) {
	annotations := map[string]string{wellknown.AnnotationTargetDiscovery: "central"}
	version, err := ParseVersion("3.13.2")
	if err != nil {
		t.Fatal(err)
	}
	for ignored, c := range map[string]struct {
		version string
		of      Discoverable
	}{
		"":                              {"2.28.0", Discoverable{Enabled: true}},
		"--central-discovery=opt-in":    {"2.28.0", Discoverable{Fault: "old"}},
		"in mode DaemonSet":             {"2.28.0", Discoverable{DaemonSet: true, Enabled: true, Fault: "old"}},
		"it needs Prometheus >= 2.28.0": {"2.27.1", Discoverable{Enabled: true}},
		"has no effect: old image":      {"2.28.0", Discoverable{Enabled: true, Fault: "old image"}},
	} {
		if c.of.Version, err = ParseVersion(c.version); err != nil {
			t.Fatal(err)
		}
		d, why, err := TargetDiscovery(annotations, c.of)
		if err != nil || d.Central() != (ignored == "") || !strings.Contains(why, ignored) || (why == "") != (ignored == "") {
			t.Errorf("%+v: %s, %q, %v", c, d, why, err)
		}
	}
	_, _, err = TargetDiscovery(map[string]string{wellknown.AnnotationTargetDiscovery: "x"}, Discoverable{Version: version})
	if at, is := errors.AsType[*AnnotationError](err); !is || at.ConditionReason() != "InvalidAnnotation" {
		t.Errorf("a wrong value: %v", err)
	}
}

// With a config-reloader that cannot receive targets, servers discover them.
func TestOldReloader(t *testing.T) {
	for image, central := range map[string]bool{
		"registry.example/firekeeper/config-reloader:v0.1.0": true, "firekeeper/config-reloader:v0.0.9": false,
		"quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0": false, "mirror.example/reloader:v1.2.3": true, "mirror.example/other:v1.2.3": false,
	} {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test", Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: "central"}}}
		p.Spec.Containers = []corev1.Container{{Name: "config-reloader", Image: image}}
		c := everything
		c.CentralDiscovery, c.Reloaders = true, []string{"mirror.example/reloader"}
		s, err := ServerSettings(p, c)
		if err != nil || s.Central() != central {
			t.Errorf("%s: central: %v, %v", image, s.Central(), err)
		}
	}
}

// How targets are divided does not change a configuration, and wrong values are named.
func TestDivisionAnnotations(t *testing.T) {
	with := func(annotations map[string]string) (*Settings, error) {
		p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test", Annotations: annotations}}
		p.Spec.Shards = new(int32(3))
		c := everything
		c.CentralDiscovery = true
		return ServerSettings(p, c)
	}
	central := map[string]string{wellknown.AnnotationTargetDiscovery: "central"}
	plain, err := with(central)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []map[string]string{
		{wellknown.AnnotationSharding: "weighted"},
		{wellknown.AnnotationSharding: "hash"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "switch", wellknown.AnnotationReassignAfter: "never"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "overlap", wellknown.AnnotationReassignAfter: "1h30m"},
		{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationMaxShards: "1000", wellknown.AnnotationSeriesPerShard: "1000"},
	} {
		more[wellknown.AnnotationTargetDiscovery] = "central"
		s, err := with(more)
		if err != nil || s.Key() != plain.Key() {
			t.Errorf("%v: another configuration, %v", more, err)
			continue
		}
		if annotation, why := IgnoredAnnotation(more, wellknown.CentralDiscovery); annotation != "" {
			t.Errorf("%v: %s is ignored: %s", more, annotation, why)
		}
		want := listedTexts(t, plain)
		for kind, text := range listedTexts(t, s) {
			if text != want[kind] {
				t.Errorf("%v: %s is\n%s\nwant\n%s", more, kind, text, want[kind])
			}
		}
	}
	for annotation, values := range map[string][]string{
		wellknown.AnnotationSharding:       {"", "Weighted", "hashmod"},
		wellknown.AnnotationHandoff:        {"", "none"},
		wellknown.AnnotationReassignAfter:  {"", "0", "5", "30s", "25h", "-5m", "Never"},
		wellknown.AnnotationMaxShards:      {"", "0", "1001", "-1", "ten", "1.5", "1e2"},
		wellknown.AnnotationSeriesPerShard: {"", "0", "999", "1000000001", "2M"},
	} {
		for _, value := range values {
			_, err := with(map[string]string{wellknown.AnnotationTargetDiscovery: "central", annotation: value})
			at, is := errors.AsType[*AnnotationError](err)
			if !is || at.ConditionReason() != "InvalidAnnotation" {
				t.Errorf("%s: %q: %v", annotation, value, err)
				continue
			}
			if field, reason := at.Located(); field != `metadata.annotations["`+annotation+`"]` || !strings.Contains(reason, "is not allowed: use ") {
				t.Errorf("%s: %s", field, reason)
			}
		}
	}
}

// Annotations about shards are ignored without central discovery, and without placement by series.
func TestIgnoredAnnotation(t *testing.T) {
	for _, c := range []struct {
		annotations     map[string]string
		d               wellknown.TargetDiscovery
		annotation, why string
	}{
		{nil, wellknown.OwnDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationSharding: "hash"}, wellknown.OwnDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationSharding: "weighted"}, wellknown.BothDiscoveries, wellknown.AnnotationSharding, "has no effect: it needs firekeeper.dev/target-discovery: central"},
		{map[string]string{wellknown.AnnotationHandoff: "switch"}, wellknown.OwnDiscovery, wellknown.AnnotationHandoff, "has no effect: it needs firekeeper.dev/target-discovery: central"},
		{map[string]string{wellknown.AnnotationReassignAfter: "never"}, wellknown.CentralDiscovery, wellknown.AnnotationReassignAfter, "has no effect: it needs firekeeper.dev/sharding: weighted"},
		{map[string]string{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationHandoff: "switch"}, wellknown.CentralDiscovery, "", ""},
		{map[string]string{wellknown.AnnotationMaxShards: "4"}, wellknown.CentralDiscovery, wellknown.AnnotationMaxShards, "only keeps the number of shards from falling: to follow the series, it needs firekeeper.dev/target-discovery: central and firekeeper.dev/sharding: weighted"},
		{map[string]string{wellknown.AnnotationSharding: "weighted", wellknown.AnnotationSeriesPerShard: "5000"}, wellknown.CentralDiscovery, wellknown.AnnotationSeriesPerShard, "has no effect: it needs firekeeper.dev/max-shards"},
	} {
		if annotation, why := IgnoredAnnotation(c.annotations, c.d); annotation != c.annotation || why != c.why {
			t.Errorf("%v with %s: %s %s", c.annotations, c.d, annotation, why)
		}
	}
}
