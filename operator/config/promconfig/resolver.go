package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// assetDir is the mount path of TLS assets in Prometheus containers.
const assetDir = "/etc/prometheus/certs"

// resolver resolves the references of one object. It extends the shared resolver with the
// blocks that only Prometheus has.
type resolver struct{ *clientconfig.Resolver }

func newResolver(namespace string, r assets.Reader, t gate.Target) *resolver {
	return &resolver{clientconfig.New(namespace, r, assetDir, t)}
}

// way is one of several blocks that are mutually exclusive.
func way(field string, given bool) clientconfig.Way {
	return clientconfig.Way{Field: field, Given: given}
}

// set returns a function that takes the result of a conversion: it stores the value, and adds the error of the field.
func set[T any](errs *faults.List, field string, to *T) func(T, error) {
	return func(value T, err error) {
		*to = value
		errs.Add(field, err)
	}
}
