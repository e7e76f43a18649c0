// Package certs manages the certificate of the webhooks: it keeps a private CA and a serving
// certificate in a Secret, and writes the CA to the configurations through which API servers
// reach the webhooks. It is for clusters without cert-manager.
//
//	options := &certs.Options{…}
//	err := options.Run(ctx) // until ctx ends
//
//	server.go  the same for a server with clients in pods: the CA is in a ConfigMap
//	decide.go  computes the content of the Secret and the configurations
//	callers.go reads the configurations through which API servers reach the webhooks
//	issue.go   issues certificates
//	run.go     reads, decides and writes once a minute
//
// Both certificates are renewed after two thirds of their lifetime. A new CA is written to
// the configurations before the Secret holds a certificate signed by it, and an old CA stays
// there until it expires, so that the webhooks stay available. If the Secret is deleted, its
// CA is read back from the configurations and stays trusted.
package certs
