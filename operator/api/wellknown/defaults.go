package wellknown

// Default versions for objects that do not set one.
const (
	DefaultPrometheusVersion   = "v3.13.2"
	DefaultThanosVersion       = "v0.42.4"
	DefaultAlertmanagerVersion = "v0.33.1"
)

// DefaultRetention is the retention of samples in a Prometheus without time and size
// limits, and in a ThanosRuler without a time limit.
const DefaultRetention = "24h"

// DefaultAlertmanagerRetention is the retention of silences and of the notification log
// in an Alertmanager.
const DefaultAlertmanagerRetention = "120h"

// Folders inside the containers with one subfolder per rule ConfigMap.
const (
	PrometheusRuleDir  = "/etc/prometheus/rules"
	ThanosRulerRuleDir = "/etc/thanos/rules"
)
