package objects

import "testing"

func TestParse(t *testing.T) {
	all, err := Parse([]byte("---\n# nothing\n---\nkind: A\nmetadata: {name: a}\n---\nkind: List\nitems: [{kind: B, metadata: {name: b}}, {kind: B, metadata: {name: c}}]\n"))
	var got string
	for _, o := range all {
		got += o.GetKind() + "/" + o.GetName() + " "
	}
	if err != nil || got != "A/a B/b B/c " {
		t.Errorf("%s, error %v", got, err)
	}
	for _, wrong := range []string{"kind: [", "kind: List\nitems: [1]\n"} {
		if all, err := Parse([]byte(wrong)); err == nil {
			t.Errorf("%q: %v", wrong, all)
		}
	}
}
