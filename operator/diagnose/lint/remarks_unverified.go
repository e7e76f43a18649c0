package lint

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// unverifiedRemarks reports certificates of CAs in an object that are not used, because nothing is verified.
func unverifiedRemarks(say says, object catalog.Object) {
	for path, t := range fields.Of[v1.SafeTLSConfig]("", object) {
		if valueOr(t.InsecureSkipVerify) && (t.CA.Secret != nil || t.CA.ConfigMap != nil) {
			say(path+".insecureSkipVerify", "is true, so the certificate of the server is not verified, and ca has no effect: remove insecureSkipVerify, or ca if this is meant")
		}
	}
}
