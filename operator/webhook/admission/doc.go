// Package admission answers the webhooks of an API server: whether an object may be
// written, what is to be changed about it first, and the object in another version of its
// CRD.
//
//	h := admission.New(admission.Options{Logger: log})
//	h.Register(mux) // the paths are constants
//
// Nothing here reads a cluster. What an object refers to, who selects it and which version
// reads it are not known, so only what is wrong everywhere is refused; the controllers
// check again with all that they know.
//
//	handler.go             the paths; slots, panics
//	body.go                bodies: how long they take, and their memory
//	limits.go              what an object may have before it is decoded
//	review.go              AdmissionReview: in, out, and the form of a refusal
//	prometheusrule.go      validate PrometheusRules
//	mutation.go            mutate PrometheusRules
//	alertmanagerconfig.go  validate AlertmanagerConfigs
//	object.go              validate objects of all other kinds, as the command lint does
//	conversion.go          ConversionReview
//
// Every decision is a function of the request alone. Messages name the field as the user
// wrote it and never contain a secret's value.
package admission
