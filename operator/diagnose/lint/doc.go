// Package lint checks manifests without a cluster, using the same code as the
// operator.
//
//	lint.go     what is checked, and the findings
//	object.go   one object, as far as it can be judged alone
//	standin.go  the Prometheus that is assumed where there is none
//	nearmiss.go what jobs look for and do not find
//	fields.go   from a reason or a key of the configuration to the line of a field
//	unused.go   objects that nothing selects, and why
//	unread.go   selectors that count as not set, and are
//	remarks*.go what works and is not what its author wanted
//	references.go  Secrets, ConfigMaps and keys that are missing, and what there is instead
//	write.go    the findings for people and for programs
//
//	report := lint.Run(paths, kinds, options)
//	report.Write(os.Stdout, "text")
package lint
