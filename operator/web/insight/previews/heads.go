package previews

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// kindIn is a kind and a namespace of objects in manifests.
type kindIn struct {
	row       *catalog.Row
	namespace string
}

// head matches a possible kind or namespace of an object, in YAML or JSON.
var head = lazyregexp.New(`\b(kind|namespace)["']?[ \t]*:[ \t]*["']?([A-Za-z0-9-]{1,63})\b`)

// mayPreview returns nil if the caller may get at least one of the kinds in the manifests. It scans
// their text, so that nothing is decoded for unauthorized callers. The individual objects are
// checked after decoding.
//
// Errors: 403; the permission check failed.
func (s *Service) mayPreview(ctx context.Context, r access.Rights, manifests []byte) error {
	about := s.mentioned(manifests)
	own := len(about) > 0 // else there are only native objects
	if !own {
		about = s.scraping(ctx)
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

// maxNamed limits the kinds and namespaces in an error.
const maxNamed = 5

// noneOf returns the error for a caller who may get none of the kinds in the manifests.
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

// mentioned returns the kinds and namespaces that manifests mention, at most maxKinds.
func (s *Service) mentioned(manifests []byte) (out []kindIn) {
	var kinds []*catalog.Row
	var namespaces []string
	for _, found := range head.Get().FindAllSubmatch(manifests, -1) {
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
		for _, namespace := range append(namespaces, "default") { // the default of objects without one
			if len(out) < maxKinds {
				out = append(out, kindIn{row, namespace})
			}
		}
	}
	return out
}

// scraping returns the kinds and namespaces of the workloads that scrape.
func (s *Service) scraping(ctx context.Context) (out []kindIn) {
	for _, row := range preview.Kinds {
		list, _ := s.Reader.List(ctx, readers.Query{GroupVersionResource: row.GroupVersionResource()}) // unreadable workloads are not previewed
		for _, o := range list {
			if one := (kindIn{row, o.GetNamespace()}); len(out) < maxKinds && !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return out
}
