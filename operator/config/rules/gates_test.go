package rules

import "testing"

func TestGatesHaveNames(t *testing.T) {
	all := Gates()
	if len(all) == 0 {
		t.Fatal("no gates")
	}
	for _, g := range all {
		if g.Key == "" || g.Prometheus == "" || g.Thanos == "" {
			t.Errorf("%+v is not complete: a new gate needs a name in gatedKeys", g)
		}
	}
}
