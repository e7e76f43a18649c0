// Package admission implements the webhooks of an API server: it validates and mutates
// objects, and converts them between the versions of their CRD.
//
//	h := admission.New(admission.Options{Logger: log})
//	h.Register(mux) // the paths are constants
//
// The package never reads the cluster. References, selectors and the version of the
// workload that selects an object are unknown, so it rejects only objects that are invalid
// everywhere. The controllers check again with the state of the cluster.
//
//	handler.go             paths, slots, panics
//	body.go                deadlines and memory of request bodies
//	limits.go              size limits before decoding
//	review.go              AdmissionReview: decoding, responses, rejections
//	prometheusrule.go      validates PrometheusRules
//	mutation.go            mutates PrometheusRules
//	alertmanagerconfig.go  validates AlertmanagerConfigs
//	object.go              validates all other kinds, like the command lint
//	conversion.go          ConversionReview
//
// Every decision is a function of the request alone. Messages name the field as the user
// wrote it and never contain a secret's value.
package admission
