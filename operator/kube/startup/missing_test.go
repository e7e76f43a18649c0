package startup

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// lacking returns the series of a Missing, for example "get secrets a".
func lacking(t *testing.T, m *Missing) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(m)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range families {
		for _, s := range f.Metric {
			of := map[string]string{}
			for _, l := range s.Label {
				of[l.GetName()] = l.GetValue()
			}
			if s.GetGauge().GetValue() != 1 {
				t.Errorf("%v is %v", of, s.GetGauge().GetValue())
			}
			out = append(out, strings.Join(strings.Fields(of["verb"]+" "+of["group"]+" "+of["resource"]+" "+of["namespace"]), " "))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// answering is an API server that always returns the same response.
type answering struct {
	code int
	text string
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.code, Body: io.NopCloser(strings.NewReader(a.text))}, nil
}

// A call that the authorizer has forbidden is recorded with its verb, resource and
// namespace, and the client gets the complete response. Other rejections are not
// recorded.
func TestRefusedCalls(t *testing.T) {
	const user = `User \"system:serviceaccount:firekeeper:operator\"`
	status := func(message string) string {
		return `{"kind":"Status","status":"Failure","message":"` + message + `","reason":"Forbidden","code":403}`
	}
	for name, tc := range map[string]struct {
		code int
		text string
		want string
	}{
		"get":          {403, status(`secrets \"login\" is forbidden: ` + user + ` cannot get resource \"secrets\" in API group \"\" in the namespace \"team\"`), "get secrets team"},
		"list":         {403, status(`pods is forbidden: ` + user + ` cannot list resource \"pods\" in API group \"\" at the cluster scope`), "list pods"},
		"subresource":  {403, status(`prometheuses.monitoring.coreos.com \"web\" is forbidden: ` + user + ` cannot patch resource \"prometheuses/status\" in API group \"monitoring.coreos.com\" in the namespace \"a\"`), "patch monitoring.coreos.com prometheuses/status a"},
		"protobuf":     {403, "k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12\xff\n\x00\x12\x07Failure\x1a\xe0secrets \"web\" is forbidden: User \"x\" cannot create resource \"secrets\" in API group \"\" in the namespace \"team\"\"\tForbidden", "create secrets team"},
		"quota":        {403, status(`secrets \"login\" is forbidden: exceeded quota: small`), ""},
		"another code": {409, status(`secrets \"login\" is forbidden: ` + user + ` cannot get resource \"secrets\" in API group \"\" in the namespace \"team\"`), ""},
		"large":        {403, strings.Repeat("x", 2*maxStatus), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			m := NewMissing(slog.New(slog.NewTextHandler(&log, nil)))
			for range 3 {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/", nil)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := m.Watch(answering{tc.code, tc.text}).RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(resp.Body)
				if err != nil || string(got) != tc.text || resp.Body.Close() != nil {
					t.Errorf("the answer has %d bytes of %d, %v", len(got), len(tc.text), err)
				}
			}
			if got := lacking(t, m); got != tc.want {
				t.Errorf("missing %q, want %q", got, tc.want)
			}
			if n := strings.Count(log.String(), "a call was refused"); n != min(1, len(tc.want)) || strings.Contains(log.String(), "login") {
				t.Errorf("log:\n%s", &log)
			}
		})
	}
}

// The permission of a forbidden call is checked again, for the object of that call, and
// disappears once it is granted.
func TestMissingIsCheckedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		var mu sync.Mutex // guards the variables of the reactor and the observer
		granted := ""
		asked := 0
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			mu.Lock()
			defer mu.Unlock()
			asked++
			about := review.Spec.ResourceAttributes
			review.Status.Allowed = about.Namespace+"/"+about.Name == granted
			return true, review, nil
		})
		var log logtest.Log
		m := NewMissing(slog.New(slog.NewTextHandler(&log, nil)))
		var told []Permission
		m.OnGrant(func(p Permission) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, p)
		})
		locked := func(do func()) {
			mu.Lock()
			defer mu.Unlock()
			do()
		}
		get := Permission{Resource: "secrets", Verb: "get", Namespace: "a"}
		m.note(get, "login")
		m.set("somebody", []Permission{{Resource: "pods", Verb: "watch"}})
		m.note(Permission{Resource: "pods", Verb: "watch", Namespace: "b"}, "") // already covered by the cluster-wide permission
		go m.Run(t.Context(), kube)
		time.Sleep(refusedPeriod + time.Second)
		locked(func() {
			if got := lacking(t, m); got != "get secrets a, watch pods" || asked != 1 {
				t.Errorf("missing %q after %d questions", got, asked)
			}
			granted = "a/login"
		})
		time.Sleep(refusedPeriod)
		locked(func() {
			if got := lacking(t, m); got != "watch pods" || !slices.Equal(told, []Permission{get}) {
				t.Errorf("missing %q, told %v", got, told)
			}
		})
		m.set("somebody", nil)
		if got := lacking(t, m); got != "" {
			t.Errorf("missing %q", got)
		}
		synctest.Wait()
		if got := log.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "permission granted") {
			t.Errorf("log:\n%s", got)
		}
		// Many permissions are checked in turn, and their number is limited.
		for i := range 2 * maxRefused {
			m.note(Permission{Resource: "secrets", Verb: "get", Namespace: fmt.Sprint("n", i)}, "x")
		}
		locked(func() { asked = 0 })
		time.Sleep(10 * refusedPeriod)
		locked(func() {
			if asked != 10*perCheck || strings.Count(lacking(t, m), ",") != maxRefused-1 {
				t.Errorf("%d questions, %d missing", asked, strings.Count(lacking(t, m), ",")+1)
			}
		})
	})
}

// Missing permissions of components and optional ones are reported until they are
// granted.
func TestMissingOfComponents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		denied := []string{"watch pods", "patch pods", "list prometheuses"} // guarded by mu
		kube := fake.NewClientset()
		kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
			review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			about := review.Spec.ResourceAttributes
			mu.Lock()
			defer mu.Unlock()
			review.Status.Allowed = !slices.Contains(denied, about.Verb+" "+about.Resource)
			return true, review, nil
		})
		serve(kube, "v1", "prometheuses")
		m := NewMissing(slog.New(slog.DiscardHandler))
		s := New(kube, scopesOf(t), slog.New(slog.DiscardHandler), m)
		if err := s.CheckOptional(t.Context(), Optionals()); err != nil {
			t.Fatal(err)
		}
		start := func() error { return nil }
		s.WhenGranted(PatchPods, "instant delivery", start)
		if _, err := s.Check(t.Context(), Controller("prometheus", resource("v1", "prometheuses"), nil, scopesOf(t), start)); err != nil {
			t.Fatal(err)
		}
		if got := lacking(t, m); got != "list monitoring.coreos.com prometheuses, patch pods, watch pods" {
			t.Errorf("missing %q", got)
		}
		go s.Await(t.Context(), func(start func() error) { _ = start() })
		go s.Recheck(t.Context())
		mu.Lock()
		denied = denied[:1]
		mu.Unlock()
		time.Sleep(2 * permissionPeriod)
		if got := lacking(t, m); got != "watch pods" {
			t.Errorf("missing %q", got)
		}
		mu.Lock()
		denied = nil
		mu.Unlock()
		time.Sleep(optionalPeriod)
		if got := lacking(t, m); got != "" {
			t.Errorf("missing %q", got)
		}
	})
}
