package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
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

// TestPreview: manifests reach the answers as they were sent; what is not manifests, or too
// much, is refused before.
func TestPreview(t *testing.T) {
	k := newFake()
	srv := serve(t, New(Options{Mode: Open}), k)
	const yaml = "# mine\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web}\n"
	for name, body := range map[string]string{
		"YAML": yaml, "JSON": monitor, "two": yaml + "---\n" + yaml, "empty documents": "---\n" + yaml + "---\n",
		"others": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", "1 MiB": yaml + "# " + long(longestBody-len(yaml)-2),
	} {
		resp, text := post(t, srv, body, "Content-Type", "application/x-www-form-urlencoded", "If-None-Match", "*") // as curl has it
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
		"nothing":         {"", 400, "the body is empty"},
		"space":           {" \n", 400, "the body is empty"},
		"broken":          {yaml + "---\nspec: [hunter2\n", 400, "document 2 of the body is not a Kubernetes object"},
		"text":            {"hunter2", 400, "document 1 of the body is not"},
		"broken metadata": {"kind: Service\nmetadata: [hunter2]\n", 400, "document 1"},
		"too large":       {long(longestBody + 1), 413, "larger than 1 MiB"},
		"aliases":         {"a: &a " + long(500_000) + "\nb: [" + strings.Repeat("*a,", 2000) + "]\n", 400, "yaml: line 2: the aliases up to here stand for more than 4 MiB"},
		"in flow style":   {`{a: &a "` + long(500_000) + `", b: [` + strings.Repeat("*a,", 2000) + "]}", 400, "yaml: line 1: the aliases"},
		"broken aliases":  {"a: &a hunter2\nb: [*a, *hunter2]\n", 400, "not Kubernetes objects"},
		"deep":            {strings.Repeat(`{"kind":"List","items":[`, 5) + "{}" + strings.Repeat("]}", 5), 400, "document 1"},
	} {
		resp, text := post(t, srv, tc.body)
		if s := statusOf(t, text); resp.StatusCode != tc.code || !strings.Contains(s.Message, tc.has) || strings.Contains(text, "hunter2") {
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

// TestPreviewNeedsPermission: whoever asks needs to get the objects of the body, also those in
// lists.
func TestPreviewNeedsPermission(t *testing.T) {
	server := newAPIServer(t)
	h := New(Options{Mode: Authenticated})
	connect(t, h, server)
	k := newFake()
	srv := serve(t, h, k)
	object := func(kind, namespace string) string {
		return fmt.Sprintf(`{"apiVersion":"monitoring.coreos.com/v1","kind":%q,"metadata":{"namespace":%q,"name":"x"}}`, kind, namespace)
	}
	in := func(namespace string) string { return object("Prometheus", namespace) }
	for name, tc := range map[string]struct {
		token, body string
		code        int
		has         string
	}{
		"no token":          {"", in("demo"), 401, "no valid bearer token"},
		"no token, no body": {"", "", 401, "no valid bearer token"},
		"allowed":           {"reader", in("demo"), 200, ""},
		"another namespace": {"reader", in("prod"), 403, `no permission to get prometheuses in namespace "prod"`},
		"second document":   {"reader", in("demo") + "\n---\n" + in("prod"), 403, `"prod"`},
		"default namespace": {"reader", in(""), 403, `"default"`},
		"another kind":      {"reader", object("Alertmanager", "demo"), 403, `get alertmanagers`},
		"in a list":         {"reader", `{"kind":"List","items":[` + in("demo") + `,` + in("prod") + `]}`, 403, `"prod"`},
		"in a typed list":   {"reader", `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusList","items":[` + in("prod") + `]}`, 403, `"prod"`},
		"types of the list": {"reader", `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusList","items":[{"metadata":{"namespace":"prod"}}]}`, 403, `"prod"`},
		"nobody":            {"nobody", in("demo"), 403, `"demo"`},
	} {
		k.asked = ""
		var headers []string
		if tc.token != "" {
			headers = []string{"Authorization", "Bearer " + tc.token}
		}
		resp, text := post(t, srv, tc.body, headers...)
		if resp.StatusCode != tc.code || tc.code != 200 && !strings.Contains(statusOf(t, text).Message, tc.has) {
			t.Errorf("%s: %s %s", name, resp.Status, text)
		}
		if asked := k.last() != ""; asked != (tc.code == 200) {
			t.Errorf("%s: asked %q", name, k.last())
		}
	}
	var many strings.Builder
	for i := range mostKinds + 1 {
		many.WriteString(in(fmt.Sprintf("n%d", i)) + "\n---\n")
	}
	before := server.rights.Load()
	if resp, text := post(t, srv, many.String(), "Authorization", "Bearer reader"); resp.StatusCode != 400 || !strings.Contains(text, "more than 40 kinds and namespaces") || server.rights.Load() != before {
		t.Errorf("many namespaces: %s %s", resp.Status, text)
	}
}
