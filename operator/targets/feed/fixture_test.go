package feed

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// cluster has pods and tokens.
type cluster struct {
	mu       sync.Mutex
	pods     map[types.NamespacedName]*corev1.Pod
	tokens   map[string]token
	reviewed atomic.Int32
	broken   error
}

// token is the result of a TokenReview.
type token struct {
	username, pod string
	uid           types.UID
	audience      string
}

// AuthenticateToken implements authenticator.Token like an API server: without a common audience a
// token is not valid.
func (c *cluster) AuthenticateToken(ctx context.Context, text string) (*authenticator.Response, bool, error) {
	c.reviewed.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil, false, c.broken
	}
	wanted, limited := authenticator.AudiencesFrom(ctx)
	of, known := c.tokens[text]
	common := wanted.Intersect(authenticator.Audiences{of.audience})
	if !known || !limited || len(common) == 0 {
		return nil, false, nil
	}
	extra := map[string][]string{}
	if of.pod != "" {
		extra["authentication.kubernetes.io/pod-name"] = []string{of.pod}
		extra["authentication.kubernetes.io/pod-uid"] = []string{string(of.uid)}
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: of.username, Extra: extra}, Audiences: common}, true, nil
}

// change changes it while it is used.
func (c *cluster) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// Pod implements Pods.
func (c *cluster) Pod(_ context.Context, key types.NamespacedName) (*corev1.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.pods[key]; p != nil {
		return p, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, key.Name)
}

// run adds a pod of a StatefulSet with a token for it.
func (c *cluster) run(namespace, set, account string) (text string) {
	name := types.NamespacedName{Namespace: namespace, Name: set + "-0"}
	uid := types.UID("uid of " + name.String())
	c.pods[name] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name.Name, UID: uid, Labels: map[string]string{"operator.prometheus.io/name": "k8s", "operator.prometheus.io/shard": "0"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet", Name: set, Controller: new(true)}},
	}}
	text = "token of " + name.String()
	c.tokens[text] = token{"system:serviceaccount:" + namespace + ":" + account, name.Name, uid, Audience}
	return text
}

// served is a server with the lists of two shards.
type served struct {
	*Server
	*cluster
	url   string
	shard [2]string // tokens of pods
}

func serve(t *testing.T) *served {
	t.Helper()
	c := &cluster{pods: map[types.NamespacedName]*corev1.Pod{}, tokens: map[string]token{}}
	s := &served{Server: &Server{Feed: New(), Identity: Identity{c, c}, Log: slog.New(slog.DiscardHandler)}, cluster: c}
	s.shard[0], s.shard[1] = c.run("monitoring", "prometheus-k8s", "prometheus"), c.run("monitoring", "prometheus-k8s-shard-1", "prometheus")
	shard1 := shard0
	shard1.Number = 1
	s.Feed.SetOwners(map[types.NamespacedName]Owner{
		{Namespace: "monitoring", Name: "prometheus-k8s"}:         {Shard: shard0, ServiceAccount: "prometheus"},
		{Namespace: "monitoring", Name: "prometheus-k8s-shard-1"}: {Shard: shard1, ServiceAccount: "prometheus"},
		{Namespace: "monitoring", Name: "prometheus-own"}: {Refused: "annotation firekeeper.dev/target-discovery is own",
			Shard: Shard{Workload: catalog.Ref{Kind: "Prometheus", Namespace: "monitoring", Name: "own"}}},
	})
	retired := shard0
	retired.Number = Retired
	for of, job := range map[Shard]Change{shard0: jobOf("zero", 3), shard1: jobOf("one", 2), retired: {Job: "zero", Line: EmptyLine("zero")}} {
		s.Feed.Apply(time.Now(), of, []Change{job})
	}
	s.Feed.Lead(7)
	mux := http.NewServeMux()
	s.Register(mux)
	srv := httptest.NewServer(mux)
	s.url = srv.URL
	t.Cleanup(func() {
		s.Feed.Lead(0) // ends the streams
		srv.CloseClientConnections()
		srv.Close()
	})
	return s
}

// get starts a stream. The body is closed at the end of the test.
func (s *served) get(t testing.TB, token, have string) *http.Response {
	t.Helper()
	return s.send(t, http.MethodGet, Path+"?have="+have, token, nil)
}

// send sends a request with a token. The body of the response is closed at the end of the test.
func (s *served) send(t testing.TB, method, path, token string, body io.Reader) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// forget forgets failed identifications.
func (s *served) forget() {
	s.reviews.mu.Lock()
	defer s.reviews.mu.Unlock()
	clear(s.reviews.from)
}

// refused returns status and text of a refused request.
func (s *served) refused(t testing.TB, token string) (code int, text string) {
	t.Helper()
	response := s.get(t, token, "")
	if response.StatusCode == http.StatusOK {
		return response.StatusCode, ""
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

// follow reads a stream until it has made steps.
func (c *follower) follow(t testing.TB, lines *bufio.Reader, steps int) {
	t.Helper()
	for steps > 0 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if c.line(t, line) {
			steps--
		}
	}
}
