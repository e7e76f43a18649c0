// Package assets reads values from Secrets and ConfigMaps by reference.
//
// Begin at [Scope], which resolves the references of one compilation. It is bound to the
// namespace of the referring object, so that no reference can leave that namespace, and
// records every requested object, including missing and unreadable ones.
//
//	scope := assets.NewScope("monitoring", reader)
//	password, err := scope.SecretKey(&corev1.SecretKeySelector{...})
//	deps := scope.Dependencies() // what the result depends on, with versions
//
// A [Reader] provides the objects: in the operator a [Cache], which caches each object
// until its resourceVersion changes, and without a cluster a [Static] map of manifests.
// The package never writes, and its errors never contain values.
package assets
