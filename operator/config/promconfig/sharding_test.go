package promconfig

import "testing"

func TestShardZone(t *testing.T) {
	zones := []string{"a", "b"}
	for shard, want := range []struct {
		zone     string
		position int32
	}{{"a", 0}, {"b", 0}, {"a", 1}, {"b", 1}, {"a", 2}} {
		if zone, position := shardZone(zones, int32(shard)); zone != want.zone || position != want.position {
			t.Errorf("shard %d: got %s, %d", shard, zone, position)
		}
	}
	if zone, position := shardZone(nil, 3); zone != "" || position != 3 {
		t.Errorf("without zones: got %q, %d", zone, position)
	}
}
