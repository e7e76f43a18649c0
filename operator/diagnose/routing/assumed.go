package routing

import (
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// assumed is a reader of references that replaces the values which the caller may not read by
// placeholders that are valid for the fields that refer to them. Routes do not depend on such values.
// The Secret with the user's own configuration is no such field, and is not replaced.
type assumed struct {
	under  assets.Reader
	values func(assets.Ref) (assets.Object, bool)
	used   map[assets.Ref]bool
}

func newAssumed(under assets.Reader, objects []catalog.Object) *assumed {
	return &assumed{under: under, values: manifests.Assumed(objects...), used: map[assets.Ref]bool{}}
}

// Object implements [assets.Reader].
func (a *assumed) Object(ref assets.Ref) (assets.Object, error) {
	o, err := a.under.Object(ref)
	if !assets.IsRefused(err) && !apierrors.IsForbidden(err) {
		return o, err
	}
	placeholder, _ := a.values(ref)
	if placeholder.Values == nil {
		return o, err
	}
	a.used[ref] = true
	return placeholder, nil
}

// refused returns the objects that were replaced, sorted: "Secret demo/keys".
func (a *assumed) refused() (out []string) {
	for ref := range maps.Keys(a.used) {
		out = append(out, ref.String())
	}
	slices.Sort(out)
	return out
}
