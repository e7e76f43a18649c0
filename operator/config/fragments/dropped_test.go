package fragments

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// A key of the configuration is reported with the field as its author wrote it.
func TestUnsupported(t *testing.T) {
	yes, limit := true, uint64(1)
	monitor := &v1.ServiceMonitor{Spec: v1.ServiceMonitorSpec{Endpoints: []v1.Endpoint{{}, {}}}}
	monitor.Spec.KeepDroppedTargets = &limit
	monitor.Spec.Endpoints[1].TrackTimestampsStaleness = &yes
	monitor.Spec.Endpoints[1].RelabelConfigs = []v1.RelabelConfig{{Action: "keep"}}
	server := &v1.Prometheus{}
	server.Spec.ScrapeProtocols = []v1.ScrapeProtocol{"a"}
	server.Spec.RemoteWrite = []v1.RemoteWriteSpec{{URL: "http://a"}}
	server.Spec.RemoteWrite[0].ProxyFromEnvironment = &yes
	for _, tc := range []struct {
		object any
		path   string
		need   string
		want   string
	}{
		{monitor, "scrape_configs[1].track_timestamps_staleness", ">= 2.48.0", "spec.endpoints[1].trackTimestampsStaleness: track_timestamps_staleness needs Prometheus >= 2.48.0 and is left out"},
		{monitor, "scrape_configs[1].keep_dropped_targets", ">= 2.47.0", "spec.keepDroppedTargets: keep_dropped_targets needs Prometheus >= 2.47.0 and is left out"},
		{monitor, "scrape_configs[1].relabel_configs[0].action", "server mode", "spec.endpoints[1]: relabel_configs[0].action needs Prometheus server mode and is left out"},
		{monitor, "scrape_configs[0].track_timestamps_staleness", "", "spec.endpoints[0]: track_timestamps_staleness is left out"},
		{monitor, "scrape_configs[7].odd", gate.OtherProgram, "spec: odd is supported by no version of Prometheus and is left out"},
		{monitor, "spec.groups[0].limit", ">= 2.31.0", "spec.groups[0].limit: needs Prometheus >= 2.31.0 and is left out"},
		{server, "global.scrape_protocols", ">= 2.49.0", "spec.scrapeProtocols: global.scrape_protocols needs Prometheus >= 2.49.0 and is left out"},
		{server, "remote_write[0].proxy_from_environment", ">= 2.43.0", "spec.remoteWrite[0].proxyFromEnvironment: remote_write[0].proxy_from_environment needs Prometheus >= 2.43.0 and is left out"},
		{server, "", ">= 1.0.0", "spec: needs Prometheus >= 1.0.0 and is left out"},
	} {
		got := Unsupported(tc.object, "Prometheus", []gate.Dropped{{Path: tc.path, Need: tc.need}})
		if len(got) != 1 || got[0].String() != tc.want || got[0].Need != tc.need {
			t.Errorf("%s: %q, want %q", tc.path, faults.Texts(got), tc.want)
		}
	}
}
