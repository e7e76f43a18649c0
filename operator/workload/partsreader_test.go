package workload

import "testing"

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
		"registry.example.org/config-reloader:v0.93.0":                   false, // whose it is nobody knows
		"registry.example.org/mirror/reloader-of-others:v2":              false,
		"other/mirror/reloader:v2":                                       false,
		"notfirekeeper/config-reloader":                                  false,
		"firekeeper/config-reloader/fork":                                false,
		"":                                                               false,
		"UPPER/case":                                                     false,
	} {
		if got := cfg.PartsReader(image); got != want {
			t.Errorf("%q: %t", image, got)
		}
	}
}

const sha = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
