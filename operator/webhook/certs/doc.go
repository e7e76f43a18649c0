// Package certs keeps the certificate of the webhooks: a CA of its own and a serving
// certificate in a Secret, and the CA in the configurations by which API servers reach the
// webhooks. It is for clusters without cert-manager.
//
//	err := webhookcerts.Run(ctx, webhookcerts.Options{…}) // until ctx ends
//
//	decide.go  what the Secret and the configurations should have, from what they have
//	issue.go   certificates
//	run.go     reads, decides, writes, and again a minute later
//
// Both are renewed after two thirds of their life. A new CA is in the configurations before
// a certificate of it is in the Secret, and an old one stays there until it ends, so that
// webhooks go on serving. That of a Secret that was deleted is kept from the configurations.
package certs
