// Package v1alpha1 holds the kinds of the monitoring.coreos.com API group that
// may still change: PrometheusAgent, ScrapeConfig and AlertmanagerConfig.
//
// AlertmanagerConfig is stored in this version; v1beta1 is served next to it and
// converted by the operator's webhook.
//
// The discovery_*.go files hold the service discoveries of ScrapeConfig, the
// receiver_*.go files the receivers of AlertmanagerConfig, grouped by what they
// talk to. Types shared with the stable kinds come from package v1, and so do the
// conventions about pointers and zero values.
//
// +kubebuilder:object:generate=true
// +groupName=monitoring.coreos.com
package v1alpha1
