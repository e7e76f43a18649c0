package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// withPlace returns the error of a fault with its location.
func withPlace(f Fault) error {
	if where := f.Where(); where != "" {
		return faults.In(where, f.Err)
	}
	return f.Err
}

// TestFolders reads the folder of a golden file, once as lint does and once as commands that stop at
// the first fault.
//
//	want/faults   each fault with its place
//	want/objects  the objects that are usable, with what the API server would set, and what is generated
//	want/first    the error of a reader that stops
func TestFolders(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, what string) ([]byte, error) {
		names := c.Enter(t)
		var out strings.Builder
		switch what {
		case "faults":
			_, wrong := LoadAll(names, kinds())
			for _, f := range wrong {
				fmt.Fprintln(&out, withPlace(f))
			}
		case "objects":
			objects, _ := LoadAll(names, kinds())
			for _, row := range catalog.All {
				for _, o := range objects.All(row) {
					fmt.Fprintf(&out, "%s %s/%s (%s)\n", row.Kind, o.GetNamespace(), o.GetName(), objects.Place(row.Kind, o.GetNamespace(), o.GetName()))
				}
			}
			for _, ref := range slices.SortedFunc(maps.Keys(objects.promises), assets.Ref.Compare) {
				keys := objects.promises[ref].keys
				if objects.promises[ref].any {
					keys = append(slices.Clone(keys), "any key")
				}
				fmt.Fprintf(&out, "generated: %s: %s\n", ref, strings.Join(keys, ", "))
			}
			fmt.Fprintf(&out, "skipped: %d\n", objects.Skipped)
		case "first":
			if _, err := Load(names, kinds()); err != nil {
				fmt.Fprintln(&out, err)
			}
		default:
			t.Fatalf("no output is called %s", what)
		}
		return []byte(out.String()), nil
	})
}
