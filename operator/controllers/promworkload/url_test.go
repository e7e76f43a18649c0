package promworkload

import (
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// prefixes maps route prefixes as written by users to the prefix under which Prometheus
// serves.
var prefixes = map[string]string{
	``: `/`, `/`: `/`, `//`: `/`,
	`prom`: `/prom`, `/prom`: `/prom`, `prom/`: `/prom`, `/prom/`: `/prom`, `/prom//`: `/prom`, `//prom`: `/prom`,
	`a/b`: `/a/b`, `/a/b/`: `/a/b`, `/a//b`: `/a/b`, `/a/./b`: `/a/b`, `/a/../b`: `/b`, `..`: `/`,
	`prom?x`: `/prom?x`, `/a#b`: `/a#b`, `/50%`: `/50%`, `/a%20b`: `/a%20b`, `/a b`: `/a b`, `/größe`: `/größe`,
	`/$(id)`: `/$(id)`, `/a;b&c`: `/a;b&c`, `/it's`: `/it's`, `/{a,b}[1-2]`: `/{a,b}[1-2]`, `host:80/x`: `/host:80/x`,
}

// served returns the prefix under which Prometheus serves with these arguments.
func served(t *testing.T, args []string) string {
	t.Helper()
	for _, a := range args {
		if prefix, ok := strings.CutPrefix(a, "--web.route-prefix="); ok {
			return "/" + strings.Trim(prefix, "/")
		}
	}
	t.Fatalf("no route prefix in %q", args)
	return ""
}

// requestPath returns the path that a client of the URL requests.
func requestPath(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Error(err)
		return ""
	}
	if u.Scheme != "http" || u.Host != "localhost:9090" || u.RawQuery != "" || u.Fragment != "" {
		t.Errorf("URL %q is %#v", text, u)
	}
	return u.Path
}

// For any prefix, probes and sidecars request the path under which Prometheus serves.
func TestRoutePrefix(t *testing.T) {
	for prefix, want := range prefixes {
		for _, local := range []string{"false", "true"} {
			o := serverOwner(t, `{externalUrl: "http://x/ignored", thanos: {}, listenLocal: `+local+`, routePrefix: "`+prefix+`"}`)
			sts, err := o.StatefulSet(testInputs())
			if err != nil {
				t.Fatal(err)
			}
			pod := sts.Spec.Template.Spec
			if got := served(t, find(t, pod, workload.ContainerPrometheus).Args); got != want {
				t.Errorf("%q: Prometheus serves under %q, want %q", prefix, got, want)
			}
			for _, arg := range []struct{ container, flag, path string }{
				{workload.ContainerConfigReloader, "--reload-url=", "/-/reload"},
				{workload.ContainerRulesReloader, "--webhook-url=", "/-/reload"},
				{workload.ContainerThanos, "--prometheus.url=", ""},
			} {
				got := requestPath(t, argument(t, find(t, pod, arg.container), arg.flag))
				if got != path.Join(want, arg.path) {
					t.Errorf("%q: %s%s asks for %q", prefix, arg.container, arg.flag, got)
				}
			}
			c := find(t, pod, workload.ContainerPrometheus)
			for name, probe := range map[string]*corev1.Probe{"/-/ready": c.ReadinessProbe, "/-/healthy": c.LivenessProbe} {
				if got := probed(t, probe); got != path.Join(want, name) {
					t.Errorf("%q, local %s: a probe asks for %q, want %q", prefix, local, got, path.Join(want, name))
				}
			}
		}
	}
}

func argument(t *testing.T, c corev1.Container, flag string) string {
	t.Helper()
	for _, a := range c.Args {
		if value, ok := strings.CutPrefix(a, flag); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", flag, c.Args)
	return ""
}

// probed returns the path that a probe requests: over HTTP as the kubelet parses it,
// otherwise the argument that the script passes to curl and wget.
func probed(t *testing.T, p *corev1.Probe) string {
	t.Helper()
	if p.HTTPGet != nil {
		u, err := url.Parse(p.HTTPGet.Path)
		if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Host != "" {
			t.Errorf("path %q is %#v, %v", p.HTTPGet.Path, u, err)
			return ""
		}
		return u.Path
	}
	asked := scripted(t, "curl", p.Exec.Command)
	if other := scripted(t, "wget", p.Exec.Command); other != asked {
		t.Errorf("wget asks for %q, curl for %q", other, asked)
	}
	if i := strings.IndexAny(asked, "{}[] "); i >= 0 {
		t.Errorf("curl does not take %q as it is", asked)
	}
	return requestPath(t, asked)
}

// scripted runs a script in which the program is a stub that prints its last argument.
func scripted(t *testing.T, program string, command []string) string {
	t.Helper()
	shell, err := exec.LookPath(command[0])
	if err != nil {
		t.Skip("no shell on this machine")
	}
	dir := t.TempDir()
	stub := "#!" + shell + "\nfor last; do :; done; printf %s \"$last\"\n"
	if err := os.WriteFile(filepath.Join(dir, program), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), shell, command[1:]...)
	cmd.Env = []string{"PATH=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%q: %v: %s", command, err, out)
	}
	return string(out)
}

// If the pod of the reference works, ours has exactly the same arguments and paths,
// because a difference would replace the pod.
func TestRoutePrefixAsWritten(t *testing.T) {
	for prefix, want := range map[string]struct{ arg, path string }{
		``:         {`/`, `/`},
		`/`:        {`/`, `/`},
		`/foo`:     {`/foo`, `/foo/`},
		`/foo//`:   {`/foo//`, `/foo/`},
		`//foo/`:   {`//foo/`, `/foo/`},
		`/a(b)'c!`: {`/a(b)'c!`, `/a(b)'c!/`},
		`/größe x`: {`/größe x`, `/größe x/`},
	} {
		o := serverOwner(t, `{routePrefix: "`+prefix+`"}`)
		sts, err := o.StatefulSet(testInputs())
		if err != nil {
			t.Fatal(err)
		}
		pod := sts.Spec.Template.Spec
		c := find(t, pod, workload.ContainerPrometheus)
		if got := argument(t, c, "--web.route-prefix="); got != want.arg {
			t.Errorf("%q: prefix %q, want %q", prefix, got, want.arg)
		}
		if got := c.ReadinessProbe.HTTPGet.Path; got != want.path+"-/ready" {
			t.Errorf("%q: probe %q", prefix, got)
		}
		if got := argument(t, find(t, pod, workload.ContainerConfigReloader), "--reload-url="); got != "http://localhost:9090"+want.path+"-/reload" {
			t.Errorf("%q: reload URL %q", prefix, got)
		}
	}
}

// An IPv6 address is in brackets before a port, whether or not the flag has them.
func TestLocalhost(t *testing.T) {
	for host, want := range map[string]string{
		"": "localhost", "127.0.0.1": "127.0.0.1", "::1": "[::1]", "[::1]": "[::1]",
	} {
		o := serverOwner(t, `{listenLocal: true}`)
		o.Config.Localhost = host
		if got := o.localURL("/-/reload"); got != "http://"+want+":9090/-/reload" {
			t.Errorf("%q: reload URL %s", host, got)
		}
		sts, err := o.StatefulSet(testInputs())
		if err != nil {
			t.Fatal(err)
		}
		if got := argument(t, find(t, sts.Spec.Template.Spec, workload.ContainerConfigReloader), "--listen-address="); got != want+":8080" {
			t.Errorf("%q: address of a reloader %s", host, got)
		}
	}
}
