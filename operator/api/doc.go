// Package api is the parent of the packages for the operator's kinds, one per API version
// below monitoring/.
//
// The tests here compare the generated CustomResourceDefinitions with the published field
// surface of the API group, and check that manifests survive a round trip through the
// types.
package api
