package client

import "k8s.io/client-go/rest"

// Bulk returns a configuration for large lists, which uses HTTP/1.1. With HTTP/2, the API server sends each object of a list in
// a frame of its own, and frames and flow control are a third of the CPU time of a list of 100,000 pods.
//
// Concurrent requests need a connection each, so it is not for many watches.
func Bulk(cfg *rest.Config) *rest.Config {
	out := rest.CopyConfig(cfg)
	out.NextProtos = []string{"http/1.1"}
	return out
}
