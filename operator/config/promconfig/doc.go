// Package promconfig models the configuration file of Prometheus as Go structs and generates it from the
// objects of the API. Blocks that other programs have in common are in package clientconfig.
//
// The file is compiled in parts. [ServerSettings] collects the settings of a workload (Prometheus or
// PrometheusAgent) that affect its monitors. [CompileServiceMonitor], [CompilePodMonitor] and [CompileProbe]
// compile one monitor to the text of its jobs, a [Fragment]. [CompileServer] compiles the workload's own part,
// a [Frame]. A fragment depends only on the monitor, the settings, and the Secrets and ConfigMaps it lists. It
// can therefore be cached and shared between workloads with equal settings.
//
//	s, err := promconfig.ServerSettings(p, capabilities)
//	f := promconfig.CompileServiceMonitor(m, s, reader) // f.Err: why m is rejected
//	frame, err := promconfig.CompileServer(p, s, ruleConfigMaps, reader)
//	parts := promconfig.Assemble(&frame, monitors) // monitors(kind) are the accepted fragments
//
// With [Settings.WithOrigins], the result also contains the field from which each relabel step of each job
// originates (origin.go).
//
// [CompileThanosRemoteWrite] generates a configuration file of a ThanosRuler from the same blocks, with the
// versions of Thanos.
//
// Struct tags declare which versions of Prometheus support a key (package gate). Decisions that depend on more
// than one version number are code, in the file of the feature. A new key needs a field with a tag, an
// assignment, and a golden file in testdata. A new kind of monitor needs a file like podmonitor.go. A new
// service discovery of ScrapeConfigs needs a file like sd_dns.go and a row in discovery.go.
//
// The package does not read the clock, access a cluster, log, or modify its inputs. Errors contain the field
// names of the object and never a secret value.
package promconfig
