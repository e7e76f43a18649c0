package rulesreloader

import (
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

func TestEveryReasonHasALabel(t *testing.T) {
	for _, r := range []reload.Reason{reload.BadRequest, reload.Unreachable, reload.Unverified, reload.Timeout, reload.Rejected} {
		if reasons[r] == "" {
			t.Errorf("no label for %s", r)
		}
	}
}
