package sample

import (
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// OfKinds returns generators by kind for kinds of our CRDs, each in the version it is
// mapped to.
//
// Errors: an unknown kind or version.
func OfKinds(versions map[string]string) (map[string]*Generator, error) {
	all, err := crds.Standard("1.0.0")
	if err != nil {
		return nil, err
	}
	out := map[string]*Generator{}
	for _, crd := range all {
		kind := crd.Spec.Names.Kind
		version, wanted := versions[kind]
		if !wanted {
			continue
		}
		if out[kind], err = New(crd, version); err != nil {
			return nil, err
		}
	}
	if len(out) != len(versions) {
		return nil, fmt.Errorf("want the CRDs of %d kinds, got %d", len(versions), len(out))
	}
	return out, nil
}
