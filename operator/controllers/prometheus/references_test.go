package prometheus

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// asked records the references that are read, like the engine.
type asked struct {
	assets.Reader
	refs map[assets.Ref]bool
}

func (a asked) Object(ref assets.Ref) (assets.Object, error) {
	a.refs[ref] = true
	return a.Reader.Object(ref)
}

func (a asked) current(deps []assets.Dependency) bool {
	for _, d := range deps {
		a.refs[d.Ref] = true
	}
	return true
}

func (s *scene) withPassword() {
	s.services[0].Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{Username: *secretKey("login", "user"), Password: *secretKey("login", "user")}
}

// Every reconciliation reads all of its references, even those of cached fragments
// compiled for this or another workload, so that a watch event for a reference leads to
// the workload.
func TestReferencesAreReadInEveryReconciliation(t *testing.T) {
	login := assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "login"}
	gone := assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "gone"}
	for name, tc := range map[string]struct {
		change func(*scene)
		want   assets.Ref
		fails  bool
	}{
		"of a monitor": {(*scene).withPassword, login, false},
		"of a missing Secret": {func(s *scene) {
			s.withPassword()
			s.services[0].Spec.Endpoints[0].BasicAuth.Username.Name = "gone"
		}, gone, false},
		"of the Prometheus":          {func(s *scene) { s.p.Spec.AdditionalScrapeConfigs = secretKey("login", "jobs") }, login, false},
		"of what pods mount":         {func(s *scene) { s.p.Spec.Secrets = []string{"login"} }, login, false},
		"of what pods will mount":    {func(s *scene) { s.p.Spec.Secrets = []string{"gone"} }, gone, false},
		"of a Prometheus that fails": {func(s *scene) { s.p.Spec.AdditionalScrapeConfigs = secretKey("login", "missing") }, login, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.references.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "login"}, Data: map[string][]byte{
				"user": []byte("ada"), "jobs": []byte("- job_name: mine"),
			}})
			tc.change(s)
			servers, _ := Kinds(Options{Workload: benchConfig}, &rules.Cache{})
			gatherers := map[string]engine.Gatherer{}
			for _, owner := range []string{"first", "first", "second"} { // the second workload uses the fragments of the first
				if gatherers[owner] == nil {
					gatherers[owner] = servers.Open(types.NamespacedName{Namespace: "team", Name: owner})
				}
				note := asked{&s.references, map[assets.Ref]bool{}}
				cluster := s.cluster()
				cluster.References, cluster.Current = note, note.current
				s.p.Name = owner
				in, err := gatherers[owner].Gather(s.p, cluster)
				if (err != nil) != tc.fails || !note.refs[tc.want] {
					t.Errorf("%s: asked for %v, %v", owner, note.refs, err)
				}
				if !tc.fails && !slices.Contains(slices.Collect(in.References()), tc.want) {
					t.Errorf("%s: references %v", owner, slices.Collect(in.References()))
				}
			}
		})
	}
}

// Pods are notified when a mounted Secret changes, which makes the kubelet refresh it. A
// missing Secret blocks nothing, even if the user manages the configuration.
func TestMountedSecretsReachPodsAtOnce(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"generated": func(*scene) {},
		"unmanaged": func(s *scene) { s.p.Spec.CommonPrometheusFields = v1.CommonPrometheusFields{} },
	} {
		s := newScene()
		change(s)
		s.p.Spec.Secrets = []string{"login"}
		hash := func(password string) string {
			t.Helper()
			if password != "" {
				s.references.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "login"}, Data: map[string][]byte{"password": []byte(password)}})
			}
			in, err := s.gather()
			if err != nil {
				t.Fatal(err)
			}
			plan, err := in.Plan()
			missing := slices.Contains(faults.Texts(plan.Warnings), `spec.secrets[0]: Secret "team/login" does not exist`)
			if err != nil || missing != (password == "") {
				t.Errorf("%s: warnings %q, %v", name, plan.Warnings, err)
			}
			return plan.Hash
		}
		none, first, again, second := hash(""), hash("one"), hash("one"), hash("two")
		if none == first || first != again || first == second {
			t.Errorf("%s: hashes %q", name, []string{none, first, again, second})
		}
	}
}

// An object with a forbidden or invalid reference is rejected without affecting the
// others.
func TestUnreadableReferences(t *testing.T) {
	forbidden := apierrors.NewForbidden(corev1.Resource("secrets"), "login", fmt.Errorf("no access"))
	for name, tc := range map[string]struct {
		secret, want string
	}{
		"no permission":      {"login", `spec.endpoints[0].basicAuth.username.name: Secret "tenant/login" cannot be read: no permission to get secrets in namespace "tenant"`},
		"a path":             {"a/b", `spec.endpoints[0].basicAuth.username.name: "a/b" is not a valid name of a Secret`},
		"the parent folder":  {"..", `spec.endpoints[0].basicAuth.username.name: ".." is not a valid name of a Secret`},
		"a per cent sign":    {"50%", `spec.endpoints[0].basicAuth.username.name: "50%" is not a valid name of a Secret`},
		"upper case letters": {"Login", `spec.endpoints[0].basicAuth.username.name: "Login" is not a valid name of a Secret`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.p.Spec.ServiceMonitorNamespaceSelector = &metav1.LabelSelector{}
			bad := s.services[0].DeepCopy()
			bad.Namespace, bad.Name = "tenant", "bad"
			bad.Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{Username: *secretKey(tc.secret, "user"), Password: *secretKey(tc.secret, "user")}
			s.services = append(s.services, bad)
			s.reader = refusing{forbidden}
			in, err := s.gather()
			if err != nil {
				t.Fatalf("one object stops all: %v", err)
			}
			for m := range in.Monitors.All() {
				if text := fmt.Sprint(m.Err); m.Object.GetName() == "bad" && !strings.HasPrefix(text, tc.want) || m.Object.GetName() != "bad" && m.Err != nil {
					t.Errorf("%s: %s", m.Object.GetName(), text)
				}
			}
			if got := in.counts()[v1.ServiceMonitorKind]; got.Selected != 2 || got.Rejected != 1 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// refusing is an API server that fails all requests.
type refusing struct{ err error }

func (r refusing) Object(assets.Ref) (assets.Object, error) { return assets.Object{}, r.err }
