package amconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// A tenant exhausts the memory of the Alertmanager of all tenants with an object of 100 kB: 4,900 routes that continue, to a
// server that does not answer, took 750 MB for 500 alerts of a kilobyte.
func TestFanOut(t *testing.T) {
	const most = budget.Notifications
	routes := func(n int, route string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(route+",", n), ",") + "]"
	}
	hooks := func(n int) string { return routes(n, `{"url":"http://a"}`) }
	for name, c := range map[string]struct {
		hooks  int // of the receiver
		routes string
		bad    bool
	}{
		"continue":          {1, routes(most+1, `{"continue":true}`), true},
		"just enough":       {1, routes(most, `{"continue":true}`), false},
		"the first matches": {1, routes(4_000, `{}`), false},
		"the last ends":     {1, "[" + strings.Trim(routes(most, `{"continue":true}`), "[]") + `,{"matchers":[{"name":"a","value":"b"}]}]`, true},
		"levels":            {1, routes(2, `{"continue":true,"routes":`+routes(most/2+1, `{"continue":true}`)+`}`), true},
		"one of the levels": {1, routes(2, `{"routes":`+routes(most/2+1, `{"continue":true}`)+`}`), false},
		"without a child":   {0, routes(most+1, `{"continue":true}`), false},
		"one receiver":      {most + 1, "[]", true},
		"several for each":  {3, routes(most/2, `{"continue":true}`), true},
		"another receiver":  {1, routes(most+1, `{"continue":true,"receiver":"none"}`), false},
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		text := fmt.Sprintf(`{"receivers":[{"name":"r","webhookConfigs":%s},{"name":"none"}],"route":{"receiver":"r","routes":%s}}`, hooks(c.hooks), c.routes)
		if err := json.Unmarshal([]byte(text), &config.Spec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := Validate(config); (err != nil) != c.bad || c.bad && !errors.Is(err, errFanOut) && !strings.Contains(err.Error(), errFanOut.Error()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
