package clientconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// Known refuses keys with a reject tag that the version does not know; see [gate.Rejects].
//
// entry: a pointer to a struct; the structs in it are not looked at.
func (r *Resolver) Known(entry any) error { return needs(gate.Rejects(entry, r.target)) }

// Since refuses a field below the version that has it.
//
// version: in the form of the since tag, "2.49.0" or "alertmanager=0.25.0".
func (r *Resolver) Since(field, version string) error { return needs(field, r.target.Needs(version)) }

func needs(field, need string) error {
	if need == "" {
		return nil
	}
	return At(field, errors.New("needs "+need))
}
