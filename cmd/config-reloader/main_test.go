package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

func TestEverySwapIsOneReload(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0 $(A) $(STATEFULSET_ORDINAL_NUMBER) ${1}\n")
	p := start(t, s.args()...)
	s.waitLive(t, "v0 1 3 ${1}\n")
	for i := 1; i <= 3; i++ {
		text := fmt.Sprintf("v%d", i)
		s.put(t, text)
		s.waitLive(t, text)
	}
	s.put(t, "v3") // same content in a new folder
	// A second change proves that the one before caused no reload.
	s.put(t, "v4")
	s.waitLive(t, "v4")
	if st := s.server.Stats(); st.Loaded != 5 {
		t.Errorf("%d reloads for 5 contents", st.Loaded)
	}
	if info, err := os.Stat(s.out); err != nil || info.Mode() != 0o644 {
		t.Errorf("output %v, %v", info.Mode(), err)
	}
	p.Until("/-/ready", func() bool { code, _ := p.Get("/-/ready"); return code == 200 })
}

func TestSwapsOfSeveralFoldersMakeOneReload(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	rules, secrets := volumetest.New(t), volumetest.New(t)
	// The swaps are one burst on a slow machine, too.
	start(t, s.args("--watched-dir="+rules.Dir, "--watched-dir="+secrets.Dir, "--settle-interval=500ms")...)
	s.waitLive(t, "v0")
	for i := range 10 {
		switch i % 3 {
		case 0:
			s.put(t, fmt.Sprint("v", i))
		case 1:
			rules.Swap(map[string]string{"r": fmt.Sprint(i)})
		case 2:
			secrets.Swap(map[string]string{"s": fmt.Sprint(i)})
		}
	}
	s.waitLive(t, "v9")
	rules.Swap(map[string]string{"r": "last"})
	s.server.Wait(t, "the rules", func(st reloadtest.Stats) bool { return st.Loaded >= 3 })
	if st := s.server.Stats(); st.Loaded > 4 {
		t.Errorf("%d reloads, want the first, one or two for ten swaps, and the last", st.Loaded)
	}
}

func TestHundredSwapsLoseNothing(t *testing.T) {
	s := newSite(t)
	s.put(t, "start")
	p := start(t, s.args()...)
	s.waitLive(t, "start")
	for i := range 100 {
		s.put(t, fmt.Sprintf("content %d", i))
	}
	s.waitLive(t, "content 99")
	p.Until("everything settled", func() bool { return p.Report().Ready })
	if got := read(t, s.out); got != "content 99" || s.running() != got {
		t.Errorf("output %q, running %q", got, s.running())
	}
	if st := s.server.Stats(); st.MostOpen > 1 {
		t.Errorf("%d requests at once", st.MostOpen)
	}
}

func TestKeysThatComeAndGo(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	rules := volumetest.New(t)
	p := start(t, s.args("--watched-dir="+rules.Dir)...)
	s.waitLive(t, "v0")
	for i, files := range []map[string]string{{"a": "1"}, {"a": "1", "b": "1"}, {"b": "1"}, {}} {
		rules.Swap(files)
		s.server.Wait(t, "the swap", func(st reloadtest.Stats) bool { return st.Loaded == i+2 })
	}
	if n := p.Metric("reloader_config_apply_operations_failed_total"); n != "0" || strings.Contains(p.Log.String(), "level=error") {
		t.Errorf("%s failed looks:\n%s", n, p.Log)
	}
}

// A corrected configuration is loaded immediately. The intervals are much longer than the
// test.
func TestCorrectionIsUsedAtOnce(t *testing.T) {
	s := newSite(t)
	s.put(t, "good 1")
	p := start(t, s.args("--retry-interval=10m", "--watch-interval=1h")...)
	s.waitLive(t, "good 1")
	p.Until("the first success", func() bool { return p.Metric("reloader_last_reload_successful") == "1" }) // it is 0 before
	s.put(t, "bad")
	p.Until("the refusal", func() bool { return p.Metric("reloader_last_reload_successful") == "0" })
	if code, _ := p.Get("/-/ready"); code != 503 {
		t.Errorf("/-/ready answers %d while the server refuses", code)
	}
	if code, _ := p.Get("/readyz"); code != 200 {
		t.Errorf("/readyz answers %d, the output is there", code)
	}
	r := p.Report()
	if e := r.Targets[0].Error; e == nil || e.Reason != "rejected" || !strings.Contains(e.Message, "answered 500") || strings.Contains(e.Message, "bad") {
		t.Errorf("report %+v", r.Targets[0])
	}
	if !strings.Contains(p.Log.String(), "failed to reload config: line 1: bad") {
		t.Errorf("the log lacks the server's words:\n%s", p.Log)
	}
	s.put(t, "good 2")
	s.waitLive(t, "good 2")
	s.put(t, "bad again")
	s.server.Wait(t, "the next refusal", func(st reloadtest.Stats) bool { return st.Requests == 4 })
	s.put(t, "good 2") // the content that was loaded last: the server must still be reloaded
	s.server.Wait(t, "the way back", func(st reloadtest.Stats) bool { return st.Loaded == 3 })
	p.Until("the gauge", func() bool { return p.Metric("reloader_last_reload_successful") == "1" })
}

// Invalid inputs cause an error message, set the gauge and keep the output, and a
// correction is detected.
func TestBrokenInputs(t *testing.T) {
	for name, tc := range map[string]struct {
		content string
		want    string
	}{
		"truncated gzip": {gz(t, strings.Repeat("text", 1000))[:20], "unexpected EOF"},
		"no such key":    {"", "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.put(t, "v0")
			p := start(t, s.args()...)
			s.waitLive(t, "v0")
			files := map[string]string{key: tc.content}
			if tc.content == "" {
				files = nil
			}
			s.vol.Swap(files)
			p.Until("the gauge", func() bool { return p.Metric("reloader_last_reload_successful") == "0" })
			p.Until("the count", func() bool { return p.Metric("reloader_config_apply_operations_failed_total") != "0" })
			p.Until("the message", func() bool { return strings.Contains(p.Log.String(), tc.want) })
			p.Until("retries", func() bool { return p.Metric("reloader_config_apply_operations_failed_total") > "2" })
			failed, all := p.Metric("reloader_config_apply_operations_failed_total"), p.Metric("reloader_config_apply_operations_total")
			if len(failed) > len(all) || len(failed) == len(all) && failed > all {
				t.Errorf("%s failures in %s checks", failed, all)
			}
			if n := strings.Count(p.Log.String(), "level=error"); n != 1 {
				t.Errorf("%d lines of errors", n)
			}
			if r := p.Report(); r.Ready || r.InputError == nil || !strings.Contains(r.InputError.Message, tc.want) {
				t.Errorf("report %+v", r)
			}
			if read(t, s.out) != "v0" || s.server.Stats().Requests != 1 {
				t.Errorf("output %q, %d requests", read(t, s.out), s.server.Stats().Requests)
			}
			s.put(t, "v0") // same as before the fault: no reload, but successful again
			p.Until("the recovery", func() bool { return p.Metric("reloader_last_reload_successful") == "1" })
			s.put(t, "v1")
			s.waitLive(t, "v1")
		})
	}
}

func TestUnsetVariables(t *testing.T) {
	s := newSite(t)
	s.put(t, "$(NOPE) $(NOPE) $(A)")
	p := start(t, s.args("--watch-interval=50ms")...)
	s.waitLive(t, "$(NOPE) $(NOPE) 1")
	p.Until("some ticks", func() bool { return p.Metric("reloader_config_apply_operations_total") >= "3" })
	if n := strings.Count(p.Log.String(), "refers to unset variables"); n != 1 || !strings.Contains(p.Log.String(), "variables=[NOPE] references=2") {
		t.Errorf("%d warnings", n)
	}
	if got := p.Metric("reloader_config_environment_variable_expansion_errors"); got != "2" {
		t.Errorf("gauge %s", got)
	}
	s.put(t, "$(A)")
	s.waitLive(t, "1")
	if got := p.Metric("reloader_config_environment_variable_expansion_errors"); got != "0" {
		t.Errorf("gauge %s after the correction", got)
	}
}

func TestFoldersOnly(t *testing.T) {
	s := newSite(t)
	later := filepath.Join(t.TempDir(), "later")
	must(t, os.WriteFile(s.out, []byte("rules"), 0o644))
	p := start(t, "--watched-dir="+later, "--volume-dir="+s.vol.Dir, "--rules-dir="+t.TempDir(),
		"--webhook-url="+s.server.ReloadURL(), "--delay-interval=20ms")
	s.server.Wait(t, "the first reload", func(st reloadtest.Stats) bool { return st.Loaded == 1 })
	p.Until("the warning", func() bool { return strings.Contains(p.Log.String(), "Folder does not exist, waiting for it") })
	must(t, os.Mkdir(later, 0o755))
	must(t, os.WriteFile(filepath.Join(later, "a"), nil, 0o644))
	s.server.Wait(t, "the folder that appeared", func(st reloadtest.Stats) bool { return st.Loaded == 2 })
	if r := p.Report(); len(r.Current.Dirs) != 3 || r.Current.Dirs[0].Path != later || r.Current.Dirs[0].Files != 1 {
		t.Errorf("report %+v", r.Current)
	}
}

func TestConfigFolders(t *testing.T) {
	s := newSite(t)
	extra, out := volumetest.New(t), t.TempDir()
	extra.Swap(map[string]string{"a.yaml": gz(t, "$(A)"), "b.yaml": "b"})
	s.put(t, "v0")
	start(t, s.args("--config-dir="+extra.Dir, "--config-envsubst-dir="+out)...)
	s.waitLive(t, "v0")
	if read(t, filepath.Join(out, "a.yaml")) != "1" {
		t.Error("the folder is not rendered")
	}
	extra.Swap(map[string]string{"b.yaml": "c"})
	s.server.Wait(t, "the change", func(st reloadtest.Stats) bool { return st.Loaded == 2 })
	if _, err := os.Stat(filepath.Join(out, "a.yaml")); err == nil || read(t, filepath.Join(out, "b.yaml")) != "c" {
		t.Error("the folder is not up to date")
	}
}

func TestReportHasTheHashesOfInputAndOutput(t *testing.T) {
	s := newSite(t)
	raw := gz(t, "v $(A)")
	s.vol.Swap(map[string]string{key: raw})
	p := start(t, s.args()...)
	s.waitLive(t, "v 1")
	hash := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	p.Until("the report", func() bool { return p.Report().Ready })
	f := p.Report().Targets[0].Applied.Files[0]
	if f.Input != s.vol.Path(key) || f.InputSHA256 != hash(raw) || f.Output != s.out || f.OutputSHA256 != hash("v 1") {
		t.Errorf("report %+v", f)
	}
	// The same content in another form needs no reload, but the report must have the hash
	// of the new form as applied.
	s.vol.Swap(map[string]string{key: "v $(A)"})
	p.Until("the new form", func() bool { return p.Report().Targets[0].Applied.Files[0].InputSHA256 == hash("v $(A)") })
	if st := s.server.Stats(); st.Requests != 1 {
		t.Errorf("%d requests", st.Requests)
	}
}

func TestMetricsFromTheFirstScrape(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	p := start(t, s.args()...)
	_, body := p.Get("/metrics")
	for _, name := range []string{
		"reloader_reloads_total ", "reloader_reloads_failed_total 0", "reloader_last_reload_successful ",
		"reloader_last_reload_success_timestamp_seconds ", "reloader_config_apply_operations_total 0",
		"reloader_config_apply_operations_failed_total 0", "reloader_config_environment_variable_expansion_errors 0",
		`reloader_info{method="http"} 1`, "reloader_watches ", "reloader_watch_events_total ", "reloader_watch_errors_total 0",
		`prometheus_config_reloader_build_info{branch="",goarch="`, `promhttp_metric_handler_errors_total{cause="encoding"} 0`,
		"go_goroutines ", "go_sched_latencies_seconds_bucket", "go_sync_mutex_wait_total_seconds_total", "go_gc_duration_seconds", "process_resident_memory_bytes ",
	} {
		if !strings.Contains(body, "\n"+name) {
			t.Errorf("no series %s", name)
		}
	}
	s.waitLive(t, "v0")
	p.Until("the watches", func() bool { return p.Metric("reloader_watches") == "2" })
	for path, want := range map[string]string{"/healthz": `200 {"status":"up"}`, "/-/healthy": `200 {"status":"up"}`} {
		if code, body := p.Get(path); fmt.Sprint(code, " ", body) != want {
			t.Errorf("%s answers %d %q", path, code, body)
		}
	}
}

func TestSecretsStaySecret(t *testing.T) {
	s := newSite(t)
	s.put(t, "v0")
	url := strings.Replace(s.server.ReloadURL(), "http://", "http://user:hunter2@", 1) + "?token=hunter2"
	p := start(t, s.args()[0], s.args()[1], "--reload-url="+url, "--log-level=debug")
	s.waitLive(t, "v0")
	s.put(t, "bad")
	p.Until("the refusal", func() bool { return strings.Contains(p.Log.String(), "level=error") })
	_, metrics := p.Get("/metrics")
	_, report := p.Get("/api/v1/applied")
	if strings.Contains(p.Log.String()+metrics+report, "hunter2") {
		t.Errorf("the password shows:\n%s\n%s", p.Log, report)
	}
}

func TestOnce(t *testing.T) {
	s := newSite(t)
	s.put(t, "v $(A)")
	missing := filepath.Join(t.TempDir(), "missing")
	for name, tc := range map[string]struct {
		args []string
		code int
		log  string
	}{
		"writes and ends":       {s.args(), 0, ""},
		"missing watched dir":   {s.args("--watched-dir=" + missing), 1, missing + ": no such file or directory"},
		"missing config":        {[]string{"--config-file=" + missing}, 1, "read config: open " + missing},
		"folders only":          {[]string{"--watched-dir=" + missing}, 0, ""},
		"output in no folder":   {[]string{"--config-file=" + s.vol.Path(key), "--config-envsubst-file=" + missing + "/out"}, 1, "write output: "},
		"port is not even used": {s.args("--listen-address=256.256.256.256:1"), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			code := run(t.Context(), append(tc.args, "--watch-interval=0"), []string{"A=1"}, &out, &out)
			if code != tc.code || !strings.Contains(out.String(), tc.log) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, tc.code, tc.log, out.String())
			}
		})
	}
	if got := read(t, s.out); got != "v 1" {
		t.Errorf("output %q", got)
	}
	if st := s.server.Stats(); st.Requests != 0 {
		t.Errorf("%d requests from the init container", st.Requests)
	}
}

func TestNothingToWatch(t *testing.T) {
	for _, interval := range []string{"0", "1m"} {
		p := start(t, "--watch-interval="+interval)
		p.Until("the log line", func() bool { return strings.Contains(p.Log.String(), "Nothing to watch") })
	}
}

func TestBadCommandLines(t *testing.T) {
	here, err := os.Getwd()
	must(t, err)
	file := filepath.Join(t.TempDir(), "web.yaml")
	must(t, os.WriteFile(file, []byte("nonsense: true\n"), 0o644))
	for args, tc := range map[string]struct {
		code   int
		out    string // expected on stdout
		errOut string
	}{
		"--nope":                                     {2, "unknown long flag '--nope'", ""},
		"stray":                                      {2, "unexpected stray", ""},
		"--watch-interval=-1s":                       {2, "--watch-interval: -1s is negative", ""},
		"--retry-interval=0":                         {2, "--retry-interval: 0: must be more than 0", ""},
		"--reload-method=ftp":                        {2, `--reload-method: "ftp" is not one of http, signal`, ""},
		"--reload-url=nope":                          {2, "--reload-url: want a URL that starts with http:// or https://", ""},
		"--envsubst-syntax=perl":                     {2, "--envsubst-syntax: ", ""},
		"--config-file=a --config-file=b":            {2, "cannot be repeated", ""},
		"--config-envsubst-file=a":                   {2, "requires --config-file", ""},
		"--config-file=a --config-envsubst-file=./a": {2, "must not be the --config-file itself", ""},
		"--config-file=a --config-envsubst-file=" + here + "/a":                          {2, "must not be the --config-file itself", ""},
		"--config-dir=a --config-envsubst-dir=" + here + "/a":                            {2, "must not be a --config-dir itself", ""},
		"--config-dir=a --config-envsubst-dir=x --config-dir=b --config-envsubst-dir=x/": {2, "given twice", ""},
		"--config-dir=a": {2, "each needs the other", ""},
		"--config-dir=a --config-envsubst-dir=a/": {2, "must not be a --config-dir itself", ""},
		"--watched-dir=":                               {2, "must not be empty", ""},
		"--reload-cert-file=x":                         {2, "needs both a certificate file and a key file", ""},
		"--reload-url=http://a --webhook-url=http://b": {2, "--webhook-url: is an alias of --reload-url", ""},
		"--log-level=loud":                             {1, "", `--log-level=loud: unknown level`},
		"--log-format=JSON":                            {1, "", `--log-format=JSON: unknown format`},
		"--web-config-file=/does/not/exist":            {2, "/does/not/exist", ""},
		"--web-config-file=" + file:                    {2, "nonsense", ""},
		"--listen-address=nowhere":                     {1, "--listen-address=nowhere: ", ""},
		"--help":                                       {0, "", "--config-envsubst-file"},
		"--version":                                    {0, "prometheus-config-reloader, version ", ""},
		"--short-version --version":                    {0, "0.0.0-dev", ""},
	} {
		t.Run(args, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run(t.Context(), strings.Fields(args), nil, &out, &errOut)
			if code != tc.code || !strings.Contains(out.String(), tc.out) || !strings.Contains(errOut.String(), tc.errOut) {
				t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", code, tc.code, out.String(), errOut.String())
			}
		})
	}
}

// TestLatency measures the time from the swap of ..data to the reload request, with a
// configuration of 1,000 jobs.
func TestLatency(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := newSite(t)
	jobs := strings.Repeat("- job_name: serviceMonitor/ns/sm/0\n  relabel_configs:\n"+
		strings.Repeat("  - {source_labels: [job], replacement: ${1}, target_label: __tmp_prometheus_job_name}\n", 24), 1000)
	contents := make([]string, 12)
	for i := range contents {
		contents[i] = gz(t, fmt.Sprintf("%s# %d\n", jobs, i))
	}
	s.vol.Swap(map[string]string{key: contents[0]})
	start(t, s.args()...)
	s.server.Wait(t, "the first reload", func(st reloadtest.Stats) bool { return st.Loaded == 1 })
	var took []time.Duration
	for i, content := range contents[1:] {
		steps := s.vol.Steps(map[string]string{key: content})
		steps[0]()
		begin := time.Now()
		for _, step := range steps[1:] {
			step()
		}
		st := s.server.Wait(t, "the reload", func(st reloadtest.Stats) bool { return st.Requests == i+2 })
		took = append(took, st.LastRequest.Sub(begin))
	}
	slices.Sort(took)
	t.Logf("swap to request: median %v, worst %v", took[len(took)/2], took[len(took)-1])
	// About fifty times the time on an idle machine, and less than a poll interval.
	if median := took[len(took)/2]; median > 5*time.Second {
		t.Errorf("median %v", median)
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newSite(t)
	s.put(t, "v0")
	for _, args := range [][]string{s.args(), s.args("--watch-interval=0")} {
		var out bytes.Buffer
		if code := run(ctx, args, nil, &out, &out); code != 0 {
			t.Errorf("%v: exit code %d:\n%s", args, code, out.String())
		}
	}
}
