package web

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// FuzzParse: any query is parsed or rejected with 400 and a short message, and parsed values are
// valid.
func FuzzParse(f *testing.F) {
	for _, q := range []string{"", "limit=5&continue=abc", "state=dropped&shard=3&reason=spec.selector&job=a/b/0", "label=a=b&label=c=d", "limit=%", "limit=5;state=kept", "a[]=1", "limit=+5", "limit=05", "shard=-0", "&&=&=", "state=%00"} {
		f.Add(q)
	}
	params := slices.Concat(listParams(), targetParams(), []Param{{Name: "label", Repeat: true, Check: isLabel}})
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parse(params, raw)
		if err != nil {
			if !errors.IsBadRequest(err) || len(err.Error()) > 1000 {
				t.Fatalf("%T %s", err, err)
			}
			return
		}
		got := q.targets()
		switch {
		case got.Limit < 1 || got.Limit > mostRows:
			t.Errorf("limit %d", got.Limit)
		case got.Shard < -1:
			t.Errorf("shard %d", got.Shard)
		case got.State != "" && !slices.Contains(words(targets.States), string(got.State)):
			t.Errorf("state %q", got.State)
		}
		values, err := url.ParseQuery(raw)
		if err != nil {
			t.Fatal("accepted what is no query")
		}
		for name, all := range values {
			if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == name }) {
				t.Errorf("parameter %q", name)
			}
			if all = slices.DeleteFunc(all, func(v string) bool { return v == "" }); !slices.Equal(all, q.strings(name)) {
				t.Errorf("%s is %q, was %q", name, q.strings(name), all)
			}
		}
		for _, label := range q.strings("label") {
			if !strings.Contains(label, "=") {
				t.Errorf("label %q", label)
			}
		}
	})
}
