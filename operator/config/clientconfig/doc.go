// Package clientconfig holds the blocks that the configuration files of Prometheus,
// Alertmanager and Thanos have in common: authentication, TLS and proxies of HTTP clients.
//
// A [Resolver] converts the blocks of one object to the structs that are marshaled, one
// call per block. It validates the block, resolves its references, and collects the
// dependencies and the TLS files to mount.
//
//	r := clientconfig.New("monitoring", reader, "/etc/prometheus/certs", target)
//	tls, err := r.TLS(spec.TLSConfig)
//	files, deps := r.Files(), r.Dependencies()
//
// The tags contain the versions of all programs (package gate). A file that supports a
// block only from a later version gates the key in its own struct.
//
// Errors contain the field names of the object and never a secret value.
package clientconfig
