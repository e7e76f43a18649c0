// Package promconfig is the configuration file of Prometheus as Go structs and
// the way from the API's objects to it. The blocks that other programs have as well
// are in package clientconfig.
//
// The file is compiled in pieces. [ServerSettings] gathers the settings of an
// owner (a Prometheus or PrometheusAgent) for all its monitors; [CompileServiceMonitor], [CompilePodMonitor] and [CompileProbe] turn
// one monitor into the finished text of its jobs, a [Fragment]; [CompileServer]
// makes the owner's own part, a [Frame]. A fragment depends on nothing but the
// monitor, the settings and the Secrets and ConfigMaps it lists, so it can be
// kept and shared between owners with equal settings.
//
//	s, err := promconfig.ServerSettings(p, capabilities)
//	f := promconfig.CompileServiceMonitor(m, s, reader) // f.Err: why m is rejected
//	frame, err := promconfig.CompileServer(p, s, ruleConfigMaps, reader)
//	parts := promconfig.Assemble(&frame, monitors) // monitors(kind) are the accepted fragments
//
// With [Settings.WithOrigins] the same code also says, for each relabel step of each job,
// which field it comes from (origin.go).
//
// [CompileThanosRemoteWrite] makes the file of a ThanosRuler that consists of the
// same blocks, with the versions of Thanos.
//
// The struct tags say which versions of Prometheus support a key (package gate). The decisions that depend on more than one version number are code,
// each in the file of its concept. A new key is a field with a tag, a line that
// fills it, and a golden file in testdata; a new kind of monitor is a file like
// podmonitor.go; a new discovery of ScrapeConfigs is a file like sd_dns.go and
// a row in discovery.go.
//
// Nothing here reads a clock, talks to a cluster, logs, or changes its inputs.
// Errors name fields as users write them and never contain a secret's value.
package promconfig
