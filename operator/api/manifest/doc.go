// Package manifest reads what people write: objects in YAML or JSON, strictly.
//
//	var m v1.ServiceMonitor
//	if err := manifest.Decode(raw, &m); err != nil {
//		// spec.endpoints[0].intervall: unknown field, did you mean "interval"?
//		// spec.sampleLimit: want a number, is a string
//	}
//
// Every fault of a document is reported, not only the first, and each names its
// field as the user wrote it. Names are compared like the API server does it:
// `Interval` is not `interval`. Values never appear in messages, because a
// document may be a Secret.
//
// The package knows Go types only: defaults, enums, patterns and other rules of
// the schema are left to crds/check.
package manifest
