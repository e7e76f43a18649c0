package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// All forms in which users specify an object are accepted.
func TestSpell(t *testing.T) {
	for line, tc := range map[string]struct{ want, rest string }{
		"smon demo/web":          {want: "smon demo/web"},
		"smon/demo/web":          {want: "smon demo/web"},
		"-n demo smon web":       {want: "smon demo/web"},
		"-n demo smon/web":       {want: "smon demo/web"},
		"-n demo smon demo/web":  {want: "smon demo/web"},
		"-n demo smon/demo/web":  {want: "smon demo/web"},
		"smon demo/web a.yaml b": {want: "smon demo/web", rest: "a.yaml b"},
		"smon/demo/web a.yaml":   {want: "smon demo/web", rest: "a.yaml"},
		"":                       {want: "no object"},
		"smon":                   {want: `"smon" has no name`},
		"-n x smon demo/web":     {want: `"demo/web" is in another namespace than --namespace=x`},
		"-n x smon/demo/web":     {want: `"demo/web" is in another namespace than --namespace=x`},
		"smon web":               {want: "want NAMESPACE/NAME, or NAME and --namespace"},
		"smon/web":               {want: "want NAMESPACE/NAME, or NAME and --namespace"},
		"smon /web":              {want: "want NAMESPACE/NAME"},
		"smon demo/":             {want: "want NAMESPACE/NAME"},
		"smon a/b/c":             {want: "want NAMESPACE/NAME"},
		"-n a smon/a/b/c":        {want: "want NAMESPACE/NAME"},
	} {
		words, namespace := strings.Fields(line), ""
		if len(words) > 1 && words[0] == "-n" {
			namespace, words = words[1], words[2:]
		}
		s, rest, err := catalog.Spell(words, namespace)
		if err == nil {
			_, err = catalog.Key(s.NamespacedName.String(), namespace)
		}
		got := s.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) || err == nil && got != tc.want || !slices.Equal(rest, strings.Fields(tc.rest)) && err == nil {
			t.Errorf("%q: %s, then %q", line, got, rest)
		}
	}
}
