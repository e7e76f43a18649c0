package wellknown_test

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

func TestParseTargetDiscovery(t *testing.T) {
	for _, c := range []struct {
		annotations map[string]string
		want        wellknown.TargetDiscovery
		central     bool
	}{
		{nil, wellknown.OwnDiscovery, false},
		{map[string]string{"other": "central"}, wellknown.OwnDiscovery, false},
		{map[string]string{"firekeeper.dev/target-discovery": "own"}, wellknown.OwnDiscovery, false},
		{map[string]string{"firekeeper.dev/target-discovery": "both"}, wellknown.BothDiscoveries, true},
		{map[string]string{"firekeeper.dev/target-discovery": "central"}, wellknown.CentralDiscovery, true},
	} {
		got, err := wellknown.ParseTargetDiscovery(c.annotations)
		if err != nil || got != c.want || got.Central() != c.central {
			t.Errorf("%v: got %q, central %v, error %v; want %q, %v", c.annotations, got, got.Central(), err, c.want, c.central)
		}
	}
}

func TestParseTargetDiscoveryRejects(t *testing.T) {
	for _, value := range []string{"", "Central", " central", "true", "weighted", strings.Repeat("é", 100_000)} {
		got, err := wellknown.ParseTargetDiscovery(map[string]string{wellknown.AnnotationTargetDiscovery: value})
		if err == nil {
			t.Errorf("%.20q was accepted as %q", value, got)
			continue
		}
		if got != wellknown.OwnDiscovery {
			t.Errorf("%.20q: got %q beside the error", value, got)
		}
		for _, part := range []string{"own", "both", "central"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not name %s: %v", part, err)
			}
		}
		if len(err.Error()) > 300 {
			t.Errorf("the error repeats %d bytes", len(err.Error()))
		}
	}
}

// Targets are divided by series only if the discovery service alone discovers them.
func TestParseSharding(t *testing.T) {
	for discovery, weighted := range map[string]bool{"own": false, "both": false, "central": true} {
		got, division, err := wellknown.ParseSharding(map[string]string{wellknown.AnnotationTargetDiscovery: discovery, wellknown.AnnotationSharding: "weighted"})
		if err != nil || string(got) != discovery || division.Weighted != weighted {
			t.Errorf("%s: %s, %+v, %v", discovery, got, division, err)
		}
	}
	for _, annotation := range []string{wellknown.AnnotationTargetDiscovery, wellknown.AnnotationSharding} {
		if _, _, err := wellknown.ParseSharding(map[string]string{annotation: "no"}); err == nil {
			t.Errorf("%s: no error", annotation)
		}
	}
}
