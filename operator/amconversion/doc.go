// Package amconversion converts AlertmanagerConfigs between the versions of their CRD:
// v1alpha1, with which the operator works, and v1beta1.
//
//	alpha, err := amconversion.FromBeta(beta)
//	beta, err := amconversion.ToBeta(alpha)
//
// The versions differ in few places, which are the tables of this package; everything
// else is copied field by field under its name in JSON. What one version cannot say is
// lost: `optional` of Secret references and `updateAlerts` of OpsGenie towards v1beta1.
// A matcher without operator gets the one that it means.
//
// Arguments are not changed, and results share nothing with them.
package amconversion
