// Package amconfig models the configuration file of Alertmanager as Go structs and
// generates it from the objects of the API. Blocks that other programs have in common are
// in package clientconfig.
//
// The file is compiled in parts. [CompileBase] compiles the part of the Alertmanager
// itself, a [Frame], from the user's Secret, or from the AlertmanagerConfig and the global
// settings of spec.alertmanagerConfiguration. [NewSettings] collects the settings of the
// Alertmanager that affect the selected AlertmanagerConfigs. [Compile] compiles one of them
// to the text of its receivers, routes, inhibition rules and time intervals, a [Fragment].
// A fragment depends only on the object, the settings, and the Secrets and ConfigMaps it
// lists. It can therefore be cached and shared.
//
//	frame, err := amconfig.CompileBase(am, version, base, reader)
//	s := amconfig.NewSettings(am, version, frame.Globals)
//	f := amconfig.Compile(config, s, reader) // f.Err: why config is rejected
//	parts := amconfig.Assemble(&frame, fragments) // of the accepted ones
//
// Struct tags declare which versions of Alertmanager support a key (package gate). Decisions
// that depend on more than one version number are code, in the file of the feature. Each
// kind of receiver has a file with its tagged struct, its checks and its conversion.
//
// No object of a tenant can make the shared document invalid: a fragment is accepted only
// after Alertmanager's own loader has loaded it within a small document, its names are
// prefixed, and it contains no variables for config-reloader. A user-supplied Secret is
// edited as a tree, controlled by one table of rules. Unknown keys are kept.
//
// The package does not read the clock, access a cluster, log, or modify its inputs. Errors
// contain the field names of the object and never a secret value.
package amconfig
