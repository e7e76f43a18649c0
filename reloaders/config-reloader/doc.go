// Package configreloader turns one configuration file into what a server reads,
// and makes the server run it.
//
//	prometheus.yaml.gz ─ render ─▶ prometheus.env.yaml ─ reload ─▶ server
//	watched folders ──── hash ───────────────────────────┘
//
// One function, step, does all the work and may be called at any time: it
// renders (package render), hashes the watched folders (internal/volume) and
// returns a version over both. internal/reload decides when to call it and keeps
// the server on that version.
//
// Once is the init container: one step, nothing else. Run is the sidecar.
package configreloader
