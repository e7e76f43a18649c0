package lint

import (
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// endpointRemarks reports endpoints of which the path is one that needs parameters or labels.
func endpointRemarks(say says, field, path string, params map[string][]string, honorLabels bool, steps []v1.RelabelConfig) {
	has := func(name string) bool {
		if len(params[name]) > 0 {
			return true
		}
		for _, s := range steps {
			if s.TargetLabel == "__param_"+name || strings.EqualFold(s.Action, "labelmap") {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(path, "/federate"):
		if !has("match[]") {
			remedy := "write params: {'match[]': [...]}"
			if has("match") {
				remedy = "the parameter is called match[], with the brackets"
			}
			say(field+".params", "%s answers with the series that match[] selects, and without it with none: %s", path, remedy)
		}
		if !honorLabels {
			say(field+".honorLabels", "is false, so job, instance, namespace and pod of all federated series become exported_job, exported_instance and so on; write honorLabels: true")
		}
	case strings.HasSuffix(path, "/probe"), path == "/snmp":
		if !has("target") {
			say(field+".params", "%s needs the parameter target, without which the exporter answers 400; write params: {target: [...]}, or use a Probe, which asks one exporter about many targets", path)
		}
	}
}
