package lint

import (
	"strings"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// unverifiedRemarks reports certificates of CAs in an object that are not used, because nothing is verified.
func unverifiedRemarks(say says, object catalog.Object) {
	for path, t := range fields.Of[v1.SafeTLSConfig]("", object) {
		server := strings.HasSuffix(path, ".grpcServerTlsConfig") // see grpcRemarks
		if !server && ptr.Deref(t.InsecureSkipVerify, false) && (t.CA.Secret != nil || t.CA.ConfigMap != nil) {
			say(path+".insecureSkipVerify", "is true, so the certificate of the server is not verified, and ca has no effect: remove insecureSkipVerify, or ca if this is meant")
		}
	}
}

// clientRemarks reports servers that verify certificates of clients without an authority for them, and those with an
// authority and no verification, at which they exit.
func clientRemarks(say says, object catalog.Object) {
	for path, t := range fields.Of[v1.WebTLSConfig]("", object) {
		authority := t.ClientCA.Secret != nil || t.ClientCA.ConfigMap != nil || t.ClientCAFile != ""
		switch t.ClientAuthType {
		case "RequireAndVerifyClientCert", "VerifyClientCertIfGiven":
			if !authority {
				say(path+".clientAuthType", "certificates of clients are verified, and without client_ca only those of public authorities are accepted; name the certificate of the authority that signs them in client_ca")
			}
		case "", "NoClientCert":
			if authority {
				say(path+".clientAuthType", "no certificate of clients is verified, and the server does not start with an authority for them; write RequireAndVerifyClientCert, or leave out client_ca and clientCAFile")
			}
		}
	}
}
