// Package thanostest asks the real `thanos rule` whether it accepts what a pod would give it: arguments, environment and
// mounted files.
//
//	program := thanostest.Find(t)
//	err := program.Check(t.Context(), thanostest.Container{
//		Args:  []string{"rule", "--data-dir=/thanos/data", "--rule-file=/etc/thanos/rules/*/*.yaml", "--query=http://a"},
//		Files: map[string]string{"/etc/thanos/rules/cm-0/app.yaml": "groups: [...]"},
//	})
//
// One check takes about 80 ms, most of it the start of the program. Start returns the running server instead, to reload
// it and to ask which rules it has.
//
// # How thanos rule 0.42 behaves
//
// The tests of this package hold these facts.
//
// Start: it ends with status 1 when one rule file cannot be loaded, so one bad file keeps the pod from starting. It says
// that it is ready (/-/ready) before it has read its rules; only the metric
// thanos_rule_config_last_reload_successful says that it has.
//
// Reload (POST /-/reload, below --web.route-prefix): the answer comes after the reload, 200 with an empty body or 500
// with the reason. What is loaded after a 500 depends on the fault:
//
//   - An expression, a name or a template that Prometheus refuses: all groups of the same partial_response_strategy stay
//     as they were, those of the other strategy are loaded. The answer does not name the file, only the log does.
//   - A file that is no YAML of rule groups (an unknown strategy, an empty duration): the groups of this file are gone,
//     all other files are loaded. The answer names the file.
//
// A successful reload sets thanos_rule_config_last_reload_success_timestamp_seconds, also when nothing has changed; a
// failed one sets thanos_rule_config_last_reload_successful to 0 and leaves the time. So a reload after time T is seen
// from outside as a timestamp above T. /api/v1/status/runtimeinfo exists, but tells nothing about reloads, and there is
// no /api/v1/status/config. The metrics, /-/ready and /-/healthy stay at the root whatever --web.route-prefix is; the
// API is below it.
//
// Arguments: only label, query, rule-file, alertmanagers.url, alert.label-drop, enable-feature, grpc-server-tls-ciphers,
// grpc-server-tls-curves, grpc-query-endpoint, query.sd-files and restore-ignored-label may be repeated; any other
// argument twice is refused. None of them is split at commas: two ciphers in one argument are refused, two features in
// one argument enable none. The same --query twice is refused. Durations are Go's with d and w, but without y; only
// tsdb.retention takes Prometheus's. A boolean is --name or --no-name, never --name=true.
//
// Files behind --*.config-file: $(NAME) is replaced by the environment, and an unset variable is refused, also in a
// password. Unknown keys are refused, except in remote_write. A remote_write file with an empty list makes the ruler
// stateless all the same; an empty file does not. An object store has no effect on a stateless ruler.
//
// Two facts take too long for a test, or a cloud: write_relabel_configs with the action replace end a stateless ruler
// with a panic ("Invalid name validation scheme requested: unset") at the first sample that matches, seconds after the
// start. And sigv4 without keys asks the metadata service of the cloud at the start and is refused where there is none.
package thanostest
