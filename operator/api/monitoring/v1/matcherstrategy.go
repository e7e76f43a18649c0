package v1

// MatcherStrategy is the strategy of a, or its default.
func (a *Alertmanager) MatcherStrategy() AlertmanagerConfigMatcherStrategyType {
	if by := a.Spec.AlertmanagerConfigMatcherStrategy; by != nil && by.Type != "" {
		return by.Type
	}
	return OnNamespaceConfigMatcherStrategyType
}

// Limits reports whether an Alertmanager in the namespace own limits AlertmanagerConfigs of
// namespace to its alerts. A strategy that is not known counts as the default, which limits
// all of them. The AlertmanagerConfig that the configuration begins with is never limited.
func (s AlertmanagerConfigMatcherStrategyType) Limits(own, namespace string) bool {
	switch s {
	case NoneConfigMatcherStrategyType:
		return false
	case OnNamespaceExceptForAlertmanagerNamespaceConfigMatcherStrategyType:
		return namespace != own
	}
	return true
}
