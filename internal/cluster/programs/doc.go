// Package programs finds the programs of a local cluster, and builds those that are missing.
//
// Programs are searched in this order:
//
//  1. the folder in KUBEBUILDER_ASSETS (any version is used)
//  2. the cache folder: FIREKEEPER_CACHE, else .cache/programs below the root of the source tree
//  3. PATH, if the version it reports is in the supported range
//  4. a build from Go modules into the cache
//
// Each folder below this one is a separate module, outside go.work, whose go.mod pins the
// version; the table in table.go maps programs to folders. Builds take minutes when Go's build
// cache is cold, so they report progress, and parallel processes wait for each other's builds.
//
//	paths, err := programs.Default(os.Stderr).Find(ctx, "etcd", "kube-apiserver")
//
// Programs that are only in a Debian package come from [Finder.Debian].
//
// A new program needs a tool line in a go.mod (or a folder with one) and a row in the table.
package programs
