package prometheus

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// A monitor whose Secrets do not fit into the room for their contents is compiled in the end: what was read for it in one
// reconciliation is not read again in the next one.
func TestManySecretsThatAreNotKept(t *testing.T) {
	const n = 450
	s := newScene()
	kube, watched := fake.NewClientset(), watchedSecrets{}
	for i := range n {
		o := &corev1.Secret{Data: map[string][]byte{"k": []byte("x"), "large": make([]byte, 40_000)}}
		o.Namespace, o.Name, o.ResourceVersion = "team", fmt.Sprint("s", i), "1"
		watched[o.Name] = "1"
		if err := kube.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	cache := assets.NewCache(kube, watched).Within(6 << 20)
	servers, _ := Kinds(Options{Workload: benchConfig}, &rules.Cache{})
	gatherer := servers.Open(types.NamespacedName{})
	var pace assets.Pace
	pass := func() (jobs int, postponed bool) {
		kube.ClearActions()
		pace.Begin()
		c := s.cluster()
		c.References, c.Paced, c.Current = cache.Reader(t.Context()), cache.Paced(t.Context(), &pace), cache.Current
		in, err := gatherer.Gather(s.p, c)
		if err != nil {
			t.Fatal(err)
		}
		for v := range in.Results() {
			if v.Err != nil {
				t.Errorf("%s: %v", v.Object.GetName(), v.Err)
			}
			if m, is := v.Object.(*v1.ServiceMonitor); is && m.Name == "many" {
				jobs = v.Jobs
			}
		}
		return jobs, pace.Postponed() != ""
	}
	_, _ = pass()
	many := serviceMonitors(1)[0].DeepCopy()
	many.Namespace, many.Name, many.UID, many.ResourceVersion = "team", "many", "many", "1"
	many.Spec.Endpoints = nil
	for i := range n {
		e := v1.Endpoint{Port: "web"}
		e.BasicAuth = &v1.BasicAuth{Username: *secretKey(fmt.Sprint("s", i), "k"), Password: *secretKey(fmt.Sprint("s", i), "k")}
		many.Spec.Endpoints = append(many.Spec.Endpoints, e)
	}
	s.services = append(s.services, many)
	for range 40 {
		jobs, postponed := pass()
		if jobs == n && !postponed {
			return
		}
	}
	t.Error("it is never compiled")
}
