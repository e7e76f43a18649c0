package web

import (
	"net/http"
	"sync"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestRoomForOthers: one user with many requests that take long leaves slots to others.
func TestRoomForOthers(t *testing.T) {
	h := New(Options{Mode: Authenticated})
	of := waiting{fixed{"demo/main": &v1.Prometheus{}}, make(chan struct{}), make(chan struct{})}
	connect(t, h, newAPIServer(t))
	srv := serve(t, h, newFake())
	h.Add(catalog.Prometheus, of)
	get := func() int {
		resp, _ := ask(t, srv, "GET", mainStatus, "Authorization", "Bearer reader")
		return resp.StatusCode
	}
	var wg sync.WaitGroup
	for range atATime / 2 {
		wg.Go(func() {
			if code := get(); code != 200 {
				t.Errorf("the first requests: %d", code)
			}
		})
		<-of.asked
	}
	if code := get(); code != 429 {
		t.Errorf("one more: %d", code)
	}
	for _, path := range []string{"/api/v1/overview", "/", "/static/none.css"} {
		if resp, body := ask(t, srv, "GET", path, "Authorization", "Bearer nobody"); resp.StatusCode == 429 {
			t.Errorf("of another user, %s: %s %s", path, resp.Status, body)
		}
	}
	close(of.told)
	wg.Wait()
	go func() { <-of.asked }()
	if code := get(); code != 200 {
		t.Errorf("after the others have ended: %d", code)
	}
}

// TestRoomForPreviews: one user with bodies that do not arrive leaves slots for the previews of others.
func TestRoomForPreviews(t *testing.T) {
	h := New(Options{Mode: Authenticated})
	connect(t, h, newAPIServer(t))
	srv := serve(t, h, newFake())
	post := func(token string) int {
		r, err := http.NewRequest("POST", srv.URL+"/api/v1/preview", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, _ := send(t, r)
		return resp.StatusCode
	}
	for range postsAtATime / 2 {
		c := dial(t, srv, "POST /api/v1/preview HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nobody\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n")
		if _, err := c.Read(make([]byte, 1)); err != nil { // the server reads the body
			t.Fatal(err)
		}
	}
	if code := post("nobody"); code != 429 {
		t.Errorf("one more: %d", code)
	}
	if code := post("reader"); code != 400 { // it is empty
		t.Errorf("of another user: %d", code)
	}
}

// TestGroups: a user who creates many ServiceAccounts in a namespace counts once.
func TestGroups(t *testing.T) {
	for name, want := range map[string]string{
		"jane":                          "user jane",
		"system:serviceaccount:demo:a":  "namespace demo",
		"system:serviceaccount:demo:b2": "namespace demo",
		"namespace demo":                "user namespace demo",
		"":                              "user ",
	} {
		if got := (&caller{who: &user.DefaultInfo{Name: name}}).Group(); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
