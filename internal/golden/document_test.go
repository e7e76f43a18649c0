package golden

import "testing"

func TestPartOf(t *testing.T) {
	const doc = "a:\n  b: [x, {c: 1, d: 2}]\ne:\n"
	for path, want := range map[string]string{
		"a.b":     "- x\n- c: 1\n  d: 2\n",
		"a.b.1":   "c: 1\nd: 2\n",
		"a.b.1.d": "2\n",
		"a.b.2":   "absent\n",
		"a.b.c":   "absent\n",
		"a.b.0.c": "absent\n",
		"e":       "absent\n",
		"f":       "absent\n",
	} {
		if got, err := PartOf([]byte(doc), path); string(got) != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
		}
	}
	if got, err := PartOf([]byte("a: ["), "a"); err == nil {
		t.Errorf("got %q of what is no YAML", got)
	}
}

func TestCutVersion(t *testing.T) {
	for name, want := range map[string][2]string{
		"2.48.1.dropped":       {"2.48.1", "dropped"},
		"3.0.0-rc.0.yaml":      {"3.0.0-rc.0", "yaml"},
		"2.48.1/global.a.b":    {"2.48.1", "global.a.b"},
		"0.27.0/route.match/a": {"0.27.0", "route.match/a"},
	} {
		if version, part := CutVersion(name); version != want[0] || part != want[1] {
			t.Errorf("%s: got %q and %q", name, version, part)
		}
	}
}

func TestLines(t *testing.T) {
	if got := Lines([]string{"a", "b c"}); string(got) != "a\nb c\n" {
		t.Errorf("got %q", got)
	}
	if got := Lines[error](nil); len(got) > 0 {
		t.Errorf("got %q of none", got)
	}
}
