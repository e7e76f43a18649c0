package httpsd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	promdiscovery "github.com/prometheus/prometheus/discovery"
	promhttp "github.com/prometheus/prometheus/discovery/http"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// list is a response, served by path.
type list struct {
	kind, text string
	code       int
}

func serve(t *testing.T, all map[string]list) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "Accept" && name != "User-Agent" && name != "Accept-Encoding" && name != "Connection" && name != "X-Prometheus-Refresh-Interval-Seconds" {
				t.Errorf("%s: the header %s is sent", r.URL, name)
			}
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		l, has := all[strings.TrimPrefix(r.URL.Path, "/")]
		if !has {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", l.kind)
		if l.code != 0 {
			w.WriteHeader(l.code)
		}
		fmt.Fprint(w, l.text)
	}))
	t.Cleanup(server.Close)
	return server
}

const plain = "application/json"

// The same response results in the same groups as in Prometheus, or in none.
func TestAsPrometheus(t *testing.T) {
	all := map[string]list{
		"two":           {plain, `[{"targets": ["a:1", "b:2"], "labels": {"team": "x"}}, {"targets": []}]`, 0},
		"empty":         {plain, `[]`, 0},
		"charset":       {`Application/JSON; charset="utf-8"`, `[{"targets": ["a:1"]}]`, 0},
		"text":          {"text/plain", `[{"targets": ["a:1"]}]`, 0},
		"other-charset": {plain + "; charset=latin1", `[]`, 0},
		"html":          {plain, `<html>`, 0},
		"object":        {plain, `{"targets": ["a:1"]}`, 0},
		"null":          {plain, `[null]`, 0},
		"nothing":       {plain, `null`, 0},
		"unknown-field": {plain, `[{"targets": ["a:1"], "tragets": []}]`, 0},
		"number":        {plain, `[{"targets": [1]}]`, 0},
		"bad-label":     {plain, `[{"targets": ["a:1"], "labels": {"": "x"}}]`, 0},
		"status":        {plain, `[]`, 203},
		"broken":        {plain, `[{"targets": ["a:1"]`, 0},
	}
	url := serve(t, all).URL
	for name := range all {
		want, wantErr := prometheusFinds(t, url+"/"+name)
		got := New([]string{"127.0.0.1"}).Find(t.Context(), &targets.HTTPSD{URL: url + "/" + name})
		if (wantErr != nil) != (len(got.Gaps) == 1) || wantErr == nil && asJSON(t, got.Groups) != want {
			t.Errorf("%s: Prometheus finds %s, %v; got %s, %v", name, want, wantErr, asJSON(t, got.Groups), got.Gaps)
		}
	}
}

func prometheusFinds(t *testing.T, url string) (string, error) {
	t.Helper()
	conf := promhttp.DefaultSDConfig
	conf.URL = url
	registry := prometheus.NewRegistry()
	metrics := conf.NewDiscovererMetrics(registry, promdiscovery.NewRefreshMetrics(registry))
	d, err := promhttp.NewDiscovery(&conf, promdiscovery.DiscovererOptions{Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := d.Refresh(context.Background())
	return asJSON(t, groups), err
}

// asJSON returns groups as JSON, with the fields that JSON omits.
func asJSON(t *testing.T, groups any) string {
	t.Helper()
	text, err := json.Marshal(groups)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %v", text, groups) // labels and sources
}

// Requests are only sent to permitted hosts, and without credentials.
func TestRequestsOnlyPermittedHosts(t *testing.T) {
	url := serve(t, map[string]list{"": {plain, `[{"targets": ["a:1"]}]`, 0}}).URL
	host := strings.TrimPrefix(url, "http://")
	_, port, _ := strings.Cut(host, ":")
	named := []string{"127.0.0.1"}
	for name, tc := range map[string]struct {
		hosts []string
		text  string // of the discovery
		want  string // "" when it is requested
	}{
		"named":               {named, "url: " + url, ""},
		"named with its port": {[]string{host}, "url: " + url, ""},
		"in capitals":         {[]string{"LOCALHOST", "127.0.0.1"}, "url: http://localhost:" + port, ""},
		"nobody is named":     {nil, "url: " + url, "only the running Prometheus asks this host; --http-sd=" + host + " asks it from here, without credentials"},
		"another is named":    {[]string{"other.example"}, "url: " + url, "--http-sd=" + host},
		"another port":        {[]string{"127.0.0.1:1"}, "url: " + url, "--http-sd=" + host},
		"a part of a name":    {[]string{"example"}, "url: http://inventory.example/", "--http-sd=inventory.example"},
		"its own address":     {[]string{AnyHost}, "url: " + url, "127.0.0.1 is another machine here than in the pod of Prometheus"},
		"a name of it":        {[]string{"localhost"}, "url: http://localhost:" + port, "is another machine here"},
		"the cloud":           {[]string{AnyHost}, "url: http://169.254.169.254/latest", "169.254.169.254 is another machine here"},
		"mapped":              {[]string{AnyHost}, "url: 'http://[::ffff:127.0.0.1]:" + port + "/'", "127.0.0.1 is another machine here"},
		"redirected":          {named, "url: " + url + "/x?to=/", ""},
		"to another host":     {named, "url: " + url + "/x?to=http://other.example/", "it is redirected to other.example, which --http-sd does not name"},
		"to a local address":  {append(named, "localhost"), "url: " + url + "/x?to=http://[::1]:" + port + "/", "it is redirected to [::1]:" + port},
		"to a password":       {named, "url: " + url + "/x?to=http://u:p@127.0.0.1:" + port + "/", "it is redirected to a URL that is not asked"},
		"to a file":           {named, "url: " + url + "/x?to=file:///etc/passwd", "it is redirected to a URL that is not asked"},
		"for ever":            {named, "url: " + url + "/x?to=" + url + "/x%3Fto%3D/x%253Fto%253D/x", "status 404"},
		"no redirects":        {named, "{url: '" + url + "/x?to=/', follow_redirects: false}", "it answers with status 302"},
		"plain settings":      {named, "{url: '" + url + "', refresh_interval: 1m, enable_http2: false, proxy_from_environment: false, tls_config: {insecure_skip_verify: true}}", ""},
		"a password":          {named, "{url: '" + url + "', basic_auth: {username: a, password: s3cret}}", "requests need basic_auth, which only the running Prometheus has"},
		"a CA and a proxy":    {named, "{url: '" + url + "', proxy_url: 'http://p', tls_config: {ca_file: /ca}}", "requests need proxy_url, tls_config.ca_file"},
		"a user in the URL":   {named, "url: http://user:s3cret@" + host + "/", "its URL has credentials"},
		"a token in the URL":  {named, "url: " + url + "/?access_token=s3cret", "its URL has credentials"},
		"no host":             {named, "url: http:///x", "its URL is none of http or https with a host"},
		"a file":              {named, "url: file:///etc/passwd", "its URL is none of http or https with a host"},
		"no URL":              {named, "url: '%%s3cret'", "its URL is none of http or https with a host"},
	} {
		t.Run(name, func(t *testing.T) {
			var sd targets.HTTPSD
			if err := yaml.Unmarshal([]byte(tc.text), &sd); err != nil {
				t.Fatal(err)
			}
			found := New(tc.hosts).Find(t.Context(), &sd)
			switch {
			case tc.want == "" && (len(found.Gaps) > 0 || len(found.Groups) != 1):
				t.Errorf("%v, %v", found.Groups, found.Gaps)
			case tc.want != "" && (len(found.Gaps) != 1 || len(found.Groups) != 0 || !strings.Contains(found.Gaps[0].Message, tc.want)):
				t.Errorf("%v, %v", found.Groups, found.Gaps)
			}
			if strings.Contains(fmt.Sprint(found), "s3cret") || strings.Contains(fmt.Sprintf("%+v", sd.Needs), "s3cret") {
				t.Errorf("shows a secret: %v", found)
			}
		})
	}
}

// An endless response does not exhaust memory.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", plain)
		line := strings.Repeat(" ", 1<<20)
		for {
			if _, err := fmt.Fprint(w, line); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	found := New([]string{"127.0.0.1"}).Find(t.Context(), &targets.HTTPSD{URL: server.URL})
	if len(found.Gaps) != 1 || !strings.Contains(found.Gaps[0].Message, "more than 16 MiB") {
		t.Errorf("%v", found)
	}
}

// A server without a response is a gap when the context of the caller is done.
func TestNoAnswer(t *testing.T) {
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-asked
		stop()
	}()
	if found := New([]string{"127.0.0.1"}).Find(ctx, &targets.HTTPSD{URL: server.URL}); len(found.Gaps) != 1 {
		t.Errorf("%v", found)
	}
}

// A response of a few megabytes with millions of empty groups is refused before it is decoded.
func TestHollowResponse(t *testing.T) {
	url := serve(t, map[string]list{"": {plain, "[" + strings.Repeat("{},", 2_000_000) + "{}]", 0}}).URL
	budgettest.AtMost(t, "groups", 64<<20, func() {
		found := New([]string{"127.0.0.1"}).Find(t.Context(), &targets.HTTPSD{URL: url})
		if len(found.Gaps) != 1 || !strings.Contains(found.Gaps[0].Message, "more than 200000 groups") {
			t.Errorf("%v", found.Gaps)
		}
	})
}
