package golden

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"
)

func TestCompare(t *testing.T) {
	archive := txtar.Parse([]byte("# point\n-- in --\nabc\n-- want/upper --\nABC\n-- want/bare --\nold\n"))
	upper := func(t *testing.T, c Case, name string) ([]byte, error) {
		in, ok := c.Input("in")
		if !ok || c.Comment != "# point\n" || len(c.Inputs()) != 1 {
			return nil, errors.New("input is not handed on")
		}
		if name == "bare" {
			return []byte("old"), nil
		}
		return []byte(string(in[0]-32) + string(in[1]-32) + string(in[2]-32) + "\n"), nil
	}
	if compare(t, archive, upper) {
		t.Error("equal output counts as changed")
	}
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(path, []byte("# point\n-- in --\nabc\n-- want/a --\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil || c.Comment != "# point\n" || !slices.Equal(c.Inputs(), []string{"in"}) || !slices.Equal(c.Wants(), []string{"a"}) {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := Open(path + "x"); err == nil {
		t.Error("a file that is not there can be opened")
	}
}

func TestCompareKeepsWhatItGot(t *testing.T) {
	*update = true
	defer func() { *update = false }()
	archive := txtar.Parse([]byte("-- want/x --\nold\n"))
	changed := compare(t, archive, func(*testing.T, Case, string) ([]byte, error) { return []byte("new"), nil })
	if !changed || string(archive.Files[0].Data) != "new\n" {
		t.Errorf("changed %t, kept %q", changed, archive.Files[0].Data)
	}
}

func TestDiff(t *testing.T) {
	if got, want := Diff("a\nb\nc\n", "a\nx\nc\nd\n"), "  a\n- b\n+ x\n  c\n+ d\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
