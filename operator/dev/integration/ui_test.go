package integration

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
)

// ui is a running command ui.
type ui struct {
	url string
	log *logtest.Log
}

var uiAddress = regexp.MustCompile(`(?m)^(http://\S+)/$`)

// ui runs the command as a user until the end of the test.
func (w *environment) ui(t *testing.T, user string, args ...string) *ui {
	t.Helper()
	out := &ui{log: &logtest.Log{}}
	cmd := exec.CommandContext(t.Context(), w.commands, append([]string{"ui", "--web.listen-address=127.0.0.1:0", "--as=" + user}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+w.cluster.Kubeconfig)
	cmd.Stdout, cmd.Stderr = out.log, out.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = deadline
	child.DiesWithUs(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "context canceled") {
			t.Errorf("it ended with %v\n%s", err, out.log)
		}
	})
	eventually(t, "the address is printed", func() error { return contains(out.log, "Ctrl-C") })
	out.url = uiAddress.FindStringSubmatch(out.log.String())[1]
	return out
}

// get requests a path with its parameters.
func (u *ui) get(t *testing.T, path string) (code int, body string) {
	t.Helper()
	resp, err := http.Get(u.url + path)
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

// shows waits until a page contains the words.
func (u *ui) shows(t *testing.T, path string, words ...string) {
	t.Helper()
	eventually(t, path, func() error {
		code, body := u.get(t, path)
		for _, word := range words {
			if code != http.StatusOK || !strings.Contains(body, word) {
				return fmt.Errorf("%d, no %q in\n%s", code, word, body)
			}
		}
		return nil
	})
}

var uiLink = regexp.MustCompile(`<a[^>]* href="([^"#]+)"`)

// crawl reads the first page and all pages that it links to, each also as JSON, and returns the texts by path.
func (u *ui) crawl(t *testing.T) map[string]string {
	t.Helper()
	read := map[string]string{}
	for queue := []string{"/"}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		if _, had := read[path]; had || len(read) > 400 {
			continue
		}
		code, body := u.get(t, path)
		if code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
		read[path] = body
		base, err := url.Parse(u.url + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range uiLink.FindAllStringSubmatch(body, -1) {
			to, err := base.Parse(html.UnescapeString(m[1]))
			if err != nil {
				t.Fatal(err)
			}
			if to.Host == base.Host {
				queue = append(queue, to.RequestURI())
			}
		}
	}
	return read
}

// uiObjects is beforeChange with a rejected object and passwords.
const uiObjects = beforeChange + `
---
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NAMESPACE}
stringData: {user: admin, password: canary-7d1f}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: login, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: db}}
  endpoints: [{port: http, basicAuth: {username: {name: login, key: user}, password: {name: login, key: password}}}]
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: wrong, namespace: NAMESPACE}
spec: {selector: {}, endpoints: [{port: http, interval: 10s, scrapeTimeout: 30s}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: NAMESPACE}
spec: {containers: [{name: web, image: web}]}
`

// uiRole grants a user read access to everything that the pages show, without watch. secrets are the Secrets that
// workloads refer to.
const uiRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: KIND
metadata: {name: integration-ui-USER, namespace: NAMESPACE}
rules:
- {apiGroups: [monitoring.coreos.com], resources: ["*"], verbs: [VERBS]}
- {apiGroups: [apps], resources: [statefulsets], verbs: [VERBS]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [list, watch]}
- {apiGroups: [""], resources: [pods, services, events], verbs: [list, watch, get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: KINDBinding
metadata: {name: integration-ui-USER, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: KIND, name: integration-ui-USER}
subjects: [{kind: User, name: integration-ui-USER}]
`

// uiReader grants the additional permissions of a user with access to the whole cluster.
const uiReader = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: integration-ui-more}
rules:
- {apiGroups: [""], resources: [namespaces], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [secrets], verbs: [get]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-ui-more}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: integration-ui-more}
subjects: [{kind: User, name: integration-ui-reader}]
`

// Every page can be read with the permissions of a user: nothing is written, no value of a Secret is shown, few calls
// are made, and changes are displayed.
func TestUI(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns := w.namespace(t)
	w.apply(t, strings.ReplaceAll(uiObjects, "NAMESPACE", ns))
	w.apply(t, strings.NewReplacer("KIND", "ClusterRole", "USER", "reader", "VERBS", "get, list, watch", ", namespace: NAMESPACE", "").Replace(uiRole+uiReader))
	const user = "integration-ui-reader"
	u := w.ui(t, user, "--controller-id=nobody", "--namespaces="+ns) // excludes the namespaces of other tests, which are created and deleted concurrently
	if err := contains(u.log, "as far as "+user+" may read it"); err != nil {
		t.Error(err)
	}
	main := "/prometheuses/" + ns + "/main"
	u.shows(t, main+"?tab=targets", "10.0.0.1")
	pages := u.crawl(t)
	for _, path := range []string{"/", main, main + ".json", "/servicemonitors/" + ns + "/wrong"} {
		if pages[path] == "" {
			pages[path] = "" // pages without links to them are read too
			if code, body := u.get(t, path); code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	}
	for path, text := range pages {
		if strings.Contains(text, "canary-7d1f") || strings.Contains(text, "Y2FuYXJ5") {
			t.Errorf("%s shows a password", path)
		}
	}
	t.Logf("%d pages", len(pages))
	before, began := len(w.audit.calls(t, user)), time.Now()
	for range 20 {
		u.get(t, "/")
		u.get(t, main)
		u.get(t, main+"?tab=feeds")
	}
	calls := w.audit.calls(t, user)
	if more := len(calls) - before; more > 30 {
		t.Errorf("60 pages made %d calls", more)
	} else {
		t.Logf("%d calls for the first %d pages, %d for 60 more in %s", before, len(pages), more, time.Since(began))
	}
	for _, c := range calls {
		if c.writes() && !strings.HasSuffix(c.Object.Resource, "reviews") {
			t.Errorf("it writes: %s", c.what())
		}
	}
	u.changes(t, w, ns)
}

// changes changes a monitor and waits until the event stream and the page show it.
func (u *ui) changes(t *testing.T, w *environment, ns string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.url+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	told := make(chan string, 100)
	go func() {
		defer close(told)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			told <- lines.Text()
		}
	}()
	began := time.Now()
	w.apply(t, strings.ReplaceAll(`
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: NAMESPACE}
spec: {selector: {matchLabels: {app: db}}, endpoints: [{port: http}]}
`, "NAMESPACE", ns))
	for line := range told {
		if strings.Contains(line, "ServiceMonitor") && strings.Contains(line, ns) {
			t.Logf("told after %s", time.Since(began))
			u.shows(t, "/servicemonitors/"+ns+"/web?tab=targets", "10.0.0.3")
			t.Logf("shown after %s", time.Since(began))
			return
		}
	}
	t.Error("the stream has no change of the monitor")
}

// A user with access to one namespace sees this namespace, and what is unknown about others.
func TestUIOfOneNamespace(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns := w.namespace(t)
	w.apply(t, strings.ReplaceAll(uiObjects, "NAMESPACE", ns))
	w.apply(t, strings.NewReplacer("KIND", "Role", "USER", "few", "VERBS", "get, list", "NAMESPACE", ns).Replace(uiRole))
	const user = "integration-ui-few"

	all := w.ui(t, user)
	eventually(t, "it says what may not be listed", func() error {
		return contains(all.log, user+" may not list prometheuses.monitoring.coreos.com in all namespaces")
	})
	if code, body := all.get(t, "/"); code != http.StatusOK || !strings.Contains(body, "prometheuses.monitoring.coreos.com in all namespaces") {
		t.Errorf("%d %s", code, body)
	}

	u := w.ui(t, user, "--controller-id=nobody", "--namespaces="+ns)
	main := "/prometheuses/" + ns + "/main"
	u.shows(t, "/", main[1:])
	u.shows(t, main+"?tab=targets", "10.0.0.1")
	u.shows(t, main+"?tab=feeds", "login", "wrong")
	for _, tab := range []string{"feeds", "pods", "targets", "shards", "config", "events"} {
		for _, path := range []string{main + "?tab=" + tab, main + ".json?tab=" + tab} {
			if code, body := u.get(t, path); code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
	}
}
