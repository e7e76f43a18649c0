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

// watchedSecrets are the versions of Secrets.
type watchedSecrets map[string]string

func (w watchedSecrets) Version(ref assets.Ref) (string, bool) { return w[ref.Name], true }

// pacedScene is a scene whose references are read from an API server, each namespace with its own pace.
type pacedScene struct {
	*scene
	t       *testing.T
	kube    *fake.Clientset
	watched watchedSecrets
	cache   *assets.Cache
}

func newPacedScene(t *testing.T) *pacedScene {
	s := &pacedScene{scene: newScene(), t: t, kube: fake.NewClientset(), watched: watchedSecrets{}}
	s.cache = assets.NewCache(s.kube, s.watched)
	return s
}

// secret creates a Secret, or replaces it.
func (s *pacedScene) secret(namespace, name, version string, data map[string][]byte) {
	s.t.Helper()
	s.deleteSecret(namespace, name)
	o := &corev1.Secret{Data: data}
	o.Namespace, o.Name, o.ResourceVersion = namespace, name, version
	if err := s.kube.Tracker().Add(o); err != nil {
		s.t.Fatal(err)
	}
	s.watched[name] = version
}

func (s *pacedScene) deleteSecret(namespace, name string) {
	_ = s.kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), namespace, name)
	delete(s.watched, name)
}

// open returns a function that gathers the inputs of the Prometheus, as reconciliations of one workload do, and reports
// whether some of it was postponed.
func (s *pacedScene) open() func() (in *Inputs, postponed bool) {
	servers, _ := Kinds(Options{Workload: benchConfig}, &rules.Cache{})
	gatherer, pace := servers.Open(types.NamespacedName{}), &assets.Pace{}
	return func() (*Inputs, bool) {
		s.t.Helper()
		pace.Begin()
		c := s.cluster()
		c.References, c.Paced, c.Current = s.cache.Reader(s.t.Context()), s.cache.Paced(s.t.Context(), pace), s.cache.Current
		in, err := gatherer.Gather(s.p, c)
		if err != nil {
			s.t.Fatal(err)
		}
		return in.(*Inputs), pace.Postponed() != ""
	}
}

// monitorOfSecrets returns a monitor with an endpoint for each of the named Secrets, which has its credentials.
func monitorOfSecrets(namespace, name string, secrets []string) *v1.ServiceMonitor {
	m := serviceMonitors(1)[0].DeepCopy()
	m.Namespace, m.Name, m.UID, m.ResourceVersion = namespace, name, types.UID(name), "1"
	m.Spec.Endpoints = nil
	for _, secret := range secrets {
		e := v1.Endpoint{Port: "web"}
		e.BasicAuth = &v1.BasicAuth{Username: *secretKey(secret, "k"), Password: *secretKey(secret, "k")}
		m.Spec.Endpoints = append(m.Spec.Endpoints, e)
	}
	return m
}

// numbered returns prefix0, prefix1 and so on.
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(prefix, i)
	}
	return out
}
