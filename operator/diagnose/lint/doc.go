// Package lint checks manifests without a cluster, using the same code as the
// operator.
//
//	lint.go     Run and the findings
//	consequences.go  findings that follow from other errors
//	object.go   checks of a single object
//	standin.go  the Prometheus that is assumed if the manifests have none
//	nearmiss.go jobs without targets
//	fields.go   from a reason or a key of the configuration to the line of a field
//	unused.go   objects that nothing selects, and why
//	unread.go   selectors that are set but not used
//	remarks*.go valid settings with a probably unintended effect
//	effort.go   limits of comparisons of names among objects
//	references.go  missing Secrets, ConfigMaps and keys, with suggestions
//	write.go    output formats
//
//	report := lint.Run(paths, kinds, options)
//	report.Write(os.Stdout, "text")
package lint
