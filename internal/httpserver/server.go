package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
)

const (
	readTimeout = 30 * time.Second
	// headerTimeout limits the TLS handshake, and reading the request headers.
	headerTimeout = 10 * time.Second
	// streamBuffer is the flow-control window of an HTTP/2 connection and of each of its streams,
	// in bytes.
	streamBuffer = 128 << 10
	idleTimeout  = 2 * time.Minute
	// writeTimeout limits the time from the end of the request headers to the end of the response. Handlers
	// of streams extend it.
	writeTimeout = 30 * time.Second
	// maxConnections limits the open connections, and the concurrent requests in all of them.
	maxConnections = 2000
	// streamsOfConnection limits the concurrent requests in an HTTP/2 connection.
	streamsOfConnection = 100
	// maxHeader is enough for the largest tokens. Each connection can make the server buffer this
	// many bytes.
	maxHeader = 64 << 10
	// sidecarConnections and sidecarHeader are the same for a program with little memory: together, all
	// connections take less than 3 MiB.
	sidecarConnections = 50
	sidecarHeader      = 16 << 10
	// stopTimeout is the grace period of in-flight requests after the context ended.
	stopTimeout = time.Second
)

// Options configure a server.
type Options struct {
	// Address is "host:port"; port 0 picks a free one.
	Address string
	// Handler serves all paths.
	Handler http.Handler
	// WebConfigFile is the path of an exporter-toolkit web configuration (TLS, basic auth, HTTP/2,
	// headers). Certificates are reread for every handshake. An empty path or file means plain
	// HTTP.
	WebConfigFile string
	// TLS enables HTTPS with this configuration. It cannot be combined with WebConfigFile.
	TLS *tls.Config
	// Sidecar is true for a program with little memory and few clients.
	Sidecar bool
	Logger  *slog.Logger
}

// ValidateWebConfig checks the file and the certificates it refers to. An empty path is valid.
func ValidateWebConfig(path string) error {
	if err := web.Validate(path); err != nil {
		return fmt.Errorf("web config file %q: %w", path, err)
	}
	return nil
}

// Server is an HTTP server that listens on its address. Serve starts it.
type Server struct {
	opts     Options
	listener net.Listener
	http     *http.Server
}

// Listen checks the options and listens on the address.
func Listen(o Options) (*Server, error) {
	if o.TLS != nil && o.WebConfigFile != "" {
		return nil, errors.New("a web config file cannot be combined with TLS settings from elsewhere")
	}
	if err := ValidateWebConfig(o.WebConfigFile); err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	bound, err := net.Listen("tcp", o.Address)
	if err != nil {
		return nil, err // includes the address
	}
	most, header := maxConnections, maxHeader
	if o.Sidecar {
		most, header = sidecarConnections, sidecarHeader
	}
	l := &fairListener{Listener: bound, open: newFair[*fairConn](most)}
	return &Server{opts: o, listener: l, http: &http.Server{
		Handler:           Limit(most, o.Handler),
		ReadTimeout:       readTimeout,
		ReadHeaderTimeout: headerTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    header,
		TLSConfig:         o.TLS,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: streamsOfConnection, MaxReceiveBufferPerConnection: streamBuffer, MaxReceiveBufferPerStream: streamBuffer,
		},
	}}, nil
}

// Addr returns the address of the listener, with the actual port.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve handles requests until ctx ends, waits for in-flight requests for a short time and returns
// nil. It returns an error if the server ends otherwise. It can be called once.
func (s *Server) Serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- s.serve() }()
	select {
	case err := <-failed:
		s.listener.Close()
		return fmt.Errorf("serve HTTP on %s: %w", s.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := s.http.Shutdown(stop); err != nil {
		s.http.Close()
	}
	<-failed
	return nil
}

func (s *Server) serve() error {
	if s.opts.TLS != nil {
		s.opts.Logger.Info("Listening on", "address", s.Addr().String(), "tls", true)
		return s.http.ServeTLS(s.listener, "", "")
	}
	return web.Serve(s.listener, s.http, &web.FlagConfig{WebConfigFile: &s.opts.WebConfigFile}, s.opts.Logger)
}

// ServeWith runs s and work until ctx or one of them ends, stops the other, and returns the errors
// of both.
func ServeWith(ctx context.Context, s *Server, work func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		defer stop()
		served <- s.Serve(ctx)
	}()
	err := work(ctx)
	stop()
	return errors.Join(err, <-served)
}
