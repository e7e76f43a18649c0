package chaos

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// disturbance is a fault that has begun.
type disturbance struct {
	changed func()          // called after the change; optional
	full    <-chan struct{} // closed when the fault has lasted long enough; nil: it lasts until the state is reached
	rests   bool            // it lasts until the operator is idle, and another change is needed to reach the state
	lift    func()          // optional
	tally   *faultproxy.Tally
}

// disturb begins a fault.
var disturb = map[string]func(t *testing.T, c *cycle) disturbance{
	"slow": func(_ *testing.T, c *cycle) disturbance {
		c.operator.Proxy.Disturb(faultproxy.Slow(300 * time.Millisecond))
		return disturbance{}
	},
	"paused": func(_ *testing.T, c *cycle) disturbance {
		release, full := make(chan struct{}), make(chan struct{})
		deliver := c.operator.Proxy.HoldWatches()
		c.operator.Proxy.Disturb(faultproxy.Hold(release))
		return disturbance{changed: func() { close(full) }, full: full, lift: func() { close(release); deliver() }}
	},
	"writes hang": func(_ *testing.T, c *cycle) disturbance {
		release, tally := make(chan struct{}), faultproxy.NewTally(1)
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Writes, faultproxy.Counted(tally, faultproxy.Hold(release))))
		return disturbance{full: tally.Full(), lift: func() { close(release) }, tally: tally}
	},
	"too many requests": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		c.operator.Proxy.Disturb(faultproxy.Times(2, tally, faultproxy.Refuse(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, 1)))
		return disturbance{tally: tally}
	},
	"internal errors": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(6)
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Writes, faultproxy.Counted(tally, faultproxy.Refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError, 0))))
		return disturbance{full: tally.Full(), tally: tally}
	},
	"unavailable": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(30)
		c.operator.Proxy.Disturb(faultproxy.Counted(tally, faultproxy.Refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, 0)))
		c.operator.Proxy.EndWatches()
		return disturbance{full: tally.Full(), tally: tally}
	},
	"conflicts": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		conflict := faultproxy.Refuse(http.StatusConflict, metav1.StatusReasonConflict, 0)
		updates, patches := faultproxy.Times(9, tally, conflict), faultproxy.Times(3, tally, conflict)
		c.operator.Proxy.Disturb(func(w http.ResponseWriter, r *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
			switch {
			case !call.Changes():
				forward(w, r)
			case call.Verb == "update" && call.Subresource == "": // more often than it is repeated at once
				updates(w, r, call, forward)
			default:
				patches(w, r, call, forward)
			}
		})
		return disturbance{tally: tally}
	},
	"watches end": func(_ *testing.T, c *cycle) disturbance {
		c.operator.Proxy.EndWatches()
		return disturbance{changed: func() { c.operator.Proxy.EndWatches() }}
	},
	"watches expire": func(_ *testing.T, c *cycle) disturbance {
		c.operator.Proxy.Disturb(expired(nil))
		c.operator.Proxy.EndWatches()
		return disturbance{}
	},
	"watches refused": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(40)
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Watches, faultproxy.Counted(tally, faultproxy.Refuse(http.StatusGone, metav1.StatusReasonExpired, 0))))
		c.operator.Proxy.EndWatches()
		return disturbance{full: tally.Full(), tally: tally}
	},
	"watches unanswered": func(_ *testing.T, c *cycle) disturbance {
		release, full := make(chan struct{}), make(chan struct{})
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Watches, faultproxy.Hold(release)))
		c.operator.Proxy.EndWatches()
		return disturbance{changed: func() { close(full) }, full: full, lift: func() { c.operator.Proxy.EndConnections(); close(release) }}
	},
	"watches have a limit": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Watches, faultproxy.Counted(tally, faultproxy.Within(time.Second))))
		c.operator.Proxy.EndWatches()
		return disturbance{tally: tally}
	},
	"bad gateway": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		c.operator.Proxy.Disturb(faultproxy.Times(2, tally, faultproxy.BadGateway))
		return disturbance{tally: tally}
	},
	"watches stall": func(_ *testing.T, c *cycle) disturbance {
		full := make(chan struct{})
		deliver := c.operator.Proxy.HoldWatches()
		return disturbance{changed: func() { close(full) }, full: full, lift: func() { c.operator.Proxy.EndConnections(); deliver() }}
	},
	"answers are cut": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		notWatch := func(call faultproxy.Call) bool { return call.Verb != "watch" }
		c.operator.Proxy.Disturb(faultproxy.Only(notWatch, faultproxy.Times(1, tally, faultproxy.Cut)))
		return disturbance{tally: tally}
	},
	"writes without answer": func(_ *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(0)
		c.operator.Proxy.Disturb(faultproxy.Only(faultproxy.Call.Writes, faultproxy.Times(1, tally, faultproxy.Unanswered)))
		return disturbance{tally: tally}
	},
	"lists are cut": func(_ *testing.T, c *cycle) disturbance {
		list := func(call faultproxy.Call) bool { return call.Verb == "list" }
		c.operator.Proxy.Disturb(expired(faultproxy.Only(list, faultproxy.Times(1, faultproxy.NewTally(0), faultproxy.Cut))))
		c.operator.Proxy.EndWatches()
		return disturbance{}
	},
	"quota":             quota,
	"webhook refuses":   webhookRefuses,
	"webhook annotates": webhookAnnotates,
	"webhook reverts":   webhookReverts,
	"no permissions": func(t *testing.T, c *cycle) disturbance {
		tally := faultproxy.NewTally(30)
		if err := c.environment.Kube.RbacV1().ClusterRoleBindings().Delete(t.Context(), c.namespace, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		c.operator.Proxy.Disturb(faultproxy.Forbidden(tally))
		c.operator.Proxy.EndWatches()
		return disturbance{full: tally.Full(), tally: tally, lift: func() { c.operator.Bind(t, c.environment) }}
	},
}

// expired refuses the first watch of each kind, and applies another fault to the other requests.
func expired(others faultproxy.Fault) faultproxy.Fault {
	gone := faultproxy.Times(1, faultproxy.NewTally(0), faultproxy.Refuse(http.StatusGone, metav1.StatusReasonExpired, 0))
	return func(w http.ResponseWriter, r *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
		switch {
		case call.Watches():
			gone(w, r, call, forward)
		case others != nil:
			others(w, r, call, forward)
		default:
			forward(w, r)
		}
	}
}

// quota refuses all new objects of the operator's kinds.
func quota(t *testing.T, c *cycle) disturbance {
	t.Helper()
	tally := faultproxy.NewTally(3)
	c.operator.Proxy.Disturb(faultproxy.Refused(tally))
	quotas := c.environment.Kube.CoreV1().ResourceQuotas(c.namespace)
	none := resource.MustParse("0")
	of := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
		"count/configmaps": none, "count/services": none, "count/statefulsets.apps": none,
	}}}
	if _, err := quotas.Create(t.Context(), of, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	trial.Await(t, "the quota is in force", func() error {
		_, err := c.environment.Kube.CoreV1().ConfigMaps(c.namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "probe"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("a ConfigMap would be accepted")
		}
		return nil
	})
	return disturbance{full: tally.Full(), tally: tally, lift: func() {
		if err := quotas.Delete(t.Context(), "none", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}}
}

// calm waits for an operator that runs and is idle, and begins to record for the next step.
func (c *cycle) calm(t *testing.T) {
	t.Helper()
	if c.operator.Died() != nil {
		c.operator.Restart(t)
	}
	c.operator.Idle(t)
	c.operator.Proxy.Reset()
	c.mirror.Begin()
}

// disturbed makes the next step under a fault.
func (c *cycle) disturbed(t *testing.T, name string) {
	t.Helper()
	c.calm(t)
	d := disturb[name](t, c)
	step := c.step(t)
	if d.changed != nil {
		d.changed()
	}
	ctx, cancel := context.WithTimeout(t.Context(), trial.Deadline)
	defer cancel()
	full := d.full
	if d.rests {
		c.operator.Idle(t)
		rested := make(chan struct{})
		close(rested)
		full = rested
	}
	if _, err := c.mirror.Reaches(ctx, c.reach[step].state, full); err != nil {
		t.Errorf("step %q, while the fault lasts: %v", c.Steps[step].Name, err)
		c.operator.Explain(t)
	}
	c.operator.Proxy.Disturb(nil)
	if d.lift != nil {
		d.lift()
	}
	a := allow{calls: c.starting(step) + c.doing(step), replacements: d.rests}
	if d.rests {
		c.touch(t)
		a.calls += c.starting(step)
	}
	if d.tally != nil {
		a.calls += 2 * d.tally.N()
	}
	c.recovers(t, step, a)
}

// touch changes all workloads and changes them back, so that they are compared with what they want.
func (c *cycle) touch(t *testing.T) {
	t.Helper()
	for _, value := range []string{"1", "null"} {
		for _, resource := range []string{"prometheuses", "alertmanagers", "thanosrulers"} {
			list, err := c.environment.Objects.Resource(trial.KindOf(t, resource)).Namespace(c.namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range list.Items {
				if w.GetDeletionTimestamp() == nil {
					c.environment.Patch(t, c.namespace, resource, w.GetName(), `{"spec":{"minReadySeconds":`+value+`}}`)
				}
			}
		}
		c.operator.Idle(t)
	}
}
