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
	// headerTimeout is how long a caller may take for its TLS handshake, and for its headers.
	headerTimeout = 10 * time.Second
	// streamBuffer is what a connection of HTTP/2 may have sent that nobody has read.
	streamBuffer = 128 << 10
	idleTimeout  = 2 * time.Minute
	// maxConnections bounds those that are open at a time.
	maxConnections = 2000
	// maxHeader is enough for the largest tokens; each connection may make the server hold so much.
	maxHeader = 64 << 10
	// stopTimeout is how long requests that are being answered may go on after the context ended.
	stopTimeout = time.Second
)

// Options describe one server.
type Options struct {
	// Address is "host:port"; port 0 picks a free one.
	Address string
	// Handler answers all paths.
	Handler http.Handler
	// WebConfigFile is a path to an exporter-toolkit web configuration (TLS, basic
	// auth, HTTP/2, headers). Certificates are read again for every handshake.
	// Empty, or an empty file: plain HTTP.
	WebConfigFile string
	// TLS serves HTTPS with this configuration. It cannot be combined with WebConfigFile.
	TLS *tls.Config
	// WriteTimeout limits one answer; 0 means no limit (needed for profiles and streams).
	WriteTimeout time.Duration
	Logger       *slog.Logger
}

// ValidateWebConfig reads the file and the certificates it names. An empty path is valid.
func ValidateWebConfig(path string) error {
	if err := web.Validate(path); err != nil {
		return fmt.Errorf("web config file %q: %w", path, err)
	}
	return nil
}

// Server is bound to its address and waits for Serve.
type Server struct {
	opts     Options
	listener net.Listener
	http     *http.Server
}

// Listen checks the options and binds the address.
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
		return nil, err // names the address already
	}
	l := &fairListener{Listener: bound, most: maxConnections, by: map[string][]*fairConn{}}
	return &Server{opts: o, listener: l, http: &http.Server{
		Handler:           o.Handler,
		ReadTimeout:       readTimeout,
		ReadHeaderTimeout: headerTimeout,
		HTTP2:             &http.HTTP2Config{MaxReceiveBufferPerConnection: streamBuffer, MaxReceiveBufferPerStream: streamBuffer},
		WriteTimeout:      o.WriteTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		TLSConfig:         o.TLS,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
	}}, nil
}

// Addr is the bound address, with the real port.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers requests until ctx ends, then lets running ones finish for a
// moment and returns nil. Any other end of the server is an error. Call it once.
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

// ServeWith serves beside work until ctx or one of the two ends, ends the other, and
// returns the errors of both.
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
