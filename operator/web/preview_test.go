package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// post sends manifests for a preview; headers are in pairs.
func post(t *testing.T, srv *httptest.Server, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", srv.URL+"/api/v1/preview", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return send(t, r)
}

// TestPreview: manifests are passed on unchanged; empty and oversized bodies are rejected.
func TestPreview(t *testing.T) {
	k := newFake()
	srv := serve(t, New(Options{Mode: Open}), k)
	const yaml = "# mine\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web}\n"
	for name, body := range map[string]string{
		"YAML": yaml, "JSON": monitor, "two": yaml + "---\n" + yaml, "empty documents": "---\n" + yaml + "---\n",
		"others": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", "1 MiB": yaml + "# " + long(longestBody-len(yaml)-2),
	} {
		resp, text := post(t, srv, body, "Content-Type", "application/x-www-form-urlencoded", "If-None-Match", "*") // like curl
		if resp.StatusCode != 200 || k.last() != "preview "+body || !strings.Contains(text, `"items":[`) {
			t.Errorf("%s: %s %.300s", name, resp.Status, text)
		}
	}
	k.asked = ""
	for name, tc := range map[string]struct {
		body string
		code int
		has  string
	}{
		"nothing":   {"", 400, "the body is empty"},
		"space":     {" \n", 400, "the body is empty"},
		"too large": {long(longestBody + 1), 413, "larger than 1 MiB"},
	} {
		resp, text := post(t, srv, tc.body)
		if s := statusOf(t, text); resp.StatusCode != tc.code || !strings.Contains(s.Message, tc.has) {
			t.Errorf("%s: %s %.300s", name, resp.Status, text)
		}
	}
	if k.last() != "" {
		t.Errorf("asked %s", k.last())
	}
	for _, method := range []string{"GET", "HEAD", "PUT"} {
		if resp, _ := ask(t, srv, method, "/api/v1/preview"); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s, Allow %q", method, resp.Status, resp.Header.Get("Allow"))
		}
	}
	if resp, text := post(t, srv, yaml, "Sec-Fetch-Site", "cross-site", "Origin", "https://example.com"); resp.StatusCode != 403 {
		t.Errorf("from another site: %s %s", resp.Status, text)
	}
}

// TestPreviewNeedsPermission: a caller needs a token, and its permissions are passed on.
func TestPreviewNeedsPermission(t *testing.T) {
	server := newAPIServer(t)
	h := New(Options{Mode: Authenticated})
	connect(t, h, server)
	k := newFake()
	srv := serve(t, h, k)
	for _, body := range []string{monitor, ""} {
		if resp, text := post(t, srv, body); resp.StatusCode != 401 || !strings.Contains(text, "no valid bearer token") || k.last() != "" {
			t.Errorf("without a token: %s %s, asked %q", resp.Status, text, k.last())
		}
	}
	k.err = apierrors.NewForbidden(schema.GroupResource{Resource: "prometheuses"}, "", errors.New("no permission"))
	resp, text := post(t, srv, monitor, "Authorization", "Bearer reader")
	if resp.StatusCode != 403 || k.last() != "preview "+monitor {
		t.Errorf("%s %s, asked %q", resp.Status, text, k.last())
	}
}
