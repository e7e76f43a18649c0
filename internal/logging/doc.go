// Package logging sets up log/slog for all binaries.
//
// Every line carries ts (RFC 3339 in UTC with fractional seconds), level
// (lower case), caller (file:line) and msg, then the pairs of the call:
//
//	log, err := logging.New(os.Stdout, logging.Options{Level: "info", Format: "logfmt"})
//	log.Info("applied", "duration_seconds", 0.02)
//
//	ts=2026-03-01T10:00:00.123Z level=info caller=main.go:42 msg=applied duration_seconds=0.02
//
// A text of more than 8 kB is cut.
//
// The package holds no logger of its own: New returns one and the caller passes it on.
package logging
