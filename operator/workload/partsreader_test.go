package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestPartsReader(t *testing.T) {
	cfg := Config{PartsReaders: []string{"registry.example.org/mirror/reloader", "own"}}
	for image, want := range map[string]bool{
		"firekeeper/config-reloader:v0.1.0":                                           true,
		"docker.io/firekeeper/config-reloader":                                        true,
		"registry.example.org:5000/cache/firekeeper/config-reloader:v1@sha256:" + sha: true,
		"registry.example.org/mirror/reloader:v2":                                     true,
		"registry.example.org/mirror/reloader@sha256:" + sha:                          true,
		"own:v1":                true,
		"docker.io/library/own": true,
		"quay.io/prometheus-operator/prometheus-config-reloader:v0.93.0": false,
		"registry.example.org/prometheus-config-reloader":                false,
		"registry.example.org/config-reloader:v0.93.0":                   false, // of an unknown project
		"registry.example.org/mirror/reloader-of-others:v2":              false,
		"other/mirror/reloader:v2":                                       false,
		"notfirekeeper/config-reloader":                                  false,
		"firekeeper/config-reloader/fork":                                false,
		"":                                                               false,
		"UPPER/case":                                                     false,
	} {
		if got := cfg.partsReader(image); got != want {
			t.Errorf("%q: %t", image, got)
		}
	}
}

const sha = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// Pods of every kind read parts through the volume of their kind, and the trimmed spec of
// a pod is sufficient to detect it.
func TestPartsOfAnyKind(t *testing.T) {
	for name, tc := range map[string]struct {
		layout Layout
		image  string
		grown  bool // the configuration is already split
		want   string
	}{
		"split":                        {LayoutSplit, ownReloader, false, ""},
		"split, another's image":       {LayoutSplit, "other/reloader", false, `container config-reloader still has image "other/reloader"`},
		"single":                       {LayoutSingle, ownReloader, false, "the Secrets of the parts are not mounted yet"},
		"single, where there are some": {LayoutSingle, ownReloader, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := widget("main", v1.WorkloadFields{}, Config{Layout: tc.layout, ConfigReloaderImage: tc.image})
			others := SecretProjection("widget-other-config-part-16", nil)
			pod := &corev1.PodSpec{
				Volumes: []corev1.Volume{
					b.ConfigVolume(tc.grown),
					// A volume of the user is not the configuration of the server.
					{Name: "config", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{others}}}},
				},
				Containers:     []corev1.Container{{Name: ContainerConfigReloader, Image: tc.image}},
				InitContainers: []corev1.Container{{Name: ContainerInitConfigReloader, Image: tc.image}},
			}
			trimmed := TrimReloaders(pod)
			for what, got := range map[string]string{"the pod": b.PartsFaultOf(pod), "what is kept of it": b.PartsFaultOf(&trimmed)} {
				if got != tc.want {
					t.Errorf("%s: %q, want %q", what, got, tc.want)
				}
			}
			volume := pod.Volumes[0]
			if volume.Name != "config-volume" || b.ReadsParts(pod) != (volume.Projected != nil) {
				t.Errorf("volume %+v", volume)
			}
			if p := volume.Projected; p != nil && (p.Sources[0].Secret.Name != "widget-main-generated" || p.Sources[16].Secret.Name != "widget-main-config-part-16") {
				t.Errorf("sources %v", p.Sources)
			}
			if other := widget("other", v1.WorkloadFields{}, b.Config); other.PartsFaultOf(pod) == "" {
				t.Error("another's pod passes for one of its own")
			}
		})
	}
}
