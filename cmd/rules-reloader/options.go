package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/options"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	rulesreloader "github.com/firekeeper-dev/firekeeper/reloaders/rules-reloader"
)

const (
	methodHTTP   = "http"
	methodSignal = "signal"
)

// Options are the flags of the program.
type Options struct {
	General options.General
	Client  options.Client

	VolumeDirs  []string
	WebhookURLs []*url.URL
	HTTPMethod  string
	Success     []int
	Retries     int
	Timeout     time.Duration
	SkipVerify  bool

	Method      string
	Process     string
	RuntimeInfo *url.URL

	Delay, Settle, Resync, Retry, RetryMax time.Duration

	ListenAddress, TelemetryPath string

	// delayGiven, runtimeInfoGiven: whether the user has set the flag.
	delayGiven, runtimeInfoGiven bool
}

// Bind declares the flags. Flags of the reference keep their names and defaults.
func (o *Options) Bind(app *kingpin.Application) {
	options.List(app.Flag("volume-dir", "Folder to watch, usually a mounted ConfigMap. Required, repeatable."), &o.VolumeDirs, options.Text)
	o.bindWebhook(app)
	o.bindMethod(app)
	o.bindTimes(app)
	app.Flag("web.listen-address", "host:port to serve metrics and health on; empty disables it.").
		Default(":9533").StringVar(&o.ListenAddress)
	app.Flag("web.telemetry-path", "Path of the metrics.").Default("/metrics").StringVar(&o.TelemetryPath)
	o.General.Bind(app)
}

func (o *Options) bindWebhook(app *kingpin.Application) {
	options.List(app.Flag("webhook-url", "URL to call when a folder changes. Repeatable; required unless --reload-method=signal."),
		&o.WebhookURLs, reload.ParseURL)
	app.Flag("webhook-method", "HTTP method of the request.").Default("POST").StringVar(&o.HTTPMethod)
	options.Var(app.Flag("webhook-status-code", "Status codes that mean success: comma-separated, or a class such as 2xx.").
		Default("200"), &o.Success, statusCodes)
	options.Var(app.Flag("webhook-retries", "Attempts for each change, and again at each --resync-interval. "+
		"-1: retry until the reload succeeds or the content changes.").Default("-1"), &o.Retries, attempts)
	options.Var(app.Flag("webhook-timeout", "Timeout for connecting and for the response.").Default("30s"), &o.Timeout, options.Interval)
	app.Flag("webhook-tls-skip-verify", "Accept any server certificate. Always enabled for localhost URLs, unless --webhook-tls-ca-file is given.").
		BoolVar(&o.SkipVerify)
	o.Client.Bind(app, "webhook", "webhook-tls")
}

func (o *Options) bindMethod(app *kingpin.Application) {
	options.Var(app.Flag("reload-method", "How to make a server reload: http (call --webhook-url) or signal (SIGHUP).").
		Default(methodHTTP), &o.Method, options.OneOf(methodHTTP, methodSignal))
	app.Flag("process-executable-name", "Name of the process to signal, as in /proc/<pid>/comm.").
		Default("prometheus").StringVar(&o.Process)
	options.Var(app.Flag("runtimeinfo-url", "URL that reports the result of the last reload. With the http method, "+
		"the default is derived from a --webhook-url that ends in /-/reload.").
		Default("http://127.0.0.1:9090/api/v1/status/runtimeinfo").IsSetByUser(&o.runtimeInfoGiven), &o.RuntimeInfo, reload.ParseURL)
}

func (o *Options) bindTimes(app *kingpin.Application) {
	options.Var(app.Flag("delay-interval", "Quiet time to wait for after the last change. Unless this flag is given, "+
		"a complete update of a mounted volume only waits for --settle-interval.").
		Default("1s").IsSetByUser(&o.delayGiven), &o.Delay, options.Duration)
	options.Var(app.Flag("settle-interval", "Quiet time to wait for after a complete update of a mounted ConfigMap or Secret.").
		Default(volume.DefaultSettle.String()), &o.Settle, options.Duration)
	options.Var(app.Flag("resync-interval", "Interval of full checks, independent of file events.").Default("3m"), &o.Resync, options.Interval)
	options.Var(app.Flag("retry-interval", "Delay before a failed reload is retried; doubles up to --retry-max-interval. An unreachable server is retried more often.").
		Default("1s"), &o.Retry, options.Interval)
	options.Var(app.Flag("retry-max-interval", "Maximum delay between attempts.").Default("1m"), &o.RetryMax, options.Interval)
}

// attempts parses --webhook-retries. The result is 0 for no limit.
func attempts(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a number", s)
	case n == 0:
		return 0, errors.New("0 attempts would never reload; use at least 1, or -1 for no limit")
	}
	return max(n, 0), nil
}

// statusCodes parses "200", "200,204" and "2xx".
func statusCodes(s string) (codes []int, err error) {
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if class, ok := strings.CutSuffix(strings.ToLower(part), "xx"); ok && len(class) == 1 && class >= "1" && class <= "5" {
			for code := range 100 {
				codes = append(codes, int(class[0]-'0')*100+code)
			}
			continue
		}
		code, err := strconv.Atoi(part)
		if err != nil || code < 100 || code > 599 {
			return nil, fmt.Errorf("%q is not a status code", part)
		}
		codes = append(codes, code)
	}
	return codes, nil
}

// errMissing is the error for a missing required flag.
type errMissing struct{ flag string }

func (e errMissing) Error() string { return "--" + e.flag + ": required" }

// Validate checks combinations of flags.
func (o *Options) Validate() error {
	switch {
	case len(o.VolumeDirs) == 0:
		return errMissing{"volume-dir"}
	case slices.Contains(o.VolumeDirs, ""):
		return errors.New("--volume-dir: must not be empty")
	case len(o.WebhookURLs) == 0 && o.Method == methodHTTP:
		return errMissing{"webhook-url"}
	case len(o.WebhookURLs) > 0 && o.Method == methodSignal:
		return errors.New("--webhook-url: cannot be combined with --reload-method=signal")
	case o.RetryMax < o.Retry:
		return fmt.Errorf("--retry-max-interval: %s is less than --retry-interval (%s)", o.RetryMax, o.Retry)
	}
	if !strings.HasPrefix(o.TelemetryPath, "/") || strings.ContainsAny(o.TelemetryPath, "{} ") {
		return fmt.Errorf("--web.telemetry-path: %q is not a path like /metrics", o.TelemetryPath)
	}
	if slices.Contains([]string{"/healthz", "/readyz", "/-/healthy", "/-/ready", "/api/v1/applied"}, o.TelemetryPath) {
		return fmt.Errorf("--web.telemetry-path: %s is taken", o.TelemetryPath)
	}
	_, err := o.Client.Options("webhook")
	return err
}

// settle returns the settle time. It is 0 if the user has set a delay, which then applies
// to every change.
func (o *Options) settle() time.Duration {
	if o.delayGiven {
		return 0
	}
	return o.Settle
}

// servers returns the servers to reload, without duplicate URLs.
func (o *Options) servers() ([]rulesreloader.Server, error) {
	client, err := o.Client.Options("webhook")
	if err != nil {
		return nil, err
	}
	client.Timeout = o.Timeout
	if o.Method == methodSignal {
		client.SkipVerify = o.SkipVerify || reload.Loopback(o.RuntimeInfo)
		return []rulesreloader.Server{{Name: "process " + o.Process, Signal: &reload.SignalOptions{
			Process: o.Process, Deadline: o.Resync, Info: &reload.RuntimeInfo{URL: o.RuntimeInfo, Client: client},
		}}}, nil
	}
	var servers []rulesreloader.Server
	seen, names := map[string]bool{}, map[string]int{}
	for _, u := range o.WebhookURLs {
		if seen[u.String()] {
			continue
		}
		seen[u.String()] = true
		server := o.webhook(u, client)
		names[server.Name]++
		if n := names[server.Name]; n > 1 { // the URLs differ only in what the name does not show
			server.Name += fmt.Sprintf(" (%d)", n)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

func (o *Options) webhook(u *url.URL, client reload.ClientOptions) rulesreloader.Server {
	client.SkipVerify = o.SkipVerify || reload.Loopback(u)
	h := &reload.HTTPOptions{
		URL: u, Method: o.HTTPMethod, Success: o.Success, Client: client,
		Ready: reload.Derive(u, "/-/ready"), InfoOptional: !o.runtimeInfoGiven,
	}
	info := o.RuntimeInfo
	if !o.runtimeInfoGiven {
		info = reload.Derive(u, "/api/v1/status/runtimeinfo")
	}
	if info != nil {
		h.Info = &reload.RuntimeInfo{URL: info, Client: client}
	}
	return rulesreloader.Server{Name: reload.Redact(u), HTTP: h}
}
