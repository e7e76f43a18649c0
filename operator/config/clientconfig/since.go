package clientconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// Known returns an error for keys with a reject tag that the version does not support; see [gate.Rejects].
//
// entry: a pointer to a struct. Nested structs are not checked.
func (r *Resolver) Known(entry any) error { return needs(gate.Rejects(entry, r.target)) }

// Since returns an error for a field that the version does not support.
//
// version: in the format of the since tag, "2.49.0" or "alertmanager=0.25.0".
func (r *Resolver) Since(field, version string) error { return needs(field, r.target.Needs(version)) }

func needs(field, need string) error {
	if need == "" {
		return nil
	}
	return faults.At(field, errors.New("needs "+need))
}
