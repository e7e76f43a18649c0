package insight

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
)

// kindIn is a kind and a namespace in which manifests may have objects of it.
type kindIn struct {
	row       *catalog.Row
	namespace string
}

// head finds what may be the kind or the namespace of an object, in YAML or JSON.
var head = regexp.MustCompile(`\b(kind|namespace)["']?[ \t]*:[ \t]*["']?([A-Za-z0-9-]{1,63})\b`)

// mayPreview returns nil if the caller may get something of what manifests are about, which is
// found in their text: nothing is decoded for callers who will be refused. What of it they
// may get is looked at once it is decoded.
//
// Errors: 403; nobody can say.
func (c *Cluster) mayPreview(ctx context.Context, r Rights, manifests []byte) error {
	about := c.mentioned(manifests)
	own := len(about) > 0 // the caller named them
	if !own {             // only what targets are found in
		about = c.scraping(ctx)
	}
	for _, one := range about {
		may, err := r.May(ctx, "get", one.row.GroupResource(), one.namespace)
		if err != nil {
			return err
		}
		if may {
			return nil
		}
	}
	if !own {
		return apierrors.NewForbidden(catalog.Prometheus.GroupResource(), "", errors.New("there is no workload that you may get"))
	}
	return noneOf(about)
}

// maxNamed is how many kinds and namespaces a refusal names.
const maxNamed = 5

// noneOf refuses a caller who may get nothing of what manifests are about.
func noneOf(about []kindIn) error {
	var names []string
	for _, one := range about[:min(len(about), maxNamed)] {
		names = append(names, one.String())
	}
	text := "you have no permission to get " + strings.Join(names, " or ")
	if more := len(about) - len(names); more > 0 {
		text += fmt.Sprintf(" or %d more", more)
	}
	return apierrors.NewForbidden(about[0].row.GroupResource(), "", errors.New(text))
}

func (k kindIn) String() string {
	return fmt.Sprintf("%s in namespace %q", k.row.GroupResource().Resource, k.namespace)
}

// mentioned are the kinds and namespaces that may be those of manifests, as far as anything is
// asked about.
func (c *Cluster) mentioned(manifests []byte) (out []kindIn) {
	var kinds []*catalog.Row
	var namespaces []string
	for _, found := range head.FindAllSubmatch(manifests, -1) {
		name := string(found[2])
		switch row := catalog.Of(name); {
		case string(found[1]) == "namespace":
			if len(namespaces) < maxKinds && !slices.Contains(namespaces, name) {
				namespaces = append(namespaces, name)
			}
		case row != nil && !slices.Contains(kinds, row):
			kinds = append(kinds, row)
		}
	}
	for _, row := range kinds {
		for _, namespace := range append(namespaces, "default") { // that of objects without one
			if len(out) < maxKinds {
				out = append(out, kindIn{row, namespace})
			}
		}
	}
	return out
}

// scraping are the kinds and namespaces of the workloads that scrape.
func (c *Cluster) scraping(ctx context.Context) (out []kindIn) {
	for _, row := range preview.Kinds {
		list, _ := c.Reader.List(ctx, readers.Query{GroupVersionResource: row.GroupVersionResource()}) // what cannot be read is not previewed
		for _, o := range list {
			if one := (kindIn{row, o.GetNamespace()}); len(out) < maxKinds && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}
