package commands

import (
	"slices"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
)

// Permissions for a disabled feature are not requested.
func TestOptionalsOfFlags(t *testing.T) {
	for _, p := range (&Options{}).optionals() {
		if p == startup.PatchPods || p == startup.ExpandClaims {
			t.Errorf("asked for: %v %s", p.Verbs, p.Resource)
		}
	}
	with := &Options{}
	with.InstantDelivery, with.GrowClaims = true, true
	if all := with.optionals(); !slices.Equal(all, startup.Optionals()) {
		t.Errorf("only %d are asked for", len(all))
	}
}
