package startup

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// forbidding returns an API server that permits everything except denied, in the form "verb resource"
// or "verb resource in namespace x".
func forbidding(t *testing.T, denied ...string) *fake.Clientset {
	t.Helper()
	kube := fake.NewClientset()
	kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		asked := review.Spec.ResourceAttributes
		what := Permission{asked.Group, asked.Resource, asked.Verb, asked.Namespace}
		if asked.Subresource != "" {
			what.Resource += "/" + asked.Subresource
		}
		text := summary([]Permission{what})
		review.Status.Allowed = !slices.ContainsFunc(denied, func(d string) bool {
			// A permission that is denied in one namespace is denied in the whole cluster.
			return d == text || d == summary([]Permission{what.everywhere()}) || what.Namespace == "" && strings.HasPrefix(d, text+" in namespace ")
		})
		return true, review, nil
	})
	return kube
}

func scopesOf(t *testing.T, namespaces ...string) Scopes {
	t.Helper()
	in, err := informer.NewNamespaces(namespaces, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Scopes{Instances: in, Configs: in, References: in}
}

// A single warning lists the missing permissions and their consequences.
func TestCheckOptional(t *testing.T) {
	for name, tc := range map[string]struct {
		namespaces []string
		denied     []string
		want       []string // missing permissions as in the warning
	}{
		"everything is permitted":       {nil, nil, nil},
		"all namespaces":                {nil, []string{"list services", "watch services", "watch pods"}, []string{"list, watch services", "watch pods"}},
		"one of two namespaces":         {[]string{"a", "b"}, []string{"watch pods in namespace b"}, []string{"watch pods in namespace b"}},
		"two namespaces":                {[]string{"a", "b"}, []string{"patch pods"}, []string{"patch pods in namespaces a, b"}},
		"labels one by one":             {[]string{"a"}, []string{"list namespaces", "watch namespaces"}, []string{"list, watch namespaces"}},
		"no labels":                     {[]string{"a"}, []string{"list namespaces", "get namespaces"}, []string{"list namespaces", "get namespaces in namespace a"}},
		"get is not needed beside list": {[]string{"a"}, []string{"get namespaces"}, nil},
		"required for all namespaces":   {nil, []string{"list namespaces"}, nil}, // the controller does not start and logs it
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := New(forbidding(t, tc.denied...), scopesOf(t, tc.namespaces...), slog.New(slog.NewTextHandler(&log, nil)), NewMissing(slog.New(slog.DiscardHandler)))
			if err := s.CheckOptional(t.Context(), Optionals()); err != nil || len(s.missing) != len(tc.want) {
				t.Fatalf("%d are missing, want %d: %v", len(s.missing), len(tc.want), err)
			}
			lines := strings.Count(log.String(), "\n")
			if lines > 1 || lines != min(1, len(tc.want)) {
				t.Errorf("log:\n%s", &log)
			}
			for _, want := range tc.want {
				if !strings.Contains(log.String(), want+": ") {
					t.Errorf("not in the log: %q\n%s", want, &log)
				}
			}
		})
	}
}

// A controller reports in words which permissions it waits for.
func TestRequired(t *testing.T) {
	for name, tc := range map[string]struct {
		namespaces []string
		denied     []string
		barred     string // a namespace in which every call is denied
		want       string
	}{
		"all namespaces need their list": {nil, []string{"list namespaces", "watch namespaces"}, "", "no permission to list, watch namespaces"},
		"named namespaces do not":        {[]string{"a"}, []string{"list namespaces", "watch namespaces", "get namespaces"}, "", ""},
		"what is watched":                {[]string{"a", "b"}, []string{"list statefulsets in namespace b"}, "", "no permission to list statefulsets in namespace b"},
		"Secrets by name are enough":     {nil, []string{"list secrets", "watch secrets", "list configmaps", "watch configmaps"}, "", ""},
		"Secrets watched, some not read": {nil, []string{"get secrets", "get configmaps"}, "", ""},
		"Secrets watched in part":        {[]string{"a", "b"}, []string{"get secrets in namespace b", "watch secrets in namespace b"}, "", "no permission to get secrets in namespace b"},
		"Secrets not at all": {[]string{"a", "b"}, []string{"get secrets in namespace b", "list secrets in namespace b", "watch secrets in namespace b"},
			"", "no permission to get secrets in namespace b"},
		"Services by name are enough": {nil, []string{"list services", "watch services"}, "", ""},
		"Services not at all":         {nil, []string{"get services"}, "", "no permission to get services"},
		"pods by lists are enough":    {nil, []string{"watch pods", "get pods", "patch pods"}, "", ""},
		"a namespace without a Role": {[]string{"a", "b"}, []string{"list podmonitors in namespace b", "watch podmonitors in namespace b", "list probes in namespace b"},
			"", "no permission to list, watch podmonitors in namespace b; list probes in namespace b"},
		"a namespace that does not exist": {[]string{"a", "b"}, []string{"get services in namespace a"}, "b",
			"no permissions in namespace b (do the namespace, the Role and its RoleBinding exist?); no permission to get services in namespace a"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Controller("prometheus", resource("v1", "prometheuses"), monitors, scopesOf(t, tc.namespaces...), nil)
			if tc.barred != "" {
				more := Permissions("", "secrets", []string{tc.barred}, "list", "watch")
				more = append(more, Permissions("", "configmaps", []string{tc.barred}, "list", "watch")...)
				for _, a := range append(more, c.Permissions...) {
					if a.Namespace == tc.barred {
						tc.denied = append(tc.denied, summary([]Permission{a}))
					}
				}
			}
			missing, err := c.insufficient(t.Context(), server{Interface: forbidding(t, tc.denied...)})
			if err != nil {
				t.Fatal(err)
			}
			if got := lackOf(c.Permissions, missing).String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A component without alternatives needs exactly its permissions: list on Secrets does not replace get.
func TestNothingMakesUpForAPermission(t *testing.T) {
	c := Component{Permissions: Permissions("", "secrets", []string{"a"}, "get")}
	missing, err := c.insufficient(t.Context(), server{Interface: forbidding(t, "get secrets in namespace a")})
	if got, want := lackOf(c.Permissions, missing).String(), "no permissions in namespace a"; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

// A ClusterRole is checked once instead of each of many namespaces.
func TestDeniedSendsFewReviews(t *testing.T) {
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("ns%d", i))
	}
	kube := forbidding(t)
	needs := required(resource("v1", "prometheuses"), monitors, scopesOf(t, many...))
	missing, err := denied(t.Context(), server{Interface: kube}, needs)
	if err != nil || len(missing) > 0 {
		t.Fatal(missing, err)
	}
	if asked, most := len(kube.Actions()), len(needs)/len(many); asked > most {
		t.Errorf("%d questions, want at most %d", asked, most)
	}
}

// The table of docs/takeover.md lists the permissions that the operator checks.
func TestDocumentedPermissions(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "takeover.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Optionals() {
		group := p.Group
		if group == "" {
			group = "core"
		}
		row := fmt.Sprintf("| `%s` | `%s` | %s | %s |", group, p.Resource, strings.Join(p.Verbs, ", "), p.Cost)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/takeover.md lacks the row\n%s", row)
		}
	}
}
