package workload

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

var tlsVersions = map[v1.TLSVersion]string{
	v1.TLSVersion10: "1.0", v1.TLSVersion11: "1.1", v1.TLSVersion12: "1.2", v1.TLSVersion13: "1.3",
}

// GRPCServerArgs returns the TLS arguments of the gRPC server of a Thanos program. field
// is the path of the block, which may be nil. The programs do not split values at commas,
// so each cipher suite and each curve is a separate argument.
func GRPCServerArgs[In any](field string, block func(In) *v1.GRPCServerTLSConfig) []Row[In] {
	one := func(get func(*v1.GRPCServerTLSConfig) string) func(In) (string, bool) {
		return NonEmpty(func(in In) string {
			if t := block(in); t != nil {
				return get(t)
			}
			return ""
		})
	}
	each := func(get func(*v1.GRPCServerTLSConfig) []string) func(In) []string {
		return func(in In) []string {
			if t := block(in); t != nil {
				return get(t)
			}
			return nil
		}
	}
	return []Row[In]{
		{Name: "grpc-server-tls-cert", Value: one(func(t *v1.GRPCServerTLSConfig) string { return t.CertFile })},
		{Name: "grpc-server-tls-key", Value: one(func(t *v1.GRPCServerTLSConfig) string { return t.KeyFile })},
		{Name: "grpc-server-tls-client-ca", Value: one(func(t *v1.GRPCServerTLSConfig) string { return t.CAFile })},
		{Name: "grpc-server-tls-min-version", In: Versions{Since: "0.37.0"}, Field: field + ".minVersion",
			Value: one(func(t *v1.GRPCServerTLSConfig) string { return tlsVersions[t.MinVersion] })},
		{Name: "grpc-server-tls-ciphers", In: Versions{Since: "0.42.0"}, Field: field + ".cipherSuites",
			Each: each(func(t *v1.GRPCServerTLSConfig) []string { return t.CipherSuites })},
		{Name: "grpc-server-tls-curves", In: Versions{Since: "0.42.0"}, Field: field + ".curves",
			Each: each(func(t *v1.GRPCServerTLSConfig) []string { return t.Curves })},
	}
}

// CheckGRPCServer rejects an incomplete block. nil is valid.
func CheckGRPCServer(t *v1.GRPCServerTLSConfig) error {
	switch {
	case t == nil:
		return nil
	case (t.CertFile == "") != (t.KeyFile == ""):
		return errors.New("set certFile and keyFile, or none of them")
	case t.CAFile != "" && t.CertFile == "":
		return faults.At("caFile", errors.New("also needs certFile and keyFile"))
	}
	return nil
}
