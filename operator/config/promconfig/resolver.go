package promconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// AssetDir is where a Prometheus container finds TLS assets.
const AssetDir = "/etc/prometheus/certs"

// resolver reads the references of one object. To the blocks that all programs
// share it adds those that only Prometheus has.
type resolver struct{ *clientconfig.Resolver }

func newResolver(namespace string, r assets.Reader, t gate.Target) *resolver {
	return &resolver{clientconfig.New(namespace, r, AssetDir, t)}
}

// way is one of several blocks that are mutually exclusive.
func way(field string, given bool) clientconfig.Way {
	return clientconfig.Way{Field: field, Given: given}
}

// at says which field an error is about.
func at(field string, err error) error { return clientconfig.At(field, err) }
