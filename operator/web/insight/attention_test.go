package insight

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
)

// A selector that drops only the targets of others is not reported as the reason for no targets.
func TestWhyNoTargets(t *testing.T) {
	for want, c := range map[string]preview.Counts{
		": 3 are dropped by spec.endpoints[0].port":           {Dropped: map[string]int{"spec.endpoints[0].port": 3, "spec.endpoints[1].port": 2, "spec.selector.matchLabels[app]": 90}},
		": 90 are dropped by spec.selector.matchLabels[app]":  {Dropped: map[string]int{"spec.selector.matchLabels[app]": 90, "spec.selector.matchLabels[tier]": 1}},
		": 1 are dropped by spec.podMetricsEndpoints[0].port": {Dropped: map[string]int{"spec.selector": 9, "spec.podMetricsEndpoints[0].port": 1}},
		": 2 are invalid":    {Invalid: 2},
		": nothing is found": {},
	} {
		if got := why(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
