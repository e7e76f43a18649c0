package workload

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestAppendUser(t *testing.T) {
	ours := []Arg{{"a", "1"}, {"no-b", ""}, {"enable-feature", "x"}}
	for name, tc := range map[string]struct {
		user []v1.Argument
		want string
	}{
		"others are appended":              {[]v1.Argument{{Name: "c", Value: ""}, {Name: "c", Value: "2"}}, ""},
		"the same name is refused":         {[]v1.Argument{{Name: "a", Value: "2"}}, "a"},
		"its negation is refused":          {[]v1.Argument{{Name: "no-a", Value: ""}}, "a"},
		"the positive of ours is refused":  {[]v1.Argument{{Name: "b", Value: ""}}, "no-b"},
		"a name that only begins the same": {[]v1.Argument{{Name: "ab", Value: ""}}, ""},
		"all are named in our order":       {[]v1.Argument{{Name: "enable-feature", Value: "y"}, {Name: "b", Value: ""}}, "no-b,enable-feature"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := AppendUser("spec.additionalArgs", ours, tc.user)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want == "" && len(got) != len(ours)+len(tc.user):
				t.Errorf("got %v", got)
			case tc.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": "+tc.want)):
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRepeatedArguments(t *testing.T) {
	rows := []Row[[]string]{{Name: "a", In: Versions{Since: "1.2.0"}, Field: "spec.a", Each: func(in []string) []string { return in }}}
	for version, want := range map[string]string{"1.1.9": "[] [spec.a needs >= 1.2.0]", "1.2.0": "[--a=x --a=y] []"} {
		v, err := ParseVersion("spec.version", version)
		if err != nil {
			t.Fatal(err)
		}
		in := []string{"x", "", "y"}
		args, dropped := Fill(rows, v, in)
		if got := fmt.Sprint(Render(args), dropped); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
		if in[1] != "" {
			t.Error("the input was changed")
		}
		if args, dropped := Fill(rows, v, nil); len(args)+len(dropped) > 0 {
			t.Errorf("%s: without a value %v, %v", version, args, dropped)
		}
	}
}
