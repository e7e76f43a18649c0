// Package httpserver runs the HTTP server of a binary: one address, sane timeouts, graceful
// shutdown with the context, and TLS either from a Prometheus-ecosystem web configuration file or
// from a tls.Config, which [TLS] creates from certificates that are reloaded.
//
//	s, err := httpserver.Listen(httpserver.Options{Address: ":8080", Handler: mux, Logger: log})
//	if err != nil {
//		return err
//	}
//	return s.Serve(ctx) // nil after ctx ended
//
// Listening and serving are separate, so that a busy port is an error at startup and a test can
// listen on port 0 and read Addr.
package httpserver
