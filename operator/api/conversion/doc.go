// Package conversion converts AlertmanagerConfigs between the versions of their CRD:
// v1alpha1, with which the operator works, and v1beta1.
//
//	converted, err := amconversion.Convert(raw, "monitoring.coreos.com/v1beta1")
//	alpha, err := amconversion.FromBeta(beta)
//
// An API server has no way around a conversion that fails: one object would make the
// version unreadable for the whole cluster. So no content is an error. The text of the
// object is copied byte for byte, but for the few places in which the versions differ, and
// these only where they have the expected shape:
//
//	text.go     finds fields in a text, and replaces parts of it
//	convert.go  the version, the name of the intervals, the operators of matchers
//	carry.go    fields that only v1alpha1 has, which an annotation carries through v1beta1
//
// Time and memory grow with the size of the text, not with its depth.
package conversion
