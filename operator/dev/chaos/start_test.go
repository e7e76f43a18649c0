package chaos

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// An operator starts at an API server that fails: each different request twice.
func TestStartsWhileTheAPIServerFails(t *testing.T) {
	for name, fault := range map[string]faultproxy.Fault{
		"unavailable":     faultproxy.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0),
		"answers are cut": faultproxy.Cut,
	} {
		t.Run(name, func(t *testing.T) {
			o := trial.NewOperator(t, shared(t), "starts")
			tally := faultproxy.NewTally(2)
			o.Proxy.Disturb(faultproxy.Times(2, tally, fault))
			o.Start(t)
			<-tally.Full()
			o.Idle(t)
		})
	}
}
