// Package configreloader renders a configuration file for a server and makes the server
// load it.
//
//	prometheus.yaml.gz -- render --> prometheus.env.yaml -- reload --> server
//	watched folders ----- hash -----------------------------^
//
// The function step does all the work and can be called at any time: it renders (package
// render), hashes the watched folders (internal/volume) and returns a version over both.
// internal/reload decides when to call it and keeps the server on that version.
//
// Once is the init container: one step and nothing else. Run is the sidecar.
package configreloader
