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
		"a bad tag is refused":                   {Image{Base: "prom", Tag: "!"}, "", `spec.tag: "!": `},
		"a bad base image is refused":            {Image{Base: "UPPER", Version: "v1"}, "", `spec.baseImage: "UPPER": `},
		"the operator's image is used":           {Image{Default: base, Version: "v1"}, base + ":v1", ""},
		"a bad image of the operator is refused": {Image{Default: "UPPER", Version: "v1"}, "", `default image "UPPER" of the operator: `},
		"no version":                             {Image{Base: "prom"}, "", "spec.version: is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.in.Field = "spec"
			got, err := tc.in.Path()
			if got != tc.want || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("Path = %q, %v; want %q, %q", got, err, tc.want, tc.err)
			}
		})
	}
}
