package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/options"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/expand"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/render"
)

const (
	methodHTTP   = "http"
	methodSignal = "signal"
	// retryMax is the maximum delay between attempts.
	retryMax = time.Minute
)

// Options are the flags of the program.
type Options struct {
	General options.General
	Client  options.Client

	ConfigFile, ConfigOutput string
	ConfigDirs, ConfigOutDir []string
	WatchedDirs              []string
	Syntax                   string
	OrdinalFrom              string

	WatchInterval, Delay, Settle, Retry time.Duration

	Method      string
	ReloadURL   *url.URL
	Timeout     time.Duration
	Process     string
	RuntimeInfo *url.URL

	ListenAddress string

	Targets Targets

	// delayGiven, runtimeInfoGiven, reloadURLGiven: whether the user has set the flag.
	delayGiven, runtimeInfoGiven, reloadURLGiven bool

	webhookURL *url.URL // --webhook-url, nil if not set
}

// Bind declares the flags. Flags of the reference keep their names and defaults.
func (o *Options) Bind(app *kingpin.Application) {
	o.bindInputs(app)
	o.bindTimes(app)
	o.bindReload(app)
	app.Flag("listen-address", "host:port to serve metrics and health on; empty disables it. Ignored with --watch-interval=0.").
		StringVar(&o.ListenAddress)
	o.Targets.bind(app)
	o.General.Bind(app)
}

func (o *Options) bindInputs(app *kingpin.Application) {
	app.Flag("config-file", "Configuration file to read and watch, plain or gzip. Default: none.").StringVar(&o.ConfigFile)
	app.Flag("config-envsubst-file", "File to write the configuration to, gunzipped and with variables replaced. "+
		"If empty, the configuration is only watched.").StringVar(&o.ConfigOutput)
	app.Flag("config-dir", "Folder whose files are treated like --config-file. Repeatable.").StringsVar(&o.ConfigDirs)
	app.Flag("config-envsubst-dir", "Folder to write the files of a --config-dir to, under the same names; one for each --config-dir, in the same order.").
		StringsVar(&o.ConfigOutDir)
	options.Var(app.Flag("envsubst-syntax", "Variable syntax: kubernetes replaces $(VAR) and keeps references to unset variables; "+
		"shell replaces $VAR, ${VAR} and ${VAR:-default}, unset variables by nothing, for files written by hand.").
		Default(expand.Syntaxes[0]), &o.Syntax, options.OneOf(expand.Syntaxes...))
	app.Flag("statefulset-ordinal-from-envvar", "Environment variable with the pod name, whose trailing number becomes $(STATEFULSET_ORDINAL_NUMBER).").
		Default("POD_NAME").StringVar(&o.OrdinalFrom)
	for _, f := range []struct {
		name   string
		hidden bool
	}{{"watched-dir", false}, {"volume-dir", true}, {"rules-dir", true}} {
		flag := app.Flag(f.name, "Folder that makes the server reload when its content changes. Repeatable.")
		if f.hidden {
			flag = flag.Hidden()
		}
		options.List(flag, &o.WatchedDirs, options.Text)
	}
}

func (o *Options) bindTimes(app *kingpin.Application) {
	options.Var(app.Flag("watch-interval", "Interval of full checks, independent of file events. "+
		"0: write the output once and exit (init container).").Default("3m"), &o.WatchInterval, options.Duration)
	options.Var(app.Flag("delay-interval", "Quiet time to wait for after the last change. Unless this flag is given, "+
		"a complete update of a mounted volume only waits for --settle-interval.").
		Default("1s").IsSetByUser(&o.delayGiven), &o.Delay, options.Duration)
	options.Var(app.Flag("settle-interval", "Quiet time to wait for after a complete update of a mounted Secret or ConfigMap.").
		Default(volume.DefaultSettle.String()), &o.Settle, options.Duration)
	options.Var(app.Flag("retry-interval", "Delay before a failed reload is retried; doubles up to 1m. An unreachable server is retried more often.").
		Default("5s"), &o.Retry, options.Interval)
	options.Var(app.Flag("reload-timeout", "Timeout for connecting to the server and for its response.").
		Default("30s"), &o.Timeout, options.Interval)
}

func (o *Options) bindReload(app *kingpin.Application) {
	options.Var(app.Flag("reload-method", "How to make the server reload: http (POST to --reload-url) or signal (SIGHUP).").
		Default(methodHTTP), &o.Method, options.OneOf(methodHTTP, methodSignal))
	options.Var(app.Flag("reload-url", "Reload URL of the server; a user and password in it are sent as basic authentication.").
		Default("http://127.0.0.1:9090/-/reload").IsSetByUser(&o.reloadURLGiven), &o.ReloadURL, reload.ParseURL)
	options.Var(app.Flag("webhook-url", "Alias of --reload-url.").Hidden(), &o.webhookURL, reload.ParseURL)
	app.Flag("process-executable-name", "Name of the process to signal, as in /proc/<pid>/comm.").
		Default("prometheus").StringVar(&o.Process)
	options.Var(app.Flag("runtimeinfo-url", "URL that reports the result of the last reload. With the http method, "+
		"the default is derived from a --reload-url that ends in /-/reload.").
		Default("http://127.0.0.1:9090/api/v1/status/runtimeinfo").IsSetByUser(&o.runtimeInfoGiven), &o.RuntimeInfo, reload.ParseURL)
	o.Client.Bind(app, "reload", "reload")
}

// Validate checks combinations of flags, and sets the values derived from them.
func (o *Options) Validate() error {
	if o.webhookURL != nil {
		if o.reloadURLGiven {
			return errors.New("--webhook-url: is an alias of --reload-url, give only one of them")
		}
		o.ReloadURL = o.webhookURL
	}
	switch {
	case o.ConfigOutput != "" && o.ConfigFile == "":
		return errors.New("--config-envsubst-file: requires --config-file")
	case o.ConfigOutput != "" && same(o.ConfigOutput, o.ConfigFile):
		return errors.New("--config-envsubst-file: must not be the --config-file itself")
	case len(o.ConfigDirs) != len(o.ConfigOutDir):
		return fmt.Errorf("--config-envsubst-dir: given %d times, but --config-dir %d times; each needs the other",
			len(o.ConfigOutDir), len(o.ConfigDirs))
	}
	for i, out := range o.ConfigOutDir {
		given := func(dir string) bool { return same(dir, out) }
		if slices.ContainsFunc(o.ConfigDirs, given) {
			return fmt.Errorf("--config-envsubst-dir=%s: must not be a --config-dir itself", out)
		}
		if slices.ContainsFunc(o.ConfigOutDir[:i], given) {
			return fmt.Errorf("--config-envsubst-dir=%s: given twice", out)
		}
	}
	for _, dir := range slices.Concat(o.WatchedDirs, o.ConfigDirs, o.ConfigOutDir) {
		if dir == "" {
			return errors.New("--watched-dir, --config-dir, --config-envsubst-dir: must not be empty")
		}
	}
	_, err := o.Client.Options("reload")
	return errors.Join(err, o.Targets.validate())
}

// once reports whether to write the output and exit.
func (o *Options) once() bool { return o.WatchInterval == 0 }

// files returns the files to render.
func (o *Options) files() []render.File {
	if o.ConfigFile == "" {
		return nil
	}
	return []render.File{{Input: o.ConfigFile, Output: o.ConfigOutput}}
}

func (o *Options) dirs() (dirs []render.Dir) {
	for i, in := range o.ConfigDirs {
		dirs = append(dirs, render.Dir{Input: in, Output: o.ConfigOutDir[i]})
	}
	return dirs
}

// budget returns the maximum size of outputs in an in-memory volume for the memory limit
// of the container. 0 means no limit. Outputs on a disk do not count towards the memory
// of the container.
func (o *Options) budget(limit int64) int64 {
	if limit == 0 {
		return 0
	}
	inMemory := o.ConfigOutput != "" && footprint.InMemory(filepath.Dir(o.ConfigOutput))
	for _, dir := range o.ConfigOutDir {
		inMemory = inMemory || footprint.InMemory(dir)
	}
	if !inMemory {
		return 0
	}
	return footprint.MaxPlain(limit)
}

// same reports whether two paths are one, however they were written. Links are not followed.
func same(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// settle returns the settle time. It is 0 if the user has set a delay, which then applies
// to every change.
func (o *Options) settle() time.Duration {
	if o.delayGiven {
		return 0
	}
	return o.Settle
}

// client returns how to connect to the server.
func (o *Options) client() (reload.ClientOptions, error) {
	client, err := o.Client.Options("reload")
	client.Timeout = o.Timeout
	// Certificates of a server in the same pod are usually issued for other names.
	client.SkipVerify = true
	return client, err
}

// server returns the URL of an endpoint of the server.
func (o *Options) server() *url.URL {
	if o.Method == methodSignal {
		return o.RuntimeInfo
	}
	return o.ReloadURL
}

// trigger returns the method to reload the server, and its name without credentials.
func (o *Options) trigger(client reload.ClientOptions) (t reload.Trigger, name string) {
	info := &reload.RuntimeInfo{URL: o.RuntimeInfo, Client: client}
	if o.Method == methodSignal {
		return reload.NewSignal(reload.SignalOptions{Process: o.Process, Info: info, Deadline: o.WatchInterval}), "process " + o.Process
	}
	if !o.runtimeInfoGiven {
		info.URL = reload.Derive(o.ReloadURL, "/api/v1/status/runtimeinfo")
	}
	if info.URL == nil {
		info = nil
	}
	return reload.NewHTTP(reload.HTTPOptions{
		URL: o.ReloadURL, Client: client,
		Ready: reload.Derive(o.ReloadURL, "/-/ready"),
		Info:  info, InfoOptional: !o.runtimeInfoGiven,
	}), reload.Redact(o.ReloadURL)
}
