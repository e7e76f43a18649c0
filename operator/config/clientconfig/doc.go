// Package clientconfig holds the blocks that configuration files of Prometheus,
// Alertmanager and Thanos have in common: how an HTTP client authenticates,
// which certificates it uses, and the proxy it goes through.
//
// A [Resolver] turns the blocks of one object into the structs that are
// written, one call for each block: it checks the block, reads what it refers to
// and collects the dependencies and the TLS files that must be mounted.
//
//	r := clientconfig.New("monitoring", reader, "/etc/prometheus/certs", target)
//	tls, err := r.TLS(spec.TLSConfig)
//	files, deps := r.Files(), r.Dependencies()
//
// The versions in the tags are those of all programs (package gate). A file that
// has a block at a later version than others gates the key of its own struct.
//
// Errors name fields as users write them and never contain a secret's value.
package clientconfig
