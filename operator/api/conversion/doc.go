// Package conversion converts AlertmanagerConfigs between the versions of their CRD:
// v1alpha1, which the operator uses, and v1beta1.
//
//	converted, err := conversion.Convert(raw, "monitoring.coreos.com/v1beta1")
//	alpha, err := conversion.FromBeta(beta)
//
// An API server cannot skip a failed conversion: one object would make the version
// unreadable for the whole cluster. The content is therefore never an error. The text of
// the object is copied byte for byte, except for the few places in which the versions
// differ, and those are only converted if they have the expected form:
//
//	text.go     finds fields in a text, and replaces parts of it
//	convert.go  the version, the name of the intervals, the operators of matchers
//	carry.go    fields of v1alpha1 only, which are kept in an annotation in v1beta1
//
// Time and memory are linear in the size of the text, independent of its depth.
package conversion
