package prometheus

import (
	"maps"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// jobsOf returns the number of jobs of each ServiceMonitor, none of which may be rejected.
func jobsOf(t *testing.T, in *Inputs) map[string]int {
	t.Helper()
	out := map[string]int{}
	for v := range in.Results() {
		if v.Err != nil {
			t.Errorf("%s: %v", v.Object.GetName(), v.Err)
		}
		if m, is := v.Object.(*v1.ServiceMonitor); is {
			out[m.Name] = v.Jobs
		}
	}
	return out
}

// One monitor with many Secrets, which are new or have changed, does not have the others wait while they are read: it comes
// later, or keeps its last result.
func TestManySecretsOfOneMonitor(t *testing.T) {
	names := numbered("s", 450)
	n := len(names)
	s := newPacedScene(t)
	for _, name := range names {
		s.secret("team", name, "1", map[string][]byte{"k": []byte("x")})
	}
	reconcile := s.open()
	pass := func() (map[string]int, bool) {
		t.Helper()
		s.kube.ClearActions()
		in, postponed := reconcile()
		if reads := len(s.kube.Actions()); reads > n/2 {
			t.Errorf("%d reads in one reconciliation", reads)
		}
		return jobsOf(t, in), postponed
	}
	_, _ = pass()
	other := serviceMonitors(1)[0].DeepCopy()
	other.Namespace, other.Name, other.UID, other.ResourceVersion = "team", "other", "other", "1"
	s.services = append(s.services, monitorOfSecrets("team", "many", names), other)
	for i, want := range []map[string]int{{"app": 2, "other": 2}, {"app": 2, "other": 2}, {"app": 2, "many": n, "other": 2}} {
		if jobs, postponed := pass(); !maps.Equal(jobs, want) || postponed != (i < 2) {
			t.Errorf("pass %d: %v, postponed: %t", i, jobs, postponed)
		}
	}
	for _, name := range names {
		s.watched[name] = "2" // the reads return the version 1, which is as good
	}
	if jobs, postponed := pass(); jobs["many"] != n || !postponed {
		t.Errorf("%v, postponed: %t", jobs, postponed)
	}
}

// A monitor whose Secrets do not fit into the room for their contents is compiled in the end: what was read for it in one
// reconciliation is not read again in the next one.
func TestManySecretsThatAreNotKept(t *testing.T) {
	names := numbered("s", 450)
	s := newPacedScene(t)
	s.cache = s.cache.Within(6 << 20)
	for _, name := range names {
		s.secret("team", name, "1", map[string][]byte{"k": []byte("x"), "large": make([]byte, 40_000)})
	}
	pass := s.open()
	_, _ = pass()
	s.services = append(s.services, monitorOfSecrets("team", "many", names))
	for range 40 {
		if in, postponed := pass(); jobsOf(t, in)["many"] == len(names) && !postponed {
			return
		}
	}
	t.Error("it is never compiled")
}
