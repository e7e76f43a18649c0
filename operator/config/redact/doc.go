// Package redact hides credentials in everything that is shown to people: configurations,
// manifests, targets and error messages.
//
//	names.go   the names of credentials: keys, URL parameters and labels
//	text.go    URLs, labels and messages
//	tree.go    YAML
//	alertmanager.go  the parts of an Alertmanager's own file that are shown
//	values.go  values of Secrets: placeholders to compile instead, and a search for the values
//
// Compiled values of Secrets are credentials whatever their names, so configurations are compiled
// with placeholders for them ([Values.Replace]). The names decide only about what users write into
// their objects and files themselves:
//
//	var values redact.Values
//	text := compile(values.Replace(secrets, keep))
//	text, err := redact.Tree{Values: &values}.Text(text)
//
// The time of all functions is bounded by the size of their input.
package redact
