package options

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/version"
)

type sample struct {
	wait  time.Duration
	how   string
	dirs  []string
	yes   bool
	count int
}

func (s *sample) bind() *kingpin.Application {
	app := kingpin.New("prog", "")
	Var(app.Flag("wait", "").Default("3m"), &s.wait, Interval)
	Var(app.Flag("how", "").Default("http"), &s.how, OneOf("http", "signal"))
	List(app.Flag("dir", ""), &s.dirs, Text)
	app.Flag("yes", "").BoolVar(&s.yes)
	app.Flag("count", "").IntVar(&s.count)
	return app
}

func TestValues(t *testing.T) {
	var s sample
	if _, err := Parse(s.bind(), []string{"--dir=b", "--dir", "a", "--wait=1d"}, nil); err != nil {
		t.Fatal(err)
	}
	if s.wait != 24*time.Hour || s.how != "http" || !slices.Equal(s.dirs, []string{"b", "a"}) {
		t.Errorf("parsed %+v", s)
	}
	for arg, want := range map[string]string{
		"--wait=0":    "--wait: 0: must be more than 0",
		"--wait=-1s":  "--wait: -1s is negative",
		"--wait=soon": `--wait: "soon" is not a duration like 30s, 1h30m or 1d`,
		"--how=ftp":   `--how: "ftp" is not one of http, signal`,
		"stray":       "unexpected stray",
		"--nope":      "unknown long flag '--nope'",
	} {
		if _, err := Parse(new(sample).bind(), []string{arg}, nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
	if _, err := Parse(new(sample).bind(), []string{"--wait=1s", "--wait=1s"}, nil); err == nil {
		t.Error("a flag given twice passes")
	}
	if d, err := Duration("0"); d != 0 || err != nil {
		t.Errorf("Duration(0) = %v, %v", d, err)
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	helped, err := Parse(new(sample).bind(), []string{"--help"}, &out)
	if !helped || err != nil || !strings.Contains(out.String(), "--wait=3m") {
		t.Errorf("helped %v, %v:\n%s", helped, err, out.String())
	}
}

func TestGoStyle(t *testing.T) {
	for in, want := range map[string]string{
		"-dir a -dir=b --dir c": "--dir=a --dir=b --dir=c",
		"-count -1":             "--count=-1",
		"-count 1 -count=2":     "--count=2",
		"-yes -count 1":         "--yes --count=1",
		"-yes=true":             "--yes",
		"--yes=false":           "--no-yes",
		"-yes=0":                "--no-yes",
		"-yes=F":                "--no-yes",
		"-yes=1":                "--yes",
		"-yes=maybe":            "--yes=maybe",
		"-yes=":                 "--yes=",
		"-h":                    "--help",
		"--h":                   "--help",
		"-nope stray":           "--nope stray",
		"-nope=1 - --other":     "--nope=1 - --other",
		"-dir":                  "--dir",
		"--dir -dir":            "--dir=-dir",
		"-- -dir":               "-- -dir",
	} {
		if got := strings.Join(GoStyle(new(sample).bind(), strings.Fields(in)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestVersionFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--version":                 "prog, version 0.0.0-dev (",
		"--short-version":           version.Version,
		"--version --short-version": version.Version,
		"":                          "",
	} {
		var g General
		app := kingpin.New("prog", "")
		g.Bind(app)
		if _, err := Parse(app, strings.Fields(args), nil); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		printed := g.PrintVersion(&out, "prog")
		if printed != (want != "") || !strings.HasPrefix(out.String(), want) || strings.Contains(args, "short") && out.String() != want {
			t.Errorf("%q prints %q (%v)", args, out.String(), printed)
		}
	}
}

func TestProbe(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			http.Redirect(w, r, "/healthz", http.StatusFound)
		}
	}))
	defer s.Close()
	for _, tc := range []struct {
		args  []string
		code  int
		asked bool
		text  string
	}{
		{nil, 0, false, ""},
		{[]string{"--probe=" + s.URL + "/healthz"}, 0, true, ""},
		{[]string{"--probe", s.URL + "/other"}, 1, true, "answered 302 Found"},
		{[]string{"--probe=http://me:hunter2@127.0.0.1:1/"}, 1, true, "connection refused"},
	} {
		var g General
		app := kingpin.New("prog", "")
		g.Bind(app)
		if _, err := Parse(app, tc.args, nil); err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		code, asked := g.Probe(t.Context(), &errs)
		if code != tc.code || asked != tc.asked || !strings.Contains(errs.String(), tc.text) || strings.Contains(errs.String(), "hunter2") {
			t.Errorf("%v: %d, %v, %q", tc.args, code, asked, errs.String())
		}
	}
}

func TestMemoryRatio(t *testing.T) {
	for in, want := range map[string]float64{"0.5": 0.5, "7": 1, "-1": 0, "": -1, "half": -1, "NaN": -1} {
		if got, err := ratio(in); got != max(want, 0) || (err != nil) != (want < 0) {
			t.Errorf("ratio(%q) = %v, %v", in, got, err)
		}
	}
}

func TestClient(t *testing.T) {
	parse := func(args ...string) (*Client, error) {
		var c Client
		app := kingpin.New("prog", "")
		c.Bind(app, "reload", "reload-tls")
		_, err := Parse(app, args, nil)
		return &c, err
	}
	c, err := parse("--reload-tls-ca-file=ca", "--reload-header-file=x-scope=f", "--reload-username-file=u")
	if err != nil {
		t.Fatal(err)
	}
	if o, err := c.Options("reload"); err != nil || o.CAFile != "ca" || o.HeaderFiles["X-Scope"] != "f" || o.UsernameFile != "u" {
		t.Errorf("options %+v, %v", o, err)
	}
	if _, err := parse("--reload-header-file=x"); err == nil || err.Error() != "--reload-header-file: want NAME=FILE" {
		t.Errorf("half a header: %v", err)
	}
	c, _ = parse("--reload-tls-cert-file=c")
	if _, err := c.Options("reload"); err == nil || !strings.HasPrefix(err.Error(), "--reload-…: a client certificate needs both") {
		t.Errorf("half a pair: %v", err)
	}
}
