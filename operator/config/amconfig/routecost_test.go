package amconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// A tenant exhausts the Alertmanager of all tenants with a small object and a few alerts: 4,900 routes that inherit groupBy with
// 20,000 labels, in 200 kB, took 20 GB for two alerts; one route with 3,000 references to a time interval of 10,000 periods
// occupied all processors; 60,000 integrations took 540 MB.
func TestExpensiveRoutes(t *testing.T) {
	names := func(n int, format string) string { return strings.TrimSuffix(budgettest.Numbered(n, format), ",") }
	times := func(refs, periods int, period string) string {
		return fmt.Sprintf(`{"receivers":[{"name":"r"}],"route":{"receiver":"r","routes":[{"muteTimeIntervals":["m"],"activeTimeIntervals":[%s]}]},"muteTimeIntervals":[{"name":"m","timeIntervals":[%s]}]}`,
			strings.TrimSuffix(strings.Repeat(`"m",`, refs-1), ","), strings.TrimSuffix(strings.Repeat(period+",", periods), ","))
	}
	hooks := func(receivers, each int) string {
		one := `,"webhookConfigs":[` + strings.TrimSuffix(strings.Repeat(`{"url":"http://a"},`, each), ",") + "]},"
		return `{"route":{"receiver":"r0"},"receivers":[` + names(receivers, `{"name":"r%d"`+one) + `]}`
	}
	const ranges = "the time intervals have more than 5000 ranges of times, weekdays and so on, the limit of one route"
	const integrations = "spec.receivers: all receivers together have more than 5000 integrations, the limit of one AlertmanagerConfig"
	const most = budget.IntervalRanges
	for name, c := range map[string]struct{ text, want string }{
		"labels":              {`{"receivers":[{"name":"r"}],"route":{"receiver":"r","groupBy":[` + names(budget.GroupLabels, `"a%d",`) + `]}}`, ""},
		"too many labels":     {`{"receivers":[{"name":"r"}],"route":{"receiver":"r","groupBy":[` + names(budget.GroupLabels+1, `"a%d",`) + `]}}`, "spec.route.groupBy: has more than 100 labels, the limit of one route"},
		"of a child":          {`{"receivers":[{"name":"r"}],"route":{"receiver":"r","routes":[{"groupBy":[` + names(budget.GroupLabels+1, `"a%d",`) + `]}]}}`, "spec.route.routes[0].groupBy: has more than 100 labels"},
		"times":               {times(50, most/50, `{}`), ""},
		"too many times":      {times(50, most/50+1, `{}`), "spec.route.routes[0].activeTimeIntervals: " + ranges},
		"ranges":              {times(10, most/20, `{"months":["1","2"]}`), ""},
		"too many ranges":     {times(10, most/20+1, `{"months":["1"],"years":["2030"]}`), "spec.route.routes[0].activeTimeIntervals: " + ranges},
		"too many references": {times(most+1, 0, ``), "spec.route.routes[0].activeTimeIntervals: " + ranges},
		"unused times":        {`{"receivers":[{"name":"r"}],"route":{"receiver":"r"},"muteTimeIntervals":[{"name":"m","timeIntervals":[` + strings.TrimSuffix(strings.Repeat("{},", 10_000), ",") + `]}]}`, ""},
		"integrations":        {hooks(500, 10), ""},
		"too many":            {hooks(501, 10), integrations},
	} {
		config := &v1alpha1.AlertmanagerConfig{}
		if err := json.Unmarshal([]byte(c.text), &config.Spec); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		if err := Validate(config); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %.200s, want %q", name, got, c.want)
		}
	}
}
