// Package httpserver runs the HTTP side of a binary: one address, sane
// timeouts, graceful stop with the context, and TLS either from a
// Prometheus-ecosystem web configuration file or from a tls.Config, which TLS makes
// from certificates that are reread.
//
//	s, err := httpserver.Listen(httpserver.Options{Address: ":8080", Handler: mux, Logger: log})
//	if err != nil {
//		return err
//	}
//	return s.Serve(ctx) // nil after ctx ended
//
// Binding and serving are apart, so that a busy port is an error at start and a
// test can ask for port 0 and read Addr.
package httpserver
