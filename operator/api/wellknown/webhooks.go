package wellknown

// Paths under which the operator answers webhooks.
const (
	ValidateRulesPath               = "/admission-prometheusrules/validate"
	MutateRulesPath                 = "/admission-prometheusrules/mutate"
	ValidateAlertmanagerConfigsPath = "/admission-alertmanagerconfigs/validate"
)
