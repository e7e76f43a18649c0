package wellknown

// Versions used when an object names none.
const (
	DefaultPrometheusVersion   = "v3.13.2"
	DefaultThanosVersion       = "v0.42.4"
	DefaultAlertmanagerVersion = "v0.33.1"
)

// DefaultRetention is how long a Prometheus keeps samples when the object limits
// neither time nor size, and how long a ThanosRuler does.
const DefaultRetention = "24h"

// DefaultAlertmanagerRetention is how long an Alertmanager keeps silences and the
// notification log.
const DefaultAlertmanagerRetention = "120h"

// Folders inside the containers that have one folder for each rule ConfigMap.
const (
	PrometheusRuleDir  = "/etc/prometheus/rules"
	ThanosRulerRuleDir = "/etc/thanos/rules"
)
