// Package manifest decodes user-written objects in YAML or JSON strictly.
//
//	var m v1.ServiceMonitor
//	if err := manifest.Decode(raw, &m); err != nil {
//		// spec.endpoints[0].intervall: unknown field, did you mean "interval"?
//		// spec.sampleLimit: want an integer, got a string
//	}
//
// All errors of a document are reported, not only the first, and each names its field as
// the user wrote it. Names are compared like in the API server: `Interval` is not
// `interval`. Messages never contain values, because a document may be a Secret.
//
// The package uses only Go types: defaults, enums, patterns and other rules of the schema
// are left to crds/check.
package manifest
