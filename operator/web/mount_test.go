package web

import (
	"strings"
	"testing"
)

// TestPages: pages and the API share an address, permissions and limits.
func TestPages(t *testing.T) {
	server, k := newAPIServer(t), newFake()
	h := New(Options{Mode: Authenticated})
	connect(t, h, server)
	srv := serve(t, h, k)
	const reader = "Bearer reader"
	for path, tc := range map[string]struct {
		token string
		code  int
		has   string
	}{
		"/":                          {reader, 200, "<html"},
		"/index.json":                {reader, 200, `"attention": [`},
		"/prometheuses/demo/main":    {reader, 200, "<html"},
		"/prometheuses/prod/main":    {reader, 403, "no permission"},
		"/prometheuses/demo/main?":   {"", 401, "<html"},
		"/nothing":                   {reader, 404, "<html"},
		"/api/v1/nothing":            {reader, 404, `"kind":"Status"`},
		"/apis/apps/v1/deployments":  {reader, 404, `"kind":"Status"`},
		"/static/none.css":           {"", 404, ""},
		"/openapi/v3":                {"", 200, `"openapi":"3.0.3"`},
		"/prometheuses/../secrets/x": {reader, 307, ""},
	} {
		var headers []string
		if tc.token != "" {
			headers = []string{"Authorization", tc.token}
		}
		resp, body := ask(t, srv, "GET", path, append(headers, "Accept", "text/html")...)
		if resp.StatusCode != tc.code || !strings.Contains(body, tc.has) {
			t.Errorf("%s: %s, want %d %s\n%.500s", path, resp.Status, tc.code, tc.has, body)
		}
	}
	for range cap(h.slots.free) {
		h.slots.free <- struct{}{}
	}
	for path, has := range map[string]string{"/": "<h1>Too many requests", "/index.json": `"kind":"Status"`, "/api/v1/overview": `"kind":"Status"`} {
		resp, body := ask(t, srv, "GET", path, "Authorization", reader)
		if resp.StatusCode != 429 || !strings.Contains(body, has) || resp.Header.Get("Retry-After") == "" || resp.Header.Get("X-Content-Type-Options") == "" {
			t.Errorf("%s beyond the limit: %s %s", path, resp.Status, body)
		}
	}
}

// TestPagePanic: a page about a fault does not reveal internals.
func TestPagePanic(t *testing.T) {
	k := newFake()
	k.panics = true
	srv := serve(t, New(Options{Mode: Open}), k)
	for path, has := range map[string]string{"/": "<h1>Internal error", "/prometheuses/demo/main": "<h1>Internal error", "/index.json": `"kind":"Status"`} {
		resp, body := ask(t, srv, "GET", path, "Accept-Encoding", "gzip")
		if resp.StatusCode != 500 || !strings.Contains(body, has) || strings.Contains(body, "nil map") {
			t.Errorf("%s: %s %s", path, resp.Status, body)
		}
	}
}
