package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

const base = "prometheus-main-rulefiles"

// text returns content of n bytes, repeating fill.
func text(n int, fill string) string { return strings.Repeat(fill, n) }

// plain is a content that is its own digest.
type plain string

func (p plain) Len() int                { return len(p) }
func (p plain) Digest() string          { return string(p) }
func (p plain) Is(digest string) bool   { return string(p) == digest }
func (p plain) Append(to []byte) []byte { return append(to, p...) }

// wanted returns the files as wanted files.
func wanted(files map[string]string) map[string]Content {
	out := make(map[string]Content, len(files))
	for name, text := range files {
		out[name] = plain(text)
	}
	return out
}

// buckets returns live ConfigMaps: bucket 0 holds the first map, and so on.
func buckets(files ...map[string]string) []Bucket {
	var out []Bucket
	for i, f := range files {
		out = append(out, Bucket{Name: wellknown.RuleConfigMapName(base, i), Files: f})
	}
	return out
}

// writes formats the steps as "upsert 0: a b", with the index for the name.
func writes(p Plan) []string {
	out := []string{}
	for _, s := range p.Steps {
		line := s.Verb.String() + " " + strings.TrimPrefix(s.Name, base+"-")
		if s.Verb == Upsert {
			line = strings.TrimSuffix(line+": "+strings.Join(slices.Sorted(maps.Keys(s.Files)), " "), " ")
		}
		out = append(out, line)
	}
	return out
}

func TestPack(t *testing.T) {
	const half = MaxFileBytes / 2
	type files = map[string]string
	for name, tc := range map[string]struct {
		live  []Bucket
		files files
		want  []string
		names []int
	}{
		"no rule makes one empty ConfigMap": {
			want: []string{"upsert 0:"}, names: []int{0},
		},
		"no rule and one empty ConfigMap is settled": {
			live: buckets(files{}), want: []string{}, names: []int{0},
		},
		"from nothing the fill is sequential and never goes back": {
			files: files{"a": text(half+1, "a"), "b": text(half, "b"), "c": text(half, "c"), "d": "d"},
			want:  []string{"upsert 0: a", "upsert 1: b c", "upsert 2: d"}, names: []int{0, 1, 2},
		},
		"from an empty ConfigMap too": {
			live:  buckets(files{}),
			files: files{"a": text(half+1, "a"), "b": text(half, "b"), "c": text(half, "c"), "d": "d"},
			want:  []string{"upsert 0: a", "upsert 1: b c", "upsert 2: d"}, names: []int{0, 1, 2},
		},
		"a full file and one byte make two": {
			files: files{"a": text(MaxFileBytes, "a"), "b": "b"},
			want:  []string{"upsert 0: a", "upsert 1: b"}, names: []int{0, 1},
		},
		"equal content is settled wherever the files are": {
			live:  buckets(files{"z": "z"}, files{"a": "a"}, files{}),
			files: files{"a": "a", "z": "z"}, want: []string{}, names: []int{0, 1, 2},
		},
		"a changed file stays": {
			live:  buckets(files{"a": "a"}, files{"b": "b", "c": "c"}),
			files: files{"a": "a", "b": "B", "c": "c"}, want: []string{"upsert 1: b c"}, names: []int{0, 1},
		},
		"a new file goes where a write happens anyway": {
			live:  buckets(files{"a": "a"}, files{"b": "b"}),
			files: files{"a": "a", "b": "B", "c": "c"}, want: []string{"upsert 1: b c"}, names: []int{0, 1},
		},
		"a new file alone goes to the first with room": {
			live:  buckets(files{"a": text(MaxFileBytes, "a")}, files{"b": "b"}, files{"c": "c"}),
			files: files{"a": text(MaxFileBytes, "a"), "b": "b", "c": "c", "n": "n"},
			want:  []string{"upsert 1: b n"}, names: []int{0, 1, 2},
		},
		"a file that outgrows its ConfigMap is written elsewhere first": {
			live:  buckets(files{"a": text(half, "a"), "b": text(half, "b")}, files{"c": "c"}),
			files: files{"a": text(half, "a"), "b": text(half+1, "B"), "c": "c"},
			want:  []string{"upsert 1: b c", "upsert 0: a"}, names: []int{0, 1},
		},
		"two that outgrow do not swap places": {
			live: buckets(files{"a": text(half, "a"), "b": text(half, "b")}, files{"c": text(half, "c"), "d": text(half, "d")}),
			files: files{
				"a": text(half, "a"), "b": text(half+1, "B"), "c": text(half, "c"), "d": text(half+1, "D"),
			},
			want: []string{"upsert 2: b", "upsert 3: d", "upsert 0: a", "upsert 1: c"}, names: []int{0, 1, 2, 3},
		},
		"a removed file frees the last ConfigMap when the rest has air": {
			live:  buckets(files{"a": text(half, "a"), "b": text(half, "b")}, files{"c": "c"}),
			files: files{"a": text(half, "a"), "c": "c"},
			want:  []string{"upsert 0: a c", "delete 1"}, names: []int{0},
		},
		"and not when it would be nearly full": {
			live:  buckets(files{"a": text(half, "a"), "b": text(half, "b")}, files{"c": text(half-1, "c"), "d": "d"}),
			files: files{"a": text(half, "a"), "c": text(half-1, "c"), "d": "d"},
			want:  []string{"upsert 0: a"}, names: []int{0, 1},
		},
		"a changed file frees nothing": {
			live:  buckets(files{"a": text(half, "a")}, files{"b": "b"}),
			files: files{"a": "a", "b": "b"}, want: []string{"upsert 0: a"}, names: []int{0, 1},
		},
		"no rule any more leaves one": {
			live: buckets(files{"a": "a"}, files{"b": "b"}, files{}),
			want: []string{"upsert 0:", "delete 1", "delete 2"}, names: []int{0},
		},
		"other rules altogether are filled anew": {
			live:  buckets(files{"a": "a"}, files{"b": "b"}),
			files: files{"c": "c", "d": "d"}, want: []string{"upsert 0: c d", "delete 1"}, names: []int{0},
		},
		"a second copy left by a cut-off plan goes": {
			live:  buckets(files{"a": "a"}, files{"a": "a", "b": text(MaxFileBytes-1, "b")}),
			files: files{"a": "a", "b": text(MaxFileBytes-1, "b")},
			want:  []string{"upsert 1: b"}, names: []int{0, 1},
		},
		"of two copies the right one stays": {
			live:  buckets(files{"a": "old", "b": text(MaxFileBytes-3, "b")}, files{"a": "new"}),
			files: files{"a": "new", "b": text(MaxFileBytes-3, "b")},
			want:  []string{"upsert 0: b"}, names: []int{0, 1},
		},
		"a gap is filled before a new name is taken": {
			live:  []Bucket{{wellknown.RuleConfigMapName(base, 0), files{"a": text(MaxFileBytes, "a")}}, {wellknown.RuleConfigMapName(base, 2), files{"c": text(MaxFileBytes, "c")}}},
			files: files{"a": text(MaxFileBytes, "a"), "c": text(MaxFileBytes, "c"), "n": "n"},
			want:  []string{"upsert 1: n"}, names: []int{0, 1, 2},
		},
		"a missing first one returns with the next change": {
			live:  []Bucket{{wellknown.RuleConfigMapName(base, 1), files{"a": "a"}}},
			files: files{"a": "A"}, want: []string{"upsert 0:", "upsert 1: a"}, names: []int{0, 1},
		},
		"ConfigMaps of others are neither read nor touched": {
			live: []Bucket{
				{"somebody-else", files{"a": "a"}}, {base + "-x", nil}, {base + "-01", nil}, {base + "--1", nil},
				{base + "-", nil}, {base, nil}, {"prometheus-main2-rulefiles-0", files{"a": "a"}},
			},
			files: files{"a": "a"}, want: []string{"upsert 0: a"}, names: []int{0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Pack(base, tc.live, wanted(tc.files))
			if d := cmp.Diff(tc.want, writes(got)); d != "" {
				t.Errorf("steps (-want +got):\n%s", d)
			}
			var names []string
			for _, i := range tc.names {
				names = append(names, wellknown.RuleConfigMapName(base, i))
			}
			if d := cmp.Diff(names, got.Names); d != "" {
				t.Errorf("names (-want +got):\n%s", d)
			}
			follow(t, base, tc.live, got, tc.files)
		})
	}
}

func TestPackKeepsManyTinyFilesBelowTheServersLimit(t *testing.T) {
	files := map[string]string{}
	for i := range 20_000 {
		files[fmt.Sprintf("%0*d", maxKeyBytes, i)] = "{}\n"
	}
	got := Pack(base, nil, wanted(files))
	if len(got.Names) < 5 {
		t.Errorf("%d ConfigMaps for 5 MB of keys", len(got.Names))
	}
	follow(t, base, nil, got, files)
}

func TestPackRefusesWhatNoConfigMapHolds(t *testing.T) {
	long := strings.Repeat("k", maxKeyBytes+1)
	got := Pack(base, nil, wanted(map[string]string{"ok": "x", "big": text(MaxFileBytes+1, "b"), long: "x"}))
	if d := cmp.Diff([]string{"upsert 0: ok"}, writes(got)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"big", long}, got.Refused); d != "" {
		t.Error(d)
	}
}

func TestPackRepairsAnOverfullConfigMap(t *testing.T) {
	live := buckets(map[string]string{"a": text(400_000, "a"), "b": text(400_000, "b"), "c": "c"})
	files := map[string]string{"a": text(400_000, "a"), "b": text(400_000, "b"), "c": "C"}
	got := Pack(base, live, wanted(files))
	if d := cmp.Diff([]string{"upsert 1: b", "upsert 0: a c"}, writes(got)); d != "" {
		t.Error(d)
	}
	follow(t, base, live, got, files)
}

func TestPackDoesNotFlap(t *testing.T) {
	files := map[string]string{"a": text(300_000, "a"), "b": text(200_000, "b")}
	live := follow(t, base, nil, Pack(base, nil, wanted(files)), files)
	for round := range 4 {
		if round%2 == 0 {
			files["c"] = text(50_000, "c")
		} else {
			delete(files, "c")
		}
		p := Pack(base, live, wanted(files))
		live = follow(t, base, live, p, files)
		if round > 0 && len(p.Names) != 2 {
			t.Errorf("round %d: %d ConfigMaps, the second should stay", round, len(p.Names))
		}
		if round > 0 && len(p.Steps) != 1 {
			t.Errorf("round %d: %d writes, want 1", round, len(p.Steps))
		}
	}
}
