// Package amconfig is the configuration file of Alertmanager as Go structs and the way
// from the API's objects to it. The blocks that other programs have as well are in
// package clientconfig.
//
// The file is compiled in pieces. [CompileBase] makes the part of the Alertmanager
// itself, a [Frame]: from the user's Secret, or from the AlertmanagerConfig and the
// global settings of spec.alertmanagerConfiguration. [NewSettings] gathers what the
// Alertmanager decides for all AlertmanagerConfigs that it selects, and [Compile] turns
// one of them into the finished text of its receivers, routes, inhibition rules and time
// intervals, a [Fragment]. A fragment depends on nothing but the object, the settings
// and the Secrets and ConfigMaps it lists, so it can be kept and shared.
//
//	frame, err := amconfig.CompileBase(am, version, base, reader)
//	s := amconfig.NewSettings(am, version, frame.Globals)
//	f := amconfig.Compile(config, s, reader) // f.Err: why config is rejected
//	parts := amconfig.Assemble(&frame, fragments) // of the accepted ones
//
// The struct tags say which versions of Alertmanager support a key (package gate). The
// decisions that depend on more than one version number are code, each in the file of its
// concept. A receiver is a file: its struct with tags, its checks, and what fills it.
//
// Nothing a tenant writes can break the document of all: a fragment is loaded by
// Alertmanager's own loader inside of a small document before it is accepted, its names are
// prefixed, and config-reloader finds no variables in it. A user's Secret is edited as a
// tree by one table of rules; keys that this package does not know stay as they are.
//
// Nothing here reads a clock, talks to a cluster, logs, or changes its inputs. Errors name
// fields as users write them and never contain a secret's value.
package amconfig
