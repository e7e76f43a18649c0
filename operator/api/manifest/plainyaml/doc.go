// Package plainyaml converts manifests from YAML to JSON. The result equals that of
// sigs.k8s.io/yaml.YAMLToJSONStrict byte for byte, except that a key may be both written and merged.
//
//	raw, err := plainyaml.ToJSON(document)
//
// The YAML that people and tools write for Kubernetes is a small part of the language: mappings and lists in blocks or in
// brackets, scalars of one line, literal blocks. This part, which includes most of JSON, is converted in one pass without
// intermediate values, many times faster than by a YAML library. Everything else is left to the library: anchors,
// tags, folded texts, scalars of several lines, unusual keys, tabs, and all errors. It also resolves what may be a number
// in another form than decimal digits. A fuzz test compares the two.
//
//	convert.go   documents and keys
//	block.go     mappings, lists and literals in blocks
//	flow.go      {…}, […] and JSON
//	scalar.go    scalars
//	merge.go     keys that a mapping merges and overrides
package plainyaml
