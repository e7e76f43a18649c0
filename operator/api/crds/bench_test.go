package crds_test

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// BenchmarkStandard measures what every start of a program that needs a schema costs.
func BenchmarkStandard(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := crds.Standard("1.0.0"); err != nil {
			b.Fatal(err)
		}
	}
}
