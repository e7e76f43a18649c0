// Package previews evaluates package preview for callers of the API: manifests that may be hostile,
// in memory that is shared, and with no more than the caller may get.
//
//	service.go  what is needed, and limits: one preview at a time
//	heads.go    permissions, before anything is decoded
//	preview.go  a preview of manifests
//	objects.go  objects that are left out
//	scope.go    targets that are left out; redact.go hides the details of others
//	reshard.go  a preview of another number of shards
package previews
