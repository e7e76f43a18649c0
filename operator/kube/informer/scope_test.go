package informer

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

func scope(t testing.TB, allow, deny []string) Namespaces {
	t.Helper()
	n, err := NewNamespaces(allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNamespaces(t *testing.T) {
	for name, tc := range map[string]struct {
		allow, deny  []string
		all          bool
		in, out      []string
		watches      []string
		field, label string
		text         string
	}{
		"no lists":                {nil, nil, true, []string{"a"}, nil, []string{""}, "type!=x", "", "all"},
		"lists without entries":   {[]string{}, []string{}, true, []string{"a"}, nil, []string{""}, "type!=x", "", "all"},
		"an explicit empty value": {[]string{""}, nil, true, []string{"a"}, nil, []string{""}, "type!=x", "", "all"},
		"an empty deny value":     {nil, []string{""}, true, []string{"a"}, nil, []string{""}, "type!=x", "", "all"},
		"an allow list": {[]string{"b", " a", "b"}, nil, false, []string{"a", "b"}, []string{"c", ""}, []string{"a", "b"}, "type!=x",
			"kubernetes.io/metadata.name in (a,b)", "a,b"},
		"a deny list": {nil, []string{"b", "a"}, true, []string{"c"}, []string{"a", "b"}, []string{""},
			"metadata.namespace!=a,metadata.namespace!=b,type!=x", "kubernetes.io/metadata.name notin (a,b)", "all but a,b"},
	} {
		t.Run(name, func(t *testing.T) {
			n := scope(t, tc.allow, tc.deny)
			for _, ns := range tc.in {
				if !n.Has(ns) {
					t.Errorf("Has(%q) = false", ns)
				}
			}
			for _, ns := range tc.out {
				if n.Has(ns) {
					t.Errorf("Has(%q) = true", ns)
				}
			}
			if n.All() != tc.all || n.String() != tc.text || n.NameSelector() != tc.label || n.FieldSelector("type!=x") != tc.field {
				t.Errorf("All %v, String %q, NameSelector %q, FieldSelector %q", n.All(), n, n.NameSelector(), n.FieldSelector("type!=x"))
			}
			if diff := cmp.Diff(tc.watches, n.Watches()); diff != "" {
				t.Error(diff)
			}
			if _, err := labels.Parse(n.NameSelector()); err != nil {
				t.Error(err)
			}
			if _, err := fields.ParseSelector(n.FieldSelector("")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNamespacesThatAreWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		allow, deny []string
		want        string
	}{
		"both lists":                    {[]string{"a"}, []string{"b"}, "mutually exclusive"},
		"all beside names":              {[]string{"", "a"}, nil, "cannot be combined with others"},
		"blank beside names":            {[]string{" ", "a"}, nil, "cannot be combined with others"},
		"not a name":                    {[]string{"Team A"}, nil, `"Team A" is not the name of a namespace`},
		"a selector in a name":          {[]string{"a),b in (c"}, nil, "is not the name of a namespace"},
		"a field selector in deny list": {nil, []string{"a,status.phase!=Running"}, "is not the name of a namespace"},
		"too long":                      {[]string{strings.Repeat("a", 64)}, nil, "is not the name of a namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewNamespaces(tc.allow, tc.deny); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("err = %v, want %q", err, tc.want)
			}
		})
	}
}

// A union has exactly the namespaces of both scopes.
func TestUnion(t *testing.T) {
	scopes := []Namespaces{
		scope(t, nil, nil), scope(t, []string{"a"}, nil), scope(t, []string{"a", "b"}, nil), scope(t, []string{"c"}, nil),
		scope(t, nil, []string{"a"}), scope(t, nil, []string{"a", "b"}), scope(t, nil, []string{"b", "c"}),
	}
	for _, a := range scopes {
		for _, b := range scopes {
			u := a.Union(b)
			for _, ns := range []string{"a", "b", "c", "d"} {
				if u.Has(ns) != (a.Has(ns) || b.Has(ns)) {
					t.Errorf("union of (%s) and (%s) is (%s): Has(%s) = %v", a, b, u, ns, u.Has(ns))
				}
			}
			if u.All() != (a.All() || b.All()) || !slices.Equal(u.Watches(), b.Union(a).Watches()) {
				t.Errorf("union of (%s) and (%s) watches %v", a, b, u.Watches())
			}
		}
	}
}
