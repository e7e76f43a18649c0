// Package assets reads values out of Secrets and ConfigMaps by reference.
//
// A [Scope] is one compilation's view of the cluster: it is bound to the
// namespace of the object that holds the references, so no reference can leave
// that namespace, and it records every object it was asked for, also those that
// are missing or may not be read.
//
//	scope := assets.NewScope("monitoring", reader)
//	password, err := scope.SecretKey(&corev1.SecretKeySelector{…})
//	deps := scope.Dependencies() // what the result depends on, with versions
//
// Objects come through a [Reader]. In the operator it is [Cache], which keeps
// an object as long as its resourceVersion stands; without a cluster it is a
// [Static] map of manifests. The package never writes, and no error it returns
// contains a value.
package assets
