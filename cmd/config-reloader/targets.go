package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/options"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/reloaders/config-reloader/targets"
)

// Targets are the flags of central discovery. Without a server, it is disabled.
type Targets struct {
	Server                          *url.URL
	TokenFile, CAFile, Listen, File string
	Report, Inventory               time.Duration
}

func (t *Targets) bind(app *kingpin.Application) {
	options.Var(app.Flag("targets-server", "URL of the discovery server that sends the targets of this pod. "+
		"They are served as HTTP service discovery on --targets-listen. Default: none. Ignored with --watch-interval=0."), &t.Server, reload.ParseURL)
	app.Flag("targets-token-file", "File with the bearer token for --targets-server. Read again for each connection.").StringVar(&t.TokenFile)
	app.Flag("targets-ca-file", "PEM file with the CAs that may sign the certificate of --targets-server. Read again for each connection. "+
		"Default: those of the system.").StringVar(&t.CAFile)
	app.Flag("targets-listen", "host:port to serve targets on, without authentication; the host must be a loopback address.").
		Default("127.0.0.1:8082").StringVar(&t.Listen)
	app.Flag("targets-file", "File that keeps the targets across restarts. Required with --targets-server.").StringVar(&t.File)
	options.Var(app.Flag("targets-report-interval", "Interval of reports to --targets-server: how far the server of --reload-url is with the list of targets, and where both disagree; 0 disables them.").
		Default("1m"), &t.Report, options.Duration)
	options.Var(app.Flag("targets-inventory-interval", "Interval of inventories for --targets-server, once it has asked for one: what is in the list of targets, whether it is scraped, and its series; "+
		"0 sends them only when it asks. They need reports.").Default("5m"), &t.Inventory, options.Duration)
}

func (t *Targets) validate() error {
	if t.Server == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(t.Listen)
	switch {
	case t.Server.Scheme != "https":
		return errors.New("--targets-server: must be an https URL, because a token is sent to it")
	case t.File == "":
		return errors.New("--targets-file: required with --targets-server")
	case err != nil:
		return fmt.Errorf("--targets-listen: %w", err)
	case !reload.Loopback(&url.URL{Host: net.JoinHostPort(host, "0")}):
		return fmt.Errorf("--targets-listen=%s: the host must be a loopback address", t.Listen)
	}
	return nil
}

// with returns work that also receives targets and serves them. Without a server, it returns work.
//
// Errors: the address is in use.
func (t *Targets) with(work func(context.Context) error, o targets.Options) (func(context.Context) error, error) {
	if t.Server == nil {
		return work, nil
	}
	o.Server, o.TokenFile, o.CAFile, o.File, o.Report, o.Inventory = t.Server, t.TokenFile, t.CAFile, t.File, t.Report, t.Inventory
	client := targets.New(o)
	client.Load()
	server, err := httpserver.Listen(httpserver.Options{Address: t.Listen, Handler: client, Logger: o.Logger})
	if err != nil {
		return nil, fmt.Errorf("--targets-listen=%s: %w", t.Listen, err)
	}
	return func(ctx context.Context) error {
		return httpserver.ServeWith(ctx, server, func(ctx context.Context) error {
			ctx, stop := context.WithCancel(ctx)
			received := make(chan struct{})
			go func() { client.Run(ctx); close(received) }()
			defer func() { stop(); <-received }()
			return work(ctx)
		})
	}, nil
}
