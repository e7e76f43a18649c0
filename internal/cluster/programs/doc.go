// Package programs finds the programs a local cluster is made of, and builds
// the ones that are missing.
//
// A program is looked for in this order; the first hit wins:
//
//  1. the folder named by KUBEBUILDER_ASSETS (taken as it is, whatever its version)
//  2. the cache folder: FIREKEEPER_CACHE, else .cache/programs below the root of the source tree
//  3. PATH, when the version it reports is in the range that is known to work
//  4. a build from Go modules into the cache
//
// Each folder below this one is a module of its own, outside go.work, whose
// go.mod pins what is built; the table in table.go says which program comes from
// which folder. Builds take minutes when Go's build cache is cold, so they
// report progress, and parallel processes wait for each other's.
//
//	paths, err := programs.Default(os.Stderr).Find(ctx, "etcd", "kube-apiserver")
//
// Programs that only a Debian package has come from [Finder.Debian].
//
// A new program needs: a tool line in a go.mod (or a folder with one) and a row
// in the table.
package programs
