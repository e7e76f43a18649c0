// Package wellknown defines the names and values on which clusters and users rely: labels
// and annotations of generated objects, folders inside containers, and default versions
// and retention times.
//
//	selector := wellknown.LabelManagedBy + "=" + wellknown.ManagedBy
//
// A change to any of them must be announced to users, because other programs select
// objects by them, and a takeover finds objects by them. The package has no dependencies.
package wellknown
