package faultproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// api is an API server that remembers what it was asked, and answers with a word of ten letters. Watches send it once.
type api struct {
	mu    sync.Mutex
	asked []string
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.asked = append(a.asked, r.Method+" "+r.URL.Path)
	a.mu.Unlock()
	_, _ = io.WriteString(w, "abcdefghi\n")
	if r.URL.Query().Get("watch") != "" {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func (a *api) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func newProxy(t *testing.T) (*api, *Proxy, *http.Client) {
	t.Helper()
	a := &api{}
	upstream := httptest.NewTLSServer(a)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})
	p, err := New(upstream.URL, ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	t.Cleanup(func() {
		p.Close()
		client.CloseIdleConnections()
		upstream.CloseClientConnections()
		upstream.Close()
	})
	return a, p, client
}

func ask(client *http.Client, method, url, body string) (int, string, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

const configMaps = "/api/v1/namespaces/demo/configmaps"

func TestCalls(t *testing.T) {
	built, err := runtime.Encode(scheme.Codecs.EncoderForVersion(protobuf(t), corev1.SchemeGroupVersion), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "built"}})
	if err != nil {
		t.Fatal(err)
	}
	_, p, client := newProxy(t)
	for _, tc := range []struct {
		method, path, body, want string
		writes                   bool
	}{
		{"GET", configMaps, "", "list configmaps", false},
		{"GET", configMaps + "/a", "", "get configmaps a", false},
		{"POST", configMaps, `{"metadata": {"name": "a"}}`, "create configmaps a", true},
		{"POST", configMaps, string(built), "create configmaps built", true},
		{"POST", configMaps + "?dryRun=All", `{"metadata": {"name": "a"}}`, "create configmaps a", false},
		{"PUT", configMaps + "/a", "", "update configmaps a", true},
		{"DELETE", configMaps + "/a", "", "delete configmaps a", true},
		{"PATCH", "/apis/monitoring.coreos.com/v1/namespaces/demo/prometheuses/web/status", "", "patch prometheuses/status web", true},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}", "create selfsubjectaccessreviews", false},
		{"GET", "/version", "", "get /version", false},
	} {
		p.Reset()
		if code, text, err := ask(client, tc.method, p.URL()+tc.path, tc.body); code != http.StatusOK || text != "abcdefghi\n" {
			t.Errorf("%s: %d %q %v", tc.want, code, text, err)
		}
		counts := p.Counts()
		if got := counts.Strings(Any); !slices.Equal(got, []string{tc.want}) {
			t.Errorf("%q, want %q", got, tc.want)
		}
		if got := counts.Sum(Call.Writes) == 1; got != tc.writes {
			t.Errorf("%s: writes: %t", tc.want, got)
		}
	}
}

func protobuf(t *testing.T) runtime.Encoder {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	if !ok {
		t.Fatal("no protobuf")
	}
	return info.Serializer
}

func TestFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  Fault
		code   int
		text   string
		broken bool // the answer breaks off
		passed bool // the API server was asked
	}{
		"none":       {nil, 200, "abcdefghi\n", false, true},
		"slow":       {Slow(time.Millisecond), 200, "abcdefghi\n", false, true},
		"cut":        {Cut, 200, "abcde", true, true},
		"unanswered": {Unanswered, 0, "", true, true},
		"others":     {Only(func(c Call) bool { return c.Name == "b" }, Cut), 200, "abcdefghi\n", false, true},
		"refused":    {Refuse(409, metav1.StatusReasonConflict, 0), 409, `"reason":"Conflict"`, false, false},
		"gateway":    {BadGateway, 502, "<h1>502 Bad Gateway</h1>", false, false},
		"in time":    {Within(time.Minute), 200, "abcdefghi\n", false, true},
		"once":       {Times(0, NewTally(0), Cut), 200, "abcdefghi\n", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			a, p, client := newProxy(t)
			p.Disturb(tc.fault)
			code, text, err := ask(client, "PUT", p.URL()+configMaps+"/a", "")
			if code != tc.code || !strings.Contains(text, tc.text) || (err != nil) != tc.broken {
				t.Errorf("%d %q %v", code, text, err)
			}
			if passed := len(a.all()) == 1; passed != tc.passed {
				t.Errorf("asked %q", a.all())
			}
		})
	}
}

// After a kill, nothing reaches the API server.
func TestKill(t *testing.T) {
	for _, after := range []bool{false, true} {
		a, p, client := newProxy(t)
		ctx, die := context.WithCancel(t.Context())
		fault, reached := Kill(Point{Call: Call{Verb: "update", Resource: "configmaps", Namespace: "demo", Name: "a"}, Nth: 2, After: after}, die)
		p.Disturb(fault)
		put := func(name string) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodPut, p.URL()+configMaps+"/"+name, nil)
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err == nil {
				response.Body.Close()
			}
			return err
		}
		for _, name := range []string{"a", "b"} {
			if err := put(name); err != nil {
				t.Error(err)
			}
		}
		if err := put("a"); err == nil {
			t.Error("a dead client got an answer")
		}
		<-reached
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		ctx = short
		if err := put("c"); err == nil {
			t.Error("a dead client got an answer")
		}
		want := []string{"PUT " + configMaps + "/a", "PUT " + configMaps + "/b"}
		if after {
			want = append(want, "PUT "+configMaps+"/a")
		}
		if got := a.all(); !slices.Equal(got, want) {
			t.Errorf("after %t: asked %q, want %q", after, got, want)
		}
	}
}

func TestWatches(t *testing.T) {
	_, p, client := newProxy(t)
	watch := func() *http.Response {
		t.Helper()
		response, err := client.Get(p.URL() + configMaps + "?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	open := bufio.NewReader(watch().Body)
	if line, err := open.ReadString('\n'); line != "abcdefghi\n" {
		t.Errorf("%q, %v", line, err)
	}
	if n := p.EndWatches(); n != 1 {
		t.Errorf("%d watches", n)
	}
	if _, err := open.ReadString('\n'); err == nil {
		t.Error("a watch that ended goes on")
	}
	p.Disturb(Only(Call.Watches, Within(time.Millisecond)))
	if response, err := client.Get(p.URL() + configMaps + "?watch=true"); err == nil { // or it ends before its header
		limited := bufio.NewReader(response.Body)
		_, _ = limited.ReadString('\n')
		if _, err := limited.ReadString('\n'); err == nil {
			t.Error("a watch with a limit goes on")
		}
		response.Body.Close()
	}
	p.Disturb(nil)
	release := p.HoldWatches()
	held := watch()
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(held.Body).ReadString('\n')
		lines <- line
	}()
	select {
	case line := <-lines:
		t.Errorf("a watch that is held delivers %q", line)
	case <-time.After(50 * time.Millisecond):
	}
	release()
	if line := <-lines; line != "abcdefghi\n" {
		t.Errorf("after the release: %q", line)
	}
	if err := p.Quiet(t.Context()); err != nil {
		t.Error(err)
	}
}
