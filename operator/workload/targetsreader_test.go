package workload

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestTargetsReader(t *testing.T) {
	c := Config{PartsReaders: []string{"mirror.example/reloader"}}
	for image, want := range map[string]bool{
		"firekeeper/config-reloader:v0.1.0": true, "firekeeper/config-reloader:v0.1.0-rc.1": true, "firekeeper/config-reloader:v2.0.0": true,
		"firekeeper/config-reloader:v0.0.9": false, "firekeeper/config-reloader:0.0.9": false, "firekeeper/config-reloader": true, "firekeeper/config-reloader:latest": true,
		"registry.example:5000/a/firekeeper/config-reloader:v0.1.0@sha256:" + strings.Repeat("a", 64): true,
		"mirror.example/reloader:v0.1.0": true, "mirror.example/reloader:v0.0.1": false,
		"quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0": false, "": false, "NOT:AN:IMAGE": false,
	} {
		if got := c.TargetsReader(image); got != want {
			t.Errorf("%q: %v", image, got)
		}
		fault := c.TargetsFault([]corev1.Container{{Name: "other", Image: "x"}, {Name: "config-reloader", Image: image}})
		if (fault == "") != (want || image == "") {
			t.Errorf("%q: fault %q", image, fault)
		}
	}
}
