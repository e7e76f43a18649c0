// Package configfile splits a compiled configuration file into sections and redacts credentials in
// them. A [File] is compiled with placeholders for values of Secrets, which its [Masker] provides, split, and
// redacted section by section when it is shown.
//
//	file.go    a file, its sections, and what is removed before it is compiled
//	split.go   the text of a Prometheus: long, kept compressed, never parsed as a whole
//	tree.go    the YAML of an Alertmanager; added.go has the lists that several objects share
//	masker.go  redaction
package configfile
