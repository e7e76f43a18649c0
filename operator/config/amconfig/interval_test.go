package amconfig

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A route that sends each millisecond occupies the Alertmanager of all. Waiting a millisecond for the first notification
// does not.
func TestShortIntervals(t *testing.T) {
	const at = ": 1ms is shorter than 100 ms"
	for route, want := range map[string]string{
		"groupInterval: 1ms":             "spec.route.groupInterval" + at,
		"repeatInterval: 1ms":            "spec.route.repeatInterval" + at,
		"routes: [{groupInterval: 1ms}]": "spec.route.routes[0].groupInterval" + at,
		"groupInterval: 100ms":           "",
		"groupInterval: 0s":              "", // the default
		"groupWait: 1ms":                 "",
	} {
		err := Compile(configOf(t, "receivers: [{name: r}]\nroute: {receiver: r, "+route+"}"), settingsOf("0.28.0", AnyGlobals), &assets.Static{}).Err
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", route, err, want)
		}
	}
}
