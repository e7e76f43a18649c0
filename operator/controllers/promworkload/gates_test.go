package promworkload

import (
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

func TestGates(t *testing.T) {
	got := Gates()
	for _, want := range []workload.Gate{
		{Program: "prometheus", Argument: "--web.page-title", Since: "2.6.0", Field: "spec.web.pageTitle"},
		{Program: "prometheus", Argument: "--enable-feature=metadata-wal-records", Since: "2.54.0", Until: "3.4.0"},
		{Program: "prometheus", Argument: "--enable-feature", Since: "2.25.0", Field: "spec.enableFeatures"},
		{Program: "prometheus", Argument: "--storage.tsdb.retention", Until: "2.7.0"},
		{Program: "prometheus agent", Argument: "--agent", Since: firstV3},
		{Program: "thanos sidecar", Argument: "--grpc-server-tls-min-version", Since: "0.37.0", Field: "spec.thanos.grpcServerTlsConfig.minVersion"},
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%+v is not listed", want)
		}
	}
	for _, g := range got {
		if g.Since == "" && g.Until == "" {
			t.Errorf("%s has no limits", g.Argument)
		}
	}
}
