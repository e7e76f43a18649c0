package workload

import (
	"slices"
	"testing"
)

func TestGates(t *testing.T) {
	got := Gates()
	for _, want := range []Gate{
		{"prometheus", "--web.page-title", "2.6.0", "", "spec.web.pageTitle"},
		{"prometheus", "--enable-feature=metadata-wal-records", "2.54.0", "3.4.0", ""},
		{"prometheus", "--enable-feature", "2.25.0", "", "spec.enableFeatures"},
		{"prometheus", "--storage.tsdb.retention", "", "2.7.0", ""},
		{"prometheus agent", "--agent", firstV3, "", ""},
		{"thanos sidecar", "--grpc-server-tls-min-version", "0.37.0", "", "spec.thanos.grpcServerTlsConfig.minVersion"},
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
