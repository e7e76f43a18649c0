package delivery

import (
	"strings"
	"testing"
	"time"
)

// The gauges of the last load are found among metrics with similar names.
func TestServerGauges(t *testing.T) {
	const others = "# HELP alertmanager_config_last_reload_successful Whether…\nalertmanager_config_hash 1e+14\nreloader_last_reload_successful 0\n"
	for name, tc := range map[string]struct {
		text string
		want reloads
		err  bool
	}{
		"a success": {others + "alertmanager_config_last_reload_success_timestamp_seconds 1.7e+09\nalertmanager_config_last_reload_successful 1\n",
			reloads{true, time.UnixMilli(1_700_000_000_000)}, false},
		"a failure": {others + "alertmanager_config_last_reload_success_timestamp_seconds 1.7e+09\nalertmanager_config_last_reload_successful 0\n",
			reloads{false, time.UnixMilli(1_700_000_000_000)}, false},
		"none of them": {others, reloads{}, true},
		"no number":    {"alertmanager_config_last_reload_successful yes\n", reloads{}, true},
	} {
		got, err := serverGauges.read(strings.NewReader(tc.text))
		if (err != nil) != tc.err || err == nil && (got.OK != tc.want.OK || !got.At.Equal(tc.want.At)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
