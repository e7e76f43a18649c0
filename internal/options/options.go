// Package options has the parts of command lines that the reloaders share, on top of kingpin: values
// whose errors name the flag, Go-style spelling, and the flags for TLS and credentials.
//
// A binary has one options struct with Bind, which declares the flags, and Validate, which checks
// combinations of values. Errors begin with the flag as the user writes it: "--retry-interval=0s: must
// be more than 0".
package options

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"github.com/xhit/go-str2duration/v2"

	"github.com/firekeeper-dev/firekeeper/internal/logging"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/version"
)

// Var binds a flag that may be given once. Its default must parse.
func Var[T any](f *kingpin.FlagClause, dst *T, parse func(string) (T, error)) {
	f.SetValue(&value[T]{name: f.Model().Name, parse: parse, set: func(v T) { *dst = v }})
}

// List binds a repeatable flag. Values keep their order.
func List[T any](f *kingpin.FlagClause, dst *[]T, parse func(string) (T, error)) {
	f.SetValue(&value[T]{name: f.Model().Name, parse: parse, many: true, set: func(v T) { *dst = append(*dst, v) }})
}

// value is a kingpin.Value whose errors name the flag.
type value[T any] struct {
	name  string
	parse func(string) (T, error)
	set   func(T)
	many  bool
	text  string
}

func (v *value[T]) String() string     { return v.text }
func (v *value[T]) IsCumulative() bool { return v.many }

func (v *value[T]) Set(s string) error {
	parsed, err := v.parse(s)
	if err != nil {
		return fmt.Errorf("--%s: %w", v.name, err)
	}
	v.text = s
	v.set(parsed)
	return nil
}

// Text accepts any string.
func Text(s string) (string, error) { return s, nil }

// Duration parses Go durations and the units d and w. A bare 0 needs no unit. Negative durations are
// rejected.
func Duration(s string) (time.Duration, error) {
	d, err := str2duration.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration like 30s, 1h30m or 1d", s)
	case d < 0:
		return 0, fmt.Errorf("%s is negative", s)
	}
	return d, nil
}

// Interval parses a [Duration] above 0.
func Interval(s string) (time.Duration, error) {
	d, err := Duration(s)
	if err == nil && d == 0 {
		err = fmt.Errorf("%s: must be more than 0", s)
	}
	return d, err
}

// ratio parses a number and clamps it to the range from 0 to 1.
func ratio(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f {
		return 0, fmt.Errorf("%q is not a number from 0 to 1", s)
	}
	return min(max(f, 0), 1), nil
}

// OneOf returns a parser that accepts only the given values.
func OneOf(values ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(values, s) {
			return "", fmt.Errorf("%q is not one of %s", s, strings.Join(values, ", "))
		}
		return s, nil
	}
}

// General are the flags that all reloaders share.
type General struct {
	Log           logging.Options
	MemoryRatio   float64 // fraction of the memory limit, 0 to 1; 0 sets no limit
	WebConfigFile string
	probe         *url.URL // nil if the program is not to probe
	version       bool
	shortVersion  bool
}

// Bind declares the flags.
func (g *General) Bind(app *kingpin.Application) {
	app.Flag("web-config-file", "Prometheus web configuration file with TLS, basic authentication and headers of the metrics server. "+
		"Certificates are reread for every connection.").StringVar(&g.WebConfigFile)
	app.Flag("log-format", "Log format: "+strings.Join(logging.Formats, ", ")+".").
		Default("logfmt").StringVar(&g.Log.Format)
	app.Flag("log-level", "Lowest level to log: "+strings.Join(logging.Levels, ", ")+".").
		Default("info").StringVar(&g.Log.Level)
	Var(app.Flag("auto-gomemlimit-ratio", "Fraction of the container's memory limit (without one, of the machine's memory) "+
		"to set as GOMEMLIMIT, 0 to 1. 0 sets none; the environment variable GOMEMLIMIT takes precedence.").Default("0.0"), &g.MemoryRatio, ratio)
	Var(app.Flag("probe", "Request this URL, without verification of the certificate, and exit: with 0 if the response is 200. "+
		"For probes in a container without a shell."), &g.probe, reload.ParseURL)
	app.Flag("version", "Print version and build information and exit.").BoolVar(&g.version)
	app.Flag("short-version", "Print only the version and exit.").BoolVar(&g.shortVersion)
}

// probeTimeout is longer than that of any useful probe: the kubelet ends the process.
const probeTimeout = time.Minute

// Probe requests the URL of the flag and returns the exit code: 0 if the response is 200, otherwise 1. It returns
// false if the flag is not set.
func (g *General) Probe(ctx context.Context, stderr io.Writer) (code int, asked bool) {
	if g.probe == nil {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	res, err := reload.ClientOptions{Timeout: probeTimeout, SkipVerify: true}.Get(ctx, g.probe, nil)
	if err == nil {
		res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return 0, true
		}
		err = fmt.Errorf("answered %s", res.Status)
	}
	fmt.Fprintf(stderr, "--probe=%s: %v\n", reload.Redact(g.probe), err)
	return 1, true
}

// PrintVersion prints the version if a flag requests it, and reports whether it did.
func (g *General) PrintVersion(w io.Writer, program string) bool {
	switch {
	case g.shortVersion:
		fmt.Fprint(w, version.Version)
	case g.version:
		fmt.Fprintln(w, version.Print(program))
	default:
		return false
	}
	return true
}

// Parse parses args. If they request help, it prints the usage to usage and returns true.
func Parse(app *kingpin.Application, args []string, usage io.Writer) (helped bool, err error) {
	app.UsageWriter(usage).ErrorWriter(usage)
	app.Terminate(func(int) { helped = true })
	_, err = app.Parse(args)
	if helped {
		return true, nil
	}
	return false, err
}
