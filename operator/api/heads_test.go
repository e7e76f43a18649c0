package api_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeads compares everything in a CRD except the fields: names, short names,
// categories, versions, subresources and printer columns.
func TestHeads(t *testing.T) {
	raw, err := os.ReadFile(sharedFile(t, "api/surface.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	kind := ""
	for line := range strings.SplitSeq(string(raw), "\n") {
		switch {
		case strings.HasPrefix(line, "# ") && strings.Contains(line, " group="):
			kind, _, _ = strings.Cut(strings.TrimPrefix(line, "# "), " ")
			want[kind] = append(want[kind], line)
		case strings.HasPrefix(line, "  column "):
			want[kind] = append(want[kind], line)
		}
	}

	got := map[string][]string{}
	for _, crd := range readCRDs(t, "crds-full") {
		kind := fmt.Sprint(object(crd, "spec", "names")["kind"])
		for _, v := range object(crd, "spec")["versions"].([]any) {
			got[kind] = append(got[kind], head(crd, v.(schema))...)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-published +generated):\n%s", diff)
	}
}

// head formats one version of a CRD like the published surface.
func head(crd, version schema) []string {
	spec, names := object(crd, "spec"), object(crd, "spec", "names")
	list := func(v any) string { return strings.ReplaceAll(spacedJSON(v), `"`, "'") }
	flag := func(v any) string { return map[any]string{true: "True", false: "False"}[v] }
	out := []string{fmt.Sprintf(
		"# %s  group=%s version=%s scope=%s plural=%s shortNames=%s categories=%s served=%s storage=%s subresources=%s",
		names["kind"], spec["group"], version["name"], spec["scope"], names["plural"], list(names["shortNames"]),
		list(names["categories"]), flag(version["served"]), flag(version["storage"]), spacedJSON(version["subresources"]))}
	columns, _ := version["additionalPrinterColumns"].([]any)
	for _, c := range columns {
		column := c.(schema)
		delete(column, "description")
		out = append(out, "  column "+spacedJSON(column))
	}
	return out
}
