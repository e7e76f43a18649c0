// Package api is the root of the kinds the operator serves, one package per API
// version below monitoring/.
//
// The tests here hold the generated CustomResourceDefinitions equal to the
// published field surface of the API group, and real manifests equal to
// themselves after a trip through the types.
package api
