package promworkload

import "testing"

func TestImageOfOwner(t *testing.T) {
	for spec, want := range map[string]string{
		``:                              "quay.io/prometheus/prometheus:v3.13.2",
		`version: "3.1"`:                "quay.io/prometheus/prometheus:v3.1.0",
		`version: v3.0.0-rc.0`:          "quay.io/prometheus/prometheus:v3.0.0-rc.0",
		`baseImage: example.org/p`:      "example.org/p:v3.13.2",
		`{sha: abc, tag: t}`:            "quay.io/prometheus/prometheus@sha256:abc",
		`{image: own, version: 2.40.0}`: "own",
	} {
		got, err := serverOwner(t, spec).image().Path()
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", spec, got, err, want)
		}
	}
	for thanos, want := range map[string]string{
		`thanos: {}`:                     "quay.io/thanos/thanos:v0.42.4",
		`thanos: {version: 0.40.0}`:      "quay.io/thanos/thanos:0.40.0",
		`thanos: {baseImage: x, tag: t}`: "docker.io/library/x:t",
		`thanos: {sha: abc}`:             "quay.io/thanos/thanos@sha256:abc",
		`thanos: {image: own}`:           "own",
	} {
		got, err := serverOwner(t, thanos).thanosImage()
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", thanos, got, err, want)
		}
	}
}
