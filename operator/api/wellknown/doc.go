// Package wellknown has the names and values that clusters and users rely on, so that
// each is written once: labels and annotations of generated objects, folders inside
// containers, versions and times used when an object names none.
//
//	selector := wellknown.LabelManagedBy + "=" + wellknown.ManagedBy
//
// None of them can change without a word to users: other programs select objects by
// them, and a takeover finds objects by them. The package imports nothing.
package wellknown
