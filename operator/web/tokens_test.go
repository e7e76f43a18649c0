package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// tokens is an API server with known tokens and slow responses.
type tokens struct {
	mu    sync.Mutex
	known map[string]bool
	down  bool
	asked int
}

// AuthenticateToken implements [authenticator.Token].
func (k *tokens) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	time.Sleep(100 * time.Millisecond)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	if k.down {
		return nil, false, apierrors.NewServiceUnavailable("down")
	}
	if !k.known[token] {
		return nil, false, nil
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, true, nil
}

func (k *tokens) answers(yes bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down = !yes
}

func (k *tokens) set(token string, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[token] = known
}

func from(t *testing.T, address string) context.Context {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = address + ":1"
	return withAddress(r)
}

// TestAFloodOfTokens: clients that send many invalid tokens are rejected; a user at another address
// is not, even with a new token each time.
func TestAFloodOfTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &tokens{known: map[string]bool{}}
		for i := range 50 {
			server.known[fmt.Sprint("person ", i)] = true
		}
		all := newReviewLimit(server, newTokensAtATime)
		ctx, stop := context.WithCancel(t.Context())
		var flood sync.WaitGroup
		refused := 0
		var mu sync.Mutex
		for i := range 30 {
			flood.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					_, _, err := all.AuthenticateToken(from(t, fmt.Sprint("10.0.0.", i%2)), fmt.Sprint("wrong ", i, " ", n))
					if apierrors.IsTooManyRequests(err) {
						mu.Lock()
						refused++
						mu.Unlock()
						time.Sleep(10 * time.Millisecond)
					}
				}
			})
		}
		time.Sleep(time.Second)
		for i := range 50 {
			began := time.Now()
			if _, ok, err := all.AuthenticateToken(from(t, "10.9.9.9"), fmt.Sprint("person ", i)); !ok || err != nil || time.Since(began) > tokenWait {
				t.Errorf("request %d: %t %v after %s", i, ok, err, time.Since(began))
			}
		}
		stop()
		flood.Wait()
		if refused == 0 {
			t.Error("nobody was refused, which shows nothing")
		}
		if len(all.lanes.of) != 0 || all.lanes.isIn != 0 {
			t.Errorf("%d addresses are remembered, %d wait", len(all.lanes.of), all.lanes.isIn)
		}
	})
}

// TestTokensAreRemembered: a cached token is reviewed in the background without delaying requests.
// A revoked token is rejected soon; a failed review does not invalidate a token.
func TestTokensAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &tokens{known: map[string]bool{"person": true}}
		all := newTokenCache(server)
		ask := func(token string) (ok bool, took time.Duration, err error) {
			began := time.Now()
			_, ok, err = all.AuthenticateToken(t.Context(), token)
			synctest.Wait()
			return ok, time.Since(began), err
		}
		for i := range 200 { // every second
			ok, took, err := ask("person")
			if !ok || err != nil || i > 0 && took > 0 {
				t.Fatalf("request %d: %t %v after %s", i, ok, err, took)
			}
			time.Sleep(time.Second)
		}
		if server.asked > 21 {
			t.Errorf("the API server was asked %d times in 200 s", server.asked)
		}
		server.answers(false)
		time.Sleep(allowedFor)
		for range 3 {
			if ok, _, err := ask("person"); !ok || err != nil {
				t.Errorf("while nobody answers: %t %v", ok, err)
			}
			time.Sleep(time.Second)
		}
		server.answers(true)
		server.set("person", false)
		time.Sleep(allowedFor)
		if _, _, err := ask("person"); err != nil { // the review runs in the background
			t.Error(err)
		}
		time.Sleep(time.Second)
		if ok, _, _ := ask("person"); ok {
			t.Error("a token that was revoked is valid")
		}
		if ok, _, err := ask("nobody"); ok || errors.Is(err, context.Canceled) {
			t.Errorf("%t %v", ok, err)
		}
	})
}

// TestTokensAreBounded: many valid tokens of one client do not use unbounded memory.
func TestTokensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &tokens{known: map[string]bool{}}
		all := newTokenCache(server)
		for i := range maxTokens + 50 {
			token := fmt.Sprint(i)
			server.known[token] = true
			if _, ok, err := all.AuthenticateToken(t.Context(), token); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
		if len(all.known) != maxTokens {
			t.Errorf("%d tokens are remembered", len(all.known))
		}
	})
}

// TestProfiles: profiles require a token if the API does, except from the machine itself.
func TestProfiles(t *testing.T) {
	for _, tc := range []struct {
		mode, address, header string
		code                  int
	}{
		{Authenticated, "10.0.0.1:1", "", http.StatusUnauthorized},
		{Authenticated, "127.0.0.1:1", "", http.StatusOK},
		{Authenticated, "127.0.0.1:1", "Accept", http.StatusOK},
		{Authenticated, "127.0.0.6:1", "X-Forwarded-Proto", http.StatusUnauthorized}, // Istio
		{Authenticated, "127.0.0.1:1", "l5d-client-id", http.StatusUnauthorized},
		{Authenticated, "127.0.0.1:1", "forwarded", http.StatusUnauthorized},
		{Authenticated, "[::1]:1", "", http.StatusOK},
		{Authenticated, "nonsense", "", http.StatusUnauthorized},
		{Open, "10.0.0.1:1", "", http.StatusOK},
		{Off, "10.0.0.1:1", "", http.StatusOK},
	} {
		h := New(Options{Mode: tc.mode})
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debug/pprof/profile", nil)
		r.RemoteAddr = tc.address
		if tc.header != "" {
			r.Header.Set(tc.header, "x")
		}
		h.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != tc.code && (tc.code == http.StatusOK || w.Code != http.StatusServiceUnavailable) { // before it is connected
			t.Errorf("%s %s %s: %d", tc.mode, tc.address, tc.header, w.Code)
		}
	}
}

// TestProfilesNeedPermission: a valid token alone, such as that of any pod, reads no profile.
func TestProfilesNeedPermission(t *testing.T) {
	h := New(Options{Mode: Authenticated})
	connect(t, h, newAPIServer(t))
	for token, want := range map[string]int{"reader": http.StatusOK, "nobody": http.StatusForbidden, "invalid": http.StatusUnauthorized} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/debug/pprof/heap", nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header.Set("Authorization", "Bearer "+token)
		h.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s", token, w.Code, w.Body)
		}
		if want == http.StatusForbidden && !strings.Contains(w.Body.String(), `user \"nobody\" has no permission to get the nonResourceURL \"/debug/pprof/heap\"`) {
			t.Errorf("message: %s", w.Body)
		}
	}
}
