// Package permissions defines the permissions that each feature of the operator needs.
//
// Begin at features, the only table: the manifests in deploy and docs/permissions.md
// are checked against it, and the integration tests run operators with only the rules of
// some of its rows.
//
//	rules := permissions.Rules(func(f permissions.Feature) bool { return f.When == "" })
package permissions
