package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// pages is a running command ui.
type pages struct {
	url         string
	out, stderr *logtest.Log
	code        chan int
	stop        context.CancelFunc
}

const anyPort = "--web.listen-address=127.0.0.1:0"

var servedAddress = regexp.MustCompile(`(?m)^http://\S+/$`)

// serveUI runs the command ui of a program until the test ends.
func serveUI(t *testing.T, program func(context.Context, []string, io.Writer, io.Writer) int, args ...string) *pages {
	t.Helper()
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	ctx, cancel := context.WithCancel(t.Context())
	p := &pages{out: &logtest.Log{}, stderr: &logtest.Log{}, code: make(chan int, 1), stop: cancel}
	go func() {
		p.code <- program(ctx, slices.Concat([]string{"ui"}, args), p.out, p.stderr)
	}()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.out.String(), "Ctrl-C"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) || len(p.code) > 0 {
			cancel()
			t.Fatalf("ui does not serve; it ended with %d\n%s%s", <-p.code, p.out, p.stderr)
		}
	}
	p.url = servedAddress.FindString(p.out.String())
	t.Cleanup(func() {
		cancel()
		p.code <- <-p.code // wait until it has stopped
	})
	return p
}

// get requests a path. headers are pairs of names and values.
func (p *pages) get(t *testing.T, path string, headers ...string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequest("GET", strings.TrimSuffix(p.url, "/")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// twoContexts writes a kubeconfig in which the current context is not the one with this
// URL.
func twoContexts(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: other,
clusters: [{name: c, cluster: {server: %q}}, {name: d, cluster: {server: "http://127.0.0.1:1"}}],
contexts: [{name: prod, context: {cluster: c, user: ""}}, {name: other, context: {cluster: d, user: ""}}]}`, url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The command prints its address and the cluster, and responds only to this machine.
func TestUI(t *testing.T) {
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
	p := serveUI(t, Plugin, anyPort, "--kubeconfig="+twoContexts(t, url), "--context=prod")
	if out := p.out.String(); !strings.HasPrefix(out, p.url+"\n") || !strings.Contains(out, "prod ("+url+")") || p.stderr.String() != "" {
		t.Errorf("printed %s\n%s", out, p.stderr)
	}
	code, body := p.get(t, "/api/v1/overview")
	var overview struct {
		Workloads []struct{ Kind, Namespace, Name string }
	}
	if err := json.Unmarshal([]byte(body), &overview); code != 200 || err != nil || len(overview.Workloads) == 0 {
		t.Errorf("%d %v %s", code, err, body)
	}
	for path, want := range map[string]string{
		"/":                            "</html>",
		"/index.json":                  `"workloads":`,
		"/prometheuses/monitoring/k8s": "serviceMonitor",
		prometheusK8s + "/config":      `"sections":`,
		prometheusK8s + "/status":      `"kind":"Prometheus"`,
		prometheusK8s + "/targets":     `"counts":`,
	} {
		if code, body := p.get(t, path); code != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if code, body := p.get(t, strings.Replace(prometheusK8s, "k8s", "none", 1)+"/status"); code != 404 || !strings.Contains(body, `"kind":"Status"`) {
		t.Errorf("an object that does not exist: %d %s", code, body)
	}
	if code, body := p.get(t, "/api/v1/overview", "Host", "evil.example"); code != 403 || strings.Contains(body, "monitoring") {
		t.Errorf("another Host: %d %s", code, body)
	}
	if code, body := p.get(t, "/api/v1/overview", "Sec-Fetch-Site", "cross-site"); code != 403 || strings.Contains(body, "monitoring") {
		t.Errorf("another site: %d %s", code, body)
	}
	p.stop()
	if code := <-p.code; code != 0 {
		t.Errorf("ends with %d", code)
	} else {
		p.code <- code
	}
}

// Resources that may not be read are reported by name as unknown.
func TestUIWithoutPermissions(t *testing.T) {
	for denied, tc := range map[string]struct{ path, want string }{
		"prometheuses":    {"/api/v1/overview", "prometheuses.monitoring.coreos.com in all namespaces"},
		"servicemonitors": {prometheusK8s + "/sources", "servicemonitors.monitoring.coreos.com in all namespaces"},
		"pods":            {prometheusK8s + "/rollout", "pods in namespace monitoring"},
		"endpointslices":  {prometheusK8s + "/targets", "endpointslices"},
	} {
		t.Run(denied, func(t *testing.T) {
			p := serveUI(t, Operator, anyPort, "--apiserver="+serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{denied: []string{denied}}))
			hint := "may not list prometheuses.monitoring.coreos.com in all namespaces; to see some namespaces, name them with --namespaces"
			code, body := p.get(t, tc.path)
			var answer struct{ Unread, Notes []string }
			err := json.Unmarshal([]byte(body), &answer)
			if unknown := strings.Join(append(answer.Unread, answer.Notes...), "\n"); code != 200 || err != nil || !strings.Contains(unknown, tc.want) {
				t.Errorf("%d %v %s", code, err, body)
			}
			if got := p.stderr.String(); strings.Contains(got, hint) != (denied == "prometheuses") || denied != "prometheuses" && got != "" {
				t.Errorf("stderr %q", got)
			}
		})
	}
}

const prometheusK8s = "/apis/monitoring.coreos.com/v1/namespaces/monitoring/prometheuses/k8s"

// Addresses that are not local require a flag, and the error for a busy port names its
// flag.
func TestUIRefuses(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
	for line, want := range map[string]string{
		"ui --web.listen-address=0.0.0.0:0":                                       "--web.listen-address=0.0.0.0:0: anyone who reaches this address would read the cluster with your permissions; use 127.0.0.1:9099, or add --web.api=open",
		"ui --web.listen-address=:8080":                                           "anyone who reaches this address",
		"ui --web.listen-address=9099":                                            "--web.listen-address=9099: want host:port",
		"ui --web.listen-address=" + busy.Addr().String() + " --apiserver=" + url: "--web.listen-address=" + busy.Addr().String() + ": listen tcp " + busy.Addr().String(),
	} {
		for name, program := range map[string]func(...string) (int, string, string){"plugin": plugin, "operator": operatorRun} {
			if code, out, stderr := program(strings.Fields(line)...); code != 2 || !strings.Contains(stderr, want) || out != "" {
				t.Errorf("%s %s: exit %d\n%s%s\nwant %s", name, line, code, out, stderr, want)
			}
		}
	}
	if code, _, stderr := operatorRun("ui", "--web.api=off"); code != 2 || !strings.Contains(stderr, "--web.api=off") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// Serving the pages to other machines causes a warning.
func TestUIOpen(t *testing.T) {
	url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &served{})
	p := serveUI(t, Plugin, "--apiserver="+url, "--web.listen-address=0.0.0.0:0", "--web.api=open")
	if got := p.stderr.String(); !strings.Contains(got, "warning: anyone who reaches 0.0.0.0:") {
		t.Errorf("stderr %q", got)
	}
	if code, body := p.get(t, "/api/v1/overview"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

func operatorRun(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Operator(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}
