package prometheus

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// watchedSecrets are the versions of Secrets.
type watchedSecrets map[string]string

func (w watchedSecrets) Version(ref assets.Ref) (string, bool) { return w[ref.Name], true }

// One monitor with many Secrets, which are new or have changed, does not have the others wait while they are read: it comes
// later, or keeps its last result.
func TestManySecretsOfOneMonitor(t *testing.T) {
	const n = 450
	s := newScene()
	kube, watched := fake.NewClientset(), watchedSecrets{}
	for i := range n {
		o := &corev1.Secret{Data: map[string][]byte{"k": []byte("x")}}
		o.Namespace, o.Name, o.ResourceVersion = "team", fmt.Sprint("s", i), "1"
		watched[o.Name] = "1"
		if err := kube.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	cache := assets.NewCache(kube, watched)
	servers, _ := Kinds(Options{Workload: benchConfig}, &rules.Cache{})
	gatherer := servers.Open(types.NamespacedName{})
	pass := func() (jobs map[string]int, postponed bool) {
		t.Helper()
		kube.ClearActions()
		var pace assets.Pace
		c := s.cluster()
		c.References, c.Paced, c.Current = cache.Reader(t.Context()), cache.Paced(t.Context(), &pace), cache.Current
		in, err := gatherer.Gather(s.p, c)
		if err != nil {
			t.Fatal(err)
		}
		jobs = map[string]int{}
		for v := range in.Results() {
			if v.Err != nil {
				t.Errorf("%s: %v", v.Object.GetName(), v.Err)
			}
			if m, is := v.Object.(*v1.ServiceMonitor); is {
				jobs[m.Name] = v.Jobs
			}
		}
		if reads := len(kube.Actions()); reads > n/2 {
			t.Errorf("%d reads in one reconciliation", reads)
		}
		return jobs, pace.Postponed() != ""
	}
	_, _ = pass()
	many, other := serviceMonitors(1)[0].DeepCopy(), serviceMonitors(1)[0].DeepCopy()
	many.Namespace, many.Name, many.UID, many.ResourceVersion = "team", "many", "many", "1"
	other.Namespace, other.Name, other.UID, other.ResourceVersion = "team", "other", "other", "1"
	many.Spec.Endpoints = nil
	for i := range n {
		e := v1.Endpoint{Port: "web"}
		e.BasicAuth = &v1.BasicAuth{Username: *secretKey(fmt.Sprint("s", i), "k"), Password: *secretKey(fmt.Sprint("s", i), "k")}
		many.Spec.Endpoints = append(many.Spec.Endpoints, e)
	}
	s.services = append(s.services, many, other)
	for i, want := range []map[string]int{{"app": 2, "other": 2}, {"app": 2, "other": 2}, {"app": 2, "many": n, "other": 2}} {
		if jobs, postponed := pass(); !maps.Equal(jobs, want) || postponed != (i < 2) {
			t.Errorf("pass %d: %v, postponed: %t", i, jobs, postponed)
		}
	}
	for _, name := range slices.Collect(maps.Keys(watched)) {
		watched[name] = "2" // the reads return the version 1, which is as good
	}
	if jobs, postponed := pass(); jobs["many"] != n || !postponed {
		t.Errorf("%v, postponed: %t", jobs, postponed)
	}
}
