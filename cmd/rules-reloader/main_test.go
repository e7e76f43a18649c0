package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("RULES_RELOADER_MAIN") != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// start runs the program with a metrics server on a free port until the test ends.
func start(t testing.TB, args ...string) *reloadtest.Process {
	t.Helper()
	return reloadtest.Start(t, func(ctx context.Context, listen string, log io.Writer) int {
		return run(ctx, append([]string{"-web.listen-address", listen}, args...), log, log)
	})
}

// ready returns a condition that is true when every server has loaded the content on
// disk.
func ready(p *reloadtest.Process) func() bool {
	return func() bool { code, _ := p.Get("/-/ready"); return code == 200 }
}

func loads() error { return nil }

func TestTheOldArgumentsAloneAreEnough(t *testing.T) {
	rules, more := volumetest.New(t), volumetest.New(t)
	server := reloadtest.New(t, loads)
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+rules.Dir, "--volume-dir="+more.Dir)
	server.Wait(t, "the reload at the start", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	for i := range 3 {
		rules.Swap(map[string]string{"a": fmt.Sprint(i), fmt.Sprint("key", i): ""})
		server.Wait(t, "a swap", func(s reloadtest.Stats) bool { return s.Loaded == i+2 })
	}
	rules.Swap(map[string]string{"a": "2", "key2": ""}) // same content
	more.Swap(map[string]string{"b": "1"})
	server.Wait(t, "the other folder", func(s reloadtest.Stats) bool { return s.Loaded == 5 })
	p.Until("readiness", ready(p))
	if s := server.Stats(); s.Requests != 5 {
		t.Errorf("%d requests for 5 contents", s.Requests)
	}
}

func TestSwapsOfManyFoldersMakeOneReload(t *testing.T) {
	server := reloadtest.New(t, loads)
	args := []string{"-webhook-url", server.ReloadURL()}
	var vols []*volumetest.Volume
	for range 3 {
		v := volumetest.New(t)
		vols = append(vols, v)
		args = append(args, "-volume-dir", v.Dir)
	}
	p := start(t, args...)
	server.Wait(t, "the start", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	for i := range 100 {
		vols[i%3].Swap(map[string]string{"a": fmt.Sprint(i)})
	}
	server.Wait(t, "the swaps", func(s reloadtest.Stats) bool { return s.Loaded >= 2 })
	p.Until("the last content", func() bool {
		r := p.Report()
		return r.Ready && r.Current.Dirs[99%3].SHA256 == volume.SumFiles(map[string][]byte{"a": []byte("99")})
	})
	if s := server.Stats(); s.Loaded > 10 || s.MostOpen > 1 {
		t.Errorf("%d reloads for 100 swaps in a row, %d at once", s.Loaded, s.MostOpen)
	}
}

func TestOneDeadServerDoesNotDelayTheOther(t *testing.T) {
	vol := volumetest.New(t)
	dead, server := reloadtest.New(t, loads), reloadtest.New(t, loads)
	dead.Close()
	p := start(t, "--webhook-url="+dead.ReloadURL(), "--webhook-url="+server.ReloadURL(), "--volume-dir="+vol.Dir, "--retry-interval=1h", "--retry-max-interval=1h")
	server.Wait(t, "the start", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	vol.Swap(map[string]string{"a": "1"})
	server.Wait(t, "the swap", func(s reloadtest.Stats) bool { return s.Loaded == 2 })
	if ready(p)() {
		t.Error("ready although one server is dead")
	}
	if r := p.Report(); len(r.Targets) != 2 || r.Targets[0].Error == nil || r.Targets[1].Applied == nil {
		t.Errorf("report %+v", r)
	}
	p.Until("the errors of the dead one", func() bool {
		return p.Metric(`configmap_reload_last_reload_error{webhook="`+dead.ReloadURL()+`"}`) == "1" &&
			p.Metric(`configmap_reload_request_errors_total{reason="client_request_do",webhook="`+dead.ReloadURL()+`"}`) != "0"
	})
	if got := p.Metric(`configmap_reload_success_reloads_total{webhook="` + server.ReloadURL() + `"}`); got != "2" {
		t.Errorf("%s successes of the other", got)
	}
}

// A rejected reload is retried until the server recovers, without any further change.
func TestNothingIsGivenUp(t *testing.T) {
	vol := volumetest.New(t)
	var refuse atomic.Bool
	refuse.Store(true)
	server := reloadtest.New(t, func() error {
		if refuse.Load() {
			return fmt.Errorf("groupname: %q is repeated", "x")
		}
		return nil
	})
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+vol.Dir, "--retry-interval=20ms")
	server.Wait(t, "several attempts", func(s reloadtest.Stats) bool { return s.Requests >= 3 })
	if !strings.Contains(p.Log.String(), `failed to reload config: groupname: \"x\" is repeated`) {
		t.Errorf("the reason is missing in\n%s", p.Log)
	}
	refuse.Store(false)
	server.Wait(t, "the recovery", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	p.Until("readiness", ready(p))
}

func TestLimitedAttempts(t *testing.T) {
	vol := volumetest.New(t)
	server := reloadtest.New(t, func() error { return os.ErrInvalid })
	p := start(t, "-webhook-url", server.ReloadURL(), "-volume-dir", vol.Dir, "-webhook-retries", "2", "-retry-interval=10ms", "-resync-interval=300ms")
	exhausted := `configmap_reload_request_errors_total{reason="retries_exhausted",webhook="` + server.ReloadURL() + `"}`
	p.Until("the end of the attempts", func() bool { return p.Metric(exhausted) == "1" })
	server.Wait(t, "two attempts after the next full check", func(s reloadtest.Stats) bool { return s.Requests >= 4 })
	p.Until("the second end", func() bool { return p.Metric(exhausted) >= "2" })
	if got := p.Metric(`configmap_reload_requests_total{status_code="500",webhook="` + server.ReloadURL() + `"}`); got == "" {
		t.Error("no count of the answers")
	}
	vol.Swap(map[string]string{"a": "1"})
	before := server.Stats().Requests
	server.Wait(t, "attempts for new content", func(s reloadtest.Stats) bool { return s.Requests > before })
}

func TestChangeWhileAway(t *testing.T) {
	vol := volumetest.New(t)
	server := reloadtest.New(t, loads)
	args := []string{"--webhook-url=" + server.ReloadURL(), "--volume-dir=" + vol.Dir}
	first := start(t, args...)
	server.Wait(t, "the start", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	first.End()
	vol.Swap(map[string]string{"a": "1"})
	start(t, args...)
	server.Wait(t, "the change in between", func(s reloadtest.Stats) bool { return s.Loaded == 2 })
}

func TestPlainAndLateFolders(t *testing.T) {
	parent := t.TempDir()
	late := filepath.Join(parent, "late", "rules")
	server := reloadtest.New(t, loads)
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+late, "--delay-interval=20ms")
	server.Wait(t, "the start", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
	p.Until("the warning", func() bool { return strings.Contains(p.Log.String(), "Folder does not exist, waiting for it") })
	must(t, os.MkdirAll(filepath.Join(late, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(late, "sub", "a"), []byte("1"), 0o644))
	server.Wait(t, "the folder that appeared", func(s reloadtest.Stats) bool { return s.Loaded == 2 })
	p.Until("its watches", func() bool { return p.Metric("configmap_reload_watches") == "2" })
	must(t, os.WriteFile(filepath.Join(late, "sub", "a"), []byte("2"), 0o644))
	server.Wait(t, "a plain write", func(s reloadtest.Stats) bool { return s.Loaded == 3 })
}

func TestUnreadableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	server := reloadtest.New(t, loads)
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+file, "--delay-interval=20ms")
	p.Until("the message", func() bool {
		return strings.Contains(p.Log.String(), `level=error`) && strings.Contains(p.Log.String(), "read folder "+file+": not a directory")
	})
	if code, _ := p.Get("/readyz"); code != 503 || server.Stats().Requests != 0 {
		t.Errorf("/readyz answers %d, %d requests", code, server.Stats().Requests)
	}
	must(t, os.Remove(file))
	must(t, os.Mkdir(file, 0o755))
	server.Wait(t, "the folder", func(s reloadtest.Stats) bool { return s.Loaded == 1 })
}

func TestOtherMethodCodesAndCertificates(t *testing.T) {
	vol := volumetest.New(t)
	calls := make(chan string, 100)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		calls <- r.Method + " " + r.URL.RequestURI() + " " + user
		w.WriteHeader(204)
	}))
	defer hook.Close()
	url := strings.Replace(hook.URL, "https://", "https://me:hunter2@", 1) + "/hook?token=hunter2"
	p := start(t, "--webhook-url="+url, "--volume-dir="+vol.Dir, "--webhook-method=PUT", "--webhook-status-code=2xx")
	if got := <-calls; got != "PUT /hook?token=hunter2 me" {
		t.Errorf("called %q", got)
	}
	p.Until("readiness", ready(p))
	_, metrics := p.Get("/metrics")
	_, report := p.Get("/api/v1/applied")
	if all := p.Log.String() + metrics + report; strings.Contains(all, "hunter2") || !strings.Contains(metrics, `status_code="204",webhook="https://xxxxx@`) {
		t.Errorf("secrets or labels are wrong:\n%s", all)
	}
}

// TestDurationExcludesChecks checks that the duration metric measures only the reload request, without the checks
// before and after it, also for a late response.
func TestDurationExcludesChecks(t *testing.T) {
	const late = 700 * time.Millisecond
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == "POST" && strings.HasPrefix(r.URL.Path, "/late/"):
			time.Sleep(late)
		case strings.HasPrefix(r.URL.Path, "/checks/") && r.Method == "GET":
			time.Sleep(late)
		}
	}))
	defer hook.Close()
	late1, checks := hook.URL+"/late/-/reload", hook.URL+"/checks/-/reload"
	p := start(t, "--webhook-url="+late1, "--webhook-url="+checks, "--volume-dir="+volumetest.New(t).Dir, "--webhook-timeout=200ms", "--retry-interval=1s")
	p.Until("both", ready(p))
	duration := func(webhook string) float64 {
		d, err := strconv.ParseFloat(p.Metric(`configmap_reload_last_request_duration_seconds{webhook="`+webhook+`"}`), 64)
		must(t, err)
		return d
	}
	if d := duration(late1); d < late.Seconds() {
		t.Errorf("%v s for a response after %s", d, late)
	}
	if d := duration(checks); d > 0.2 {
		t.Errorf("%v s for a request with a timeout of 0.2 s", d)
	}
}

// Servers whose URLs differ only in hidden parts have separate series: a working one does not hide the failure of
// another.
func TestServersWithTheSameName(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("team") == "a" {
			w.WriteHeader(500)
		}
	}))
	defer hook.Close()
	p := start(t, "--webhook-url="+hook.URL+"/hook?team=a", "--webhook-url="+hook.URL+"/hook?team=b", "--volume-dir="+volumetest.New(t).Dir)
	name := hook.URL + "/hook?xxxxx"
	p.Until("both", func() bool {
		return p.Metric(`configmap_reload_last_reload_error{webhook="`+name+`"}`) == "1" &&
			p.Metric(`configmap_reload_success_reloads_total{webhook="`+name+` (2)"}`) == "1"
	})
	if r := p.Report(); len(r.Targets) != 2 || r.Targets[0].Name != name || r.Targets[1].Name != name+" (2)" {
		t.Errorf("report %+v", r.Targets)
	}
}

func TestEndpointsFromTheFirstScrape(t *testing.T) {
	vol := volumetest.New(t)
	server := reloadtest.New(t, loads)
	server.SetReady(false)
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+vol.Dir)
	_, body := p.Get("/metrics")
	hook := `webhook="` + server.ReloadURL() + `"`
	for _, series := range []string{
		"configmap_reload_last_reload_error{" + hook + "} 0",
		"configmap_reload_last_request_duration_seconds{" + hook + "} 0",
		"configmap_reload_last_reload_success_timestamp_seconds{" + hook + "} 0",
		"configmap_reload_success_reloads_total{" + hook + "} 0",
		`configmap_reload_request_errors_total{reason="client_request_create",` + hook + "} 0",
		`configmap_reload_request_errors_total{reason="client_request_do",` + hook + "} 0",
		`configmap_reload_request_errors_total{reason="client_response",` + hook + "} 0",
		`configmap_reload_request_errors_total{reason="retries_exhausted",` + hook + "} 0",
		"configmap_reload_watcher_errors_total 0",
		"configmap_reload_watches ", // 0 until the watches exist
		"rules_reloader_build_info{",
		`promhttp_metric_handler_requests_total{code="200"}`,
		"promhttp_metric_handler_requests_in_flight 1",
		"go_goroutines ", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(body, "\n"+series) {
			t.Errorf("no series %s", series)
		}
	}
	for path, want := range map[string]string{
		"/healthz": `200 {"status":"up"}`, "/-/healthy": `200 {"status":"up"}`, "/-/ready": `503 {"status":"not ready"}`,
		"/": `200 <html>`, "/nowhere": `href="/metrics"`,
	} {
		if code, body := p.Get(path); !strings.Contains(fmt.Sprint(code, " ", body), want) {
			t.Errorf("%s answers %d %q, want %q", path, code, body, want)
		}
	}
	p.Until("the watch", func() bool { return p.Metric("configmap_reload_watches") == "1" })
	server.SetReady(true)
	p.Until("readiness", ready(p))
}

func TestSignalMethodNeedsNoURL(t *testing.T) {
	server := reloadtest.New(t, loads)
	p := start(t, "--reload-method=signal", "--process-executable-name=no-such-process", "--runtimeinfo-url="+server.InfoURL(), "--volume-dir="+t.TempDir())
	p.Until("the message", func() bool { return strings.Contains(p.Log.String(), `no process named \"no-such-process\"`) })
	if got := p.Metric(`configmap_reload_last_reload_error{webhook="process no-such-process"}`); got != "1" {
		t.Errorf("gauge %q", got)
	}
}

func TestMetricsCanBeElsewhereOrOff(t *testing.T) {
	vol := volumetest.New(t)
	server := reloadtest.New(t, loads)
	p := start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+vol.Dir, "--web.telemetry-path=/m")
	if _, body := p.Get("/m"); !strings.Contains(body, "go_goroutines") {
		t.Error("no metrics at /m")
	}
	start(t, "--webhook-url="+server.ReloadURL(), "--volume-dir="+vol.Dir, "-web.listen-address=")
	server.Wait(t, "both programs", func(s reloadtest.Stats) bool { return s.Loaded == 2 })
}

func TestBadCommandLines(t *testing.T) {
	const hook = " --webhook-url=http://localhost/ --volume-dir=/tmp"
	for args, tc := range map[string]struct {
		code int
		err  string
	}{
		"":                               {1, "--volume-dir: required"},
		"-volume-dir /tmp":               {1, "--webhook-url: required"},
		"-webhook-url http://localhost/": {1, "--volume-dir: required"},
		"--nope" + hook:                  {2, "unknown long flag '--nope'"},
		"stray" + hook:                   {2, "unexpected stray"},
		"--webhook-url=http://u:hunter2@:x --volume-dir=/tmp": {2, "--webhook-url: not a valid URL"},
		"-webhook-retries 0" + hook:                           {2, "--webhook-retries: 0 attempts would never reload"},
		"-webhook-retries x" + hook:                           {2, `--webhook-retries: "x" is not a number`},
		"--webhook-status-code=99" + hook:                     {2, `--webhook-status-code: "99" is not a status code`},
		"--webhook-status-code=6xx" + hook:                    {2, `--webhook-status-code: "6xx" is not a status code`},
		"--web.telemetry-path=m" + hook:                       {2, `--web.telemetry-path: "m" is not a path`},
		"--web.telemetry-path=/healthz" + hook:                {2, "--web.telemetry-path: /healthz is taken"},
		"--resync-interval=0" + hook:                          {2, "--resync-interval: 0: must be more than 0"},
		"--retry-interval=2m" + hook:                          {2, "--retry-max-interval: 1m0s is less than --retry-interval"},
		"--reload-method=signal" + hook:                       {2, "--webhook-url: cannot be combined with --reload-method=signal"},
		"--volume-dir= --webhook-url=http://localhost/":       {2, "--volume-dir: must not be empty"},
		"--webhook-tls-key-file=k" + hook:                     {2, "needs both"},
		"--log-level=loud" + hook:                             {1, `--log-level=loud: unknown level`},
		"--web-config-file=/none" + hook:                      {2, "open /none"},
		"--web.listen-address=nowhere" + hook:                 {1, "--web.listen-address=nowhere: "},
		"-h":                                                  {0, "--webhook-retries"},
		"-version":                                            {0, "rules-reloader, version "},
	} {
		t.Run(args, func(t *testing.T) {
			var out bytes.Buffer
			code := run(t.Context(), strings.Fields(args), &out, &out)
			if code != tc.code || !strings.Contains(out.String(), tc.err) || strings.Contains(out.String(), "hunter2") {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.err, out.String())
			}
		})
	}
}

func TestStatusCodes(t *testing.T) {
	for in, want := range map[string][]int{"200": {200}, "200, 204": {200, 204}} {
		if got, err := statusCodes(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q gives %v, %v", in, got, err)
		}
	}
	if got, err := statusCodes("2XX,304"); err != nil || len(got) != 101 || got[99] != 299 || got[100] != 304 {
		t.Errorf("2XX,304 gives %v, %v", got, err)
	}
}

func TestTerminationIsSuccess(t *testing.T) {
	vol := volumetest.New(t)
	server := reloadtest.New(t, func() error { return os.ErrInvalid })
	cmd := exec.Command(os.Args[0], "-webhook-url", server.ReloadURL(), "-volume-dir", vol.Dir, "-web.listen-address", "127.0.0.1:0", "-retry-interval", "1m")
	log := &logtest.Log{}
	cmd.Env = append(os.Environ(), "RULES_RELOADER_MAIN=1")
	cmd.Stdout, cmd.Stderr = log, log
	child.DiesWithUs(cmd)
	must(t, cmd.Start())
	server.Wait(t, "an attempt", func(s reloadtest.Stats) bool { return s.Requests == 1 })
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil || !strings.Contains(log.String(), "msg=Stopped") {
		t.Errorf("%v\n%s", err, log)
	}
}
