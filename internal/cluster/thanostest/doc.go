// Package thanostest checks whether the real `thanos rule` accepts the arguments, environment and mounted files of a
// pod.
//
//	program := thanostest.Find(t)
//	err := program.Check(t.Context(), thanostest.Container{
//		Args:  []string{"rule", "--data-dir=/thanos/data", "--rule-file=/etc/thanos/rules/*/*.yaml", "--query=http://a"},
//		Files: map[string]string{"/etc/thanos/rules/cm-0/app.yaml": "groups: [...]"},
//	})
//
// A check takes about 80 ms, mostly for starting the program. Start returns the running server instead, to reload it
// and to query its rules.
//
// # Behavior of thanos rule 0.42
//
// The tests of this package verify these facts.
//
// Start: it exits with status 1 if any rule file cannot be loaded, so one bad file keeps the pod from starting. It
// reports that it is ready (/-/ready) before it has read its rules; only the metric
// thanos_rule_config_last_reload_successful shows that it has.
//
// Reload (POST /-/reload, below --web.route-prefix): the response follows the reload, with status 200 and an empty body
// or with status 500 and the reason. The loaded rules after status 500 depend on the error:
//
//   - An expression, a name or a template that Prometheus rejects: all groups of the same partial_response_strategy are
//     unchanged, those of the other strategy are loaded. The response does not name the file, only the log does.
//   - A file that is not valid YAML of rule groups (an unknown strategy, an empty duration): the groups of this file
//     are removed, all other files are loaded. The response names the file.
//
// A successful reload sets thanos_rule_config_last_reload_success_timestamp_seconds, even if nothing has changed; a
// failed one sets thanos_rule_config_last_reload_successful to 0 and leaves the timestamp. A reload after time T is
// therefore visible as a timestamp above T. /api/v1/status/runtimeinfo exists, but does not report reloads, and there
// is no /api/v1/status/config. The metrics, /-/ready and /-/healthy are at the root regardless of --web.route-prefix;
// the API is below it.
//
// Arguments: only label, query, rule-file, alertmanagers.url, alert.label-drop, enable-feature,
// grpc-server-tls-ciphers, grpc-server-tls-curves, grpc-query-endpoint, query.sd-files and restore-ignored-label may be
// repeated; any other repeated argument is rejected. None of them is split at commas: two ciphers in one argument are
// rejected, two features in one argument enable none. A duplicate --query is rejected. Durations are Go's with d and w,
// but without y; only tsdb.retention accepts Prometheus's. A boolean is --name or --no-name, never --name=true.
//
// Files of --*.config-file: $(NAME) is replaced from the environment, and an unset variable is rejected, even in a
// password. Unknown keys are rejected, except in remote_write. A remote_write file with an empty list makes the ruler
// stateless; an empty file does not. An object store has no effect on a stateless ruler.
//
// Two facts are not tested, because they take too long or need a cloud: write_relabel_configs with the action replace
// make a stateless ruler panic ("Invalid name validation scheme requested: unset") at the first sample that matches,
// seconds after the start. And sigv4 without keys queries the metadata service of the cloud at the start and is
// rejected without one.
package thanostest
