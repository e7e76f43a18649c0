package preview

import "testing"

// The shards of targets are those of the hash unless the discovery service places them by series.
func TestBySeries(t *testing.T) {
	for _, tc := range []struct {
		discovery, sharding string
		want                bool
	}{{"central", "weighted", true}, {"both", "weighted", false}, {"own", "weighted", false}, {"central", "hash", false}, {"central", "x", false}} {
		if got := bySeries(map[string]string{"firekeeper.dev/target-discovery": tc.discovery, "firekeeper.dev/sharding": tc.sharding}); got != tc.want {
			t.Errorf("%+v: %v", tc, got)
		}
	}
}
