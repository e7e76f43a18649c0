// Package v1beta1 holds the v1beta1 form of AlertmanagerConfig in the
// monitoring.coreos.com API group.
//
// It differs from the stored version v1alpha1 in a few names (timeIntervals
// instead of muteTimeIntervals), in its Secret selectors (both name and key are
// required, no optional flag) and in the deprecated fields it no longer has. The
// operator's webhook converts between the two.
//
// +kubebuilder:object:generate=true
// +groupName=monitoring.coreos.com
package v1beta1
