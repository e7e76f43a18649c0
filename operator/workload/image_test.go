package workload

import (
	"strings"
	"testing"
)

func TestImagePath(t *testing.T) {
	const base = "quay.io/prometheus/prometheus"
	for name, tc := range map[string]struct {
		in        Image
		want, err string
	}{
		"version":                                {Image{Base: base, Version: "v3.1.0"}, base + ":v3.1.0", ""},
		"explicit image is not even checked":     {Image{Explicit: "NOT//valid", Base: "neither//"}, "NOT//valid", ""},
		"blank explicit image counts as unset":   {Image{Explicit: " ", Base: base, Version: "v1"}, base + ":v1", ""},
		"a tag in the base image is kept":        {Image{Base: base + ":mine", Tag: "t", SHA: "s", Version: "v1"}, base + ":mine", ""},
		"a port is no tag":                       {Image{Base: "reg:5000/p", Version: "v1"}, "reg:5000/p:v1", ""},
		"a digest in the base image is kept":     {Image{Base: base + "@sha256:" + strings.Repeat("a", 64), Version: "v1"}, base + "@sha256:" + strings.Repeat("a", 64), ""},
		"digest beats tag":                       {Image{Base: "prom", Tag: "t", SHA: "abc", Version: "v1"}, "prom@sha256:abc", ""},
		"tag beats version and expands the base": {Image{Base: "prom/prometheus", Tag: "t", Version: "v1"}, "docker.io/prom/prometheus:t", ""},
		"blank tag and digest count as unset":    {Image{Base: "prom", Tag: " ", SHA: " ", Version: "v1"}, "prom:v1", ""},
		"a bad tag is refused":                   {Image{Base: "prom", Tag: "!"}, "", `tag "!"`},
		"a bad base image is refused":            {Image{Base: "UPPER", Version: "v1"}, "", `base image "UPPER"`},
		"no version":                             {Image{Base: "prom"}, "", "no version"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.in.Path()
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("Path = %q, %v; want %q, %q", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestImageOfOwner(t *testing.T) {
	for spec, want := range map[string]string{
		``:                              "quay.io/prometheus/prometheus:v3.13.2",
		`version: "3.1"`:                "quay.io/prometheus/prometheus:v3.1.0",
		`version: v3.0.0-rc.0`:          "quay.io/prometheus/prometheus:v3.0.0-rc.0",
		`baseImage: example.org/p`:      "example.org/p:v3.13.2",
		`{sha: abc, tag: t}`:            "quay.io/prometheus/prometheus@sha256:abc",
		`{image: own, version: 2.40.0}`: "own",
	} {
		got, err := serverOwner(t, spec).image()
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
