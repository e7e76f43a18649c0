package trial

// Resources are the resources of kinds.
var Resources = map[string]string{
	"Secret": "secrets", "Prometheus": "prometheuses", "Alertmanager": "alertmanagers", "ThanosRuler": "thanosrulers",
	"ServiceMonitor": "servicemonitors", "PodMonitor": "podmonitors", "Probe": "probes", "ScrapeConfig": "scrapeconfigs",
	"PrometheusRule": "prometheusrules", "AlertmanagerConfig": "alertmanagerconfigs", "StatefulSet": "statefulsets",
}

// Garbage returns an object whose owner does not exist, or that is being deleted; empty if there is none.
func Garbage(s State) string {
	for key, o := range s {
		object, is := o.(map[string]any)
		if !is {
			continue // a rule file
		}
		metadata := object["metadata"].(map[string]any)
		if metadata["deletionTimestamp"] != nil {
			return key
		}
		owners, _ := metadata["ownerReferences"].([]any)
		for _, ref := range owners {
			ref := ref.(map[string]any)
			resource := Resources[ref["kind"].(string)]
			if _, exists := s[resource+"/"+ref["name"].(string)]; resource != "" && !exists {
				return key
			}
		}
	}
	return ""
}
