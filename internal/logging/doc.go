// Package logging sets up log/slog for all binaries.
//
// Every line has ts (RFC 3339 in UTC with fractional seconds), level (lower case), caller
// (file:line) and msg, followed by the attributes:
//
//	log, err := logging.New(os.Stdout, logging.Options{Level: "info", Format: "logfmt"})
//	log.Info("applied", "duration_seconds", 0.02)
//
//	ts=2026-03-01T10:00:00.123Z level=info caller=main.go:42 msg=applied duration_seconds=0.02
//
// Values longer than 8 kB are truncated.
//
// There is no global logger: New returns one and the caller passes it on.
package logging
