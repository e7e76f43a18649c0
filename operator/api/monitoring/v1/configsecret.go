package v1

import "cmp"

// AlertmanagerConfigKey is the key of a user's Secret that holds the configuration of an Alertmanager.
const AlertmanagerConfigKey = "alertmanager.yaml"

// ConfigSecretName returns the name of the user's Secret with the configuration.
func (a *Alertmanager) ConfigSecretName() string {
	return cmp.Or(a.Spec.ConfigSecret, "alertmanager-"+a.Name)
}
