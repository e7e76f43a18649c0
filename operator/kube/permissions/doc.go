// Package permissions says which permissions each feature of the operator needs.
//
// [Features] is the one table: the manifests in deploy and docs/permissions.md are
// checked against it, and the integration tests run operators with nothing but the rules
// of some of its rows.
//
//	rules := permissions.Rules(func(f permissions.Feature) bool { return f.When == "" })
package permissions
