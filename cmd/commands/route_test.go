package commands

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// TestRoute runs the command on the files of a golden file.
//
//	args          the arguments after "route", one per line
//	want/text     the output; "json" with --format=json, "stderr" for standard error
//	want/code     the exit code
func TestRoute(t *testing.T) {
	golden.Run(t, "testdata/route/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		dir, args, _ := unpacked(t, c)
		args = append([]string{"route"}, args...)
		if name == "json" {
			args = append(args, "--format=json")
		}
		return printed(t, dir, args, name)
	})
}

// Matchers of others that take minutes for a long label end the command, before they are executed.
func TestExpensiveMatchers(t *testing.T) {
	dir := t.TempDir()
	matcher := strings.Repeat("(.?){1000}", 20)
	config := fmt.Sprintf("route: {receiver: a, routes: [{receiver: a, matchers: ['b=~\"%s\"']}]}\nreceivers: [{name: a}]\n", matcher)
	if err := os.WriteFile(filepath.Join(dir, "am.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for length, want := range map[int]string{10: "", 300_000: "am.yaml: the regular expressions of the routes and inhibition rules take too long"} {
		_, stderr, code := runIn(t, dir, []string{"route", "--config.file=am.yaml", "b=" + strings.Repeat("x", length)})
		if (code == 2) != (want != "") || !strings.Contains(string(stderr), want) {
			t.Errorf("%d characters: exit code %d: %s", length, code, stderr)
		}
	}
}

// An invalid command line exits with 2 and names the argument.
func TestRouteUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                                       "no alert: give its labels as NAME=VALUE, or --rule and --alert",
		"severity":                               `"severity": want NAME=VALUE of a label`,
		"severity=~a":                            "not a matcher",
		"a=b a=c":                                "label a is given twice",
		"a=b --at=yesterday":                     "--at=yesterday: want RFC 3339",
		"a=b --alertmanager=main":                "--alertmanager=main: want NAMESPACE/NAME",
		"--rule=demo --alert=a":                  "--rule=demo: want NAMESPACE/NAME",
		"--rule=demo/web":                        "--rule and --alert: need each other",
		"a=b --alert=a":                          "--rule and --alert: need each other",
		"a=b --config.file=a --alertmanager=a/b": "--alertmanager: has no effect with --config.file",
		"a=b --config.file=- -f -":               "standard input is read by -f already",
		"a=b --format=xml":                       "enum value must be one of text,json",
		"a=b --kubernetes-version=new":           "--kubernetes-version=new: ",
		"a=b --config.file=gone.yaml":            "gone.yaml: no such file or directory",
		"a=b -f gone.yaml":                       "gone.yaml: no such file or directory",
	} {
		_, stderr, code := runIn(t, t.TempDir(), append([]string{"route"}, strings.Fields(args)...))
		if code != 2 || !strings.Contains(string(stderr), want) {
			t.Errorf("%q: exit code %d: %s, want %q", args, code, stderr, want)
		}
	}
}

func TestRouteWithoutClusterSaysWhereItLooked(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	_, stderr, code := runIn(t, dir, []string{"route", "a=b", "--kubeconfig=" + filepath.Join(dir, "none")})
	if code != 2 || !strings.Contains(string(stderr), "none: no such file") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// apiServer returns the URL of a fake API server with these objects, by path.
func apiServer(t *testing.T, objects map[string]string) string {
	t.Helper()
	objects["/version"] = `{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, known := objects[r.URL.Path]
		switch {
		case !known:
			w.WriteHeader(http.StatusNotFound)
			text = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404, "message": "not found"}`
		case text == "forbidden":
			w.WriteHeader(http.StatusForbidden)
			text = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "not allowed"}`
		}
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Objects in the fake cluster.
const (
	inCluster = `{"kind": "Alertmanager", "apiVersion": "monitoring.coreos.com/v1", "metadata": {"name": "main", "namespace": "demo"}, "spec": {"alertmanagerConfigSelector": {}}}`
	written   = "route: {receiver: ops, routes: [{receiver: demo/team/a, matchers: ['namespace=\"demo\"'], continue: true}]}\n" +
		"receivers: [{name: ops}, {name: demo/team/a, webhook_configs: [{url: 'http://hunter2'}]}]\n"
	config = `{"kind": "AlertmanagerConfig", "apiVersion": "monitoring.coreos.com/v1alpha1", "metadata": {"name": "team", "namespace": "demo"}, "spec": {"route": {"receiver": "RECEIVER"}}}`
)

// generatedSecret returns a configuration Secret as written by the operator.
func generatedSecret(t *testing.T, key, text string) string {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return secretOf(t, map[string][]byte{key: zipped.Bytes()})
}

func secretOf(t *testing.T, data map[string][]byte) string {
	t.Helper()
	out, err := json.Marshal(map[string]any{
		"kind": "Secret", "apiVersion": "v1", "metadata": map[string]string{"name": "alertmanager-main-generated", "namespace": "demo"}, "data": data,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// inParts returns the Secrets of a configuration with its middle in part 3.
func inParts(t *testing.T, whole string) (main, part string) {
	t.Helper()
	var secret struct{ Data map[string][]byte }
	if err := json.Unmarshal([]byte(whole), &secret); err != nil {
		t.Fatal(err)
	}
	const first = "alertmanager.yaml.gz"
	zipped := secret.Data[first]
	files := map[string][]byte{first: zipped[:20], parts.ConfigName(3): zipped[20:60], parts.ConfigEnd: zipped[60:]}
	var list parts.List
	for _, name := range []string{first, parts.ConfigName(3), parts.ConfigEnd} {
		list.Config = append(list.Config, parts.File{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(files[name]))})
	}
	text, err := list.Encode()
	if err != nil {
		t.Fatal(err)
	}
	files[parts.ListName] = text
	part = secretOf(t, map[string][]byte{parts.ConfigName(3): files[parts.ConfigName(3)]})
	delete(files, parts.ConfigName(3))
	return secretOf(t, files), part
}

// In a cluster, the command reads the configuration written by the operator and the
// objects to compare it with.
func TestRouteInCluster(t *testing.T) {
	list := func(kind, version string, items ...string) string {
		return fmt.Sprintf(`{"kind": "%sList", "apiVersion": "monitoring.coreos.com/%s", "metadata": {}, "items": [%s]}`, kind, version, strings.Join(items, ", "))
	}
	const (
		alertmanagers = "/apis/monitoring.coreos.com/v1/alertmanagers"
		configs       = "/apis/monitoring.coreos.com/v1alpha1/alertmanagerconfigs"
		one           = "/apis/monitoring.coreos.com/v1/namespaces/demo/alertmanagers/main"
		secret        = "/api/v1/namespaces/demo/secrets/alertmanager-main-generated"
		partSecret    = "/api/v1/namespaces/demo/secrets/alertmanager-main-config-part-3"
	)
	good := generatedSecret(t, "alertmanager.yaml.gz", written)
	begin, part := inParts(t, good)
	same, changed := strings.Replace(config, "RECEIVER", "a", 1), strings.Replace(config, "RECEIVER", "b", 1)
	for name, tc := range map[string]struct {
		objects map[string]string
		args    string
		want    string
		code    int
	}{
		"the only one": {map[string]string{
			alertmanagers: list("Alertmanager", "v1", inCluster), secret: good, configs: list("AlertmanagerConfig", "v1alpha1", same),
		}, "", "from       AlertmanagerConfig demo/team, spec.route\n", 0},
		"by name, and the object has changed": {map[string]string{
			one: inCluster, secret: good, configs: list("AlertmanagerConfig", "v1alpha1", changed),
		}, "--alertmanager=demo/main", "spec.route (which the object has no longer)\n", 0},
		"AlertmanagerConfigs may not be read": {map[string]string{
			one: inCluster, secret: good, configs: "forbidden",
		}, "--alertmanager=demo/main", "from       AlertmanagerConfig demo/team, spec.route\n", 0},
		"a configuration in parts": {map[string]string{
			one: inCluster, secret: begin, partSecret: part, configs: list("AlertmanagerConfig", "v1alpha1", same),
		}, "--alertmanager=demo/main", "notifies demo/team/a of", 0},
		"a part is missing": {map[string]string{one: inCluster, secret: begin}, "--alertmanager=demo/main", "the files do not belong together", 2},
		"several": {map[string]string{
			alertmanagers: list("Alertmanager", "v1", inCluster, strings.Replace(inCluster, "main", "other", 1)),
		}, "", "several Alertmanagers in the cluster: name one with --alertmanager (demo/main, demo/other)", 2},
		"none":                     {map[string]string{alertmanagers: list("Alertmanager", "v1")}, "", "no Alertmanager in the cluster", 2},
		"Alertmanagers are hidden": {map[string]string{alertmanagers: "forbidden"}, "", "list alertmanagers (--alertmanager names one): not allowed", 2},
		"it does not exist":        {map[string]string{}, "--alertmanager=demo/main", "read Alertmanager demo/main: not found", 2},
		"nothing is written yet": {map[string]string{one: inCluster}, "--alertmanager=demo/main",
			"read the configuration of Alertmanager demo/main: Secret demo/alertmanager-main-generated: not found", 2},
		"the Secret may not be read": {map[string]string{one: inCluster, secret: "forbidden"}, "--alertmanager=demo/main", "not allowed", 2},
		"another Secret": {map[string]string{one: inCluster, secret: generatedSecret(t, "other", written)}, "--alertmanager=demo/main",
			"Secret demo/alertmanager-main-generated: has no key alertmanager.yaml.gz", 2},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"route", "namespace=demo", "--apiserver=" + apiServer(t, tc.objects)}, strings.Fields(tc.args)...)
			stdout, stderr, code := runIn(t, t.TempDir(), args)
			text := string(stdout) + string(stderr)
			if code != tc.code || !strings.Contains(text, tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.want, text)
			}
			if strings.Contains(text, "hunter2") {
				t.Errorf("a secret is told:\n%s", text)
			}
		})
	}
}
