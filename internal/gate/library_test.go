package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

// tree is a recursive type with every kind of value that a document may contain.
type tree struct {
	S    string              `yaml:"s"`
	P    *string             `yaml:"p,omitempty"`
	L    []string            `yaml:"l,omitempty"`
	M    map[string]string   `yaml:"m,omitempty"`
	MM   map[string][]string `yaml:"mm,omitempty"`
	N    int64               `yaml:"num,omitempty"`
	F    *float64            `yaml:"f,omitempty"`
	B    *bool               `yaml:"b,omitempty"`
	Sub  *tree               `yaml:"sub,omitempty"`
	Subs []tree              `yaml:"subs,omitempty"`
	Raw  Node                `yaml:"raw,omitempty"`
}

// asNode converts t to a Node for the YAML library.
func asNode(t *tree) Node {
	out := Node{{Key: "s", Value: t.S}}
	add := func(key string, present bool, v any) {
		if present {
			out = append(out, yaml.MapItem{Key: key, Value: v})
		}
	}
	add("p", t.P != nil, t.P)
	add("l", len(t.L) > 0, t.L)
	add("m", len(t.M) > 0, sorted(t.M))
	add("mm", len(t.MM) > 0, sorted(t.MM))
	add("num", t.N != 0, t.N)
	add("f", t.F != nil, t.F)
	add("b", t.B != nil, t.B)
	if t.Sub != nil {
		add("sub", true, asNode(t.Sub))
	}
	if len(t.Subs) > 0 {
		var subs []Node
		for i := range t.Subs {
			subs = append(subs, asNode(&t.Subs[i]))
		}
		add("subs", true, subs)
	}
	add("raw", len(t.Raw) > 0, t.Raw)
	return out
}

func sorted[V any](m map[string]V) (out Node) {
	for _, k := range slices.SortedFunc(maps.Keys(m), cmp.Compare[string]) {
		out = append(out, yaml.MapItem{Key: k, Value: m[k]})
	}
	return out
}

// grow returns a random tree whose strings are taken from words.
func grow(r *rand.Rand, words []string, depth int) *tree {
	word := func() string { return words[r.IntN(len(words))] }
	list := func() (out []string) {
		for range r.IntN(4) {
			out = append(out, word())
		}
		return out
	}
	t := &tree{S: word(), L: list(), N: r.Int64N(3)}
	if r.IntN(2) == 0 {
		t.P, t.F, t.B = new(word()), new(r.NormFloat64()), new(r.IntN(2) == 0)
	}
	for range r.IntN(3) {
		if t.M == nil {
			t.M, t.MM = map[string]string{}, map[string][]string{}
		}
		t.M[word()] = word()
		t.MM[word()] = list()
	}
	if r.IntN(3) == 0 {
		t.Raw = Node{{Key: word(), Value: []any{word(), Node{{Key: "k", Value: word()}}, list()}}}
	}
	if depth > 0 {
		for range r.IntN(3) {
			t.Subs = append(t.Subs, *grow(r, words, depth-1))
		}
		if r.IntN(2) == 0 {
			t.Sub = grow(r, words, depth-1)
		}
	}
	return t
}

// Any two keys of Texts are in the order of the library. More than two may have no order there.
func TestOrderOfTexts(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 4))
		texts := map[string]string{}
		for range 2 {
			key := ""
			for range 1 + r.IntN(4) {
				key += []string{"a", "b", "_", "0", "1", "2", "10", "A", "-", "\u00e9", "\u0662", "on", "job"}[r.IntN(13)]
			}
			texts[key] = "v"
		}
		want, err := yaml.Marshal(struct{ T map[string]string }{texts})
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Marshal(struct {
			T Texts `yaml:"t"`
		}{texts}, Target{})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: got\n%s\nwant\n%s\n%v", seed, got, want, err)
		}
	}
}

// The same keys are always in the same order.
func TestOrderOfTextsWithCycles(t *testing.T) {
	first := ""
	for range 50 {
		got, _, err := Marshal(struct {
			T Texts `yaml:"t"`
		}{Texts{"1A": "", "02": "", "11A": "", "3": "", "0A": ""}}, Target{})
		if err != nil || first != "" && string(got) != first {
			t.Fatalf("got\n%s\nand\n%s\n%v", first, got, err)
		}
		first = string(got)
	}
}

// For any strings, the output is byte for byte that of the library, and both generations
// of the library read it back as the same data.
func FuzzLikeTheLibrary(f *testing.F) {
	for _, s := range []string{
		"", "a", "30s", "1h30m", "017", "0x1f", "1e3", ".5", ".+", "..", "...", "---", "- a", "-a", "--a", "-", "yes", "y", "null", "~", "~a",
		"on", "true", "12:30:45", "2001-12-14", "2001-12-14 21:59:43", "a: b", "a:", "a #b", "#a", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a",
		"$(SHARD);|.+;.+", "${1}", "(.+);(.+)", "a\nb", "a\n", "\na", " a", "a ", "a\tb", "\u00e9", "\u2028", "\xff\xfe", "\u0085", "'a'", `"a"`, "a'b",
		"<<", "=", "?a", "? a", ":a", "|", ">", "a,b", "9223372036854775808", "1_000", "+1", "+.inf", ".nan", "0b11", "-0b11", "1.", "1.e3", "08",
		strings.Repeat("word ", 40), strings.Repeat("x", 130), strings.Repeat("long-", 20) + " " + strings.Repeat("y", 60), "#" + strings.Repeat(" a", 90),
		strings.Repeat("line with words\n", 5), "\ufeff", "null\x00",
		"{{ $labels.job }} is down: " + strings.Repeat("since long ", 20), "'it''s' " + strings.Repeat("that's  it ", 30), "a:  " + strings.Repeat("b ", 80) + " c",
		"sum by (job) (\n  rate(x{a=\"#b\"}[5m]) # why: so\n\n)\n", "a\n b\nc", "a \nb", "a\n\n", "a:\nb #c\n'd'", "a#b", "a: ", "12: a b", "- a: b",
	} {
		f.Add(s, "k", uint64(1))
		f.Add(s, "word"+s, uint64(2))
	}
	f.Fuzz(func(t *testing.T, a, b string, seed uint64) {
		if len(a)+len(b) > 4096 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 1))
		in := grow(r, []string{a, b, "plain", "x y", a + b, "1", "30s"}, 3)
		node := asNode(in)
		want, err := marshal(node)
		if err != nil {
			return // YAML cannot express it
		}
		got, dropped, err := Marshal(in, target("3.0.0", Server))
		if err != nil || len(dropped) > 0 {
			t.Fatal(err, dropped)
		}
		merge := a == "<<" || b == "<<" || a+b == "<<" // the library cannot write it as a key
		if !merge && !bytes.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		if merge {
			in.Raw, in.Sub, in.Subs = nil, nil, nil
			if got, _, err = Marshal(in, target("3.0.0", Server)); err != nil {
				t.Fatal(err)
			}
		}
		var back Node
		if err := yaml.UnmarshalStrict(got, &back); err != nil {
			t.Fatalf("does not read back: %v\n%s", err, got)
		}
		var v2, v3 map[string]any
		if yaml.Unmarshal(got, &v2) == nil && yamlv3.Unmarshal(got, &v3) == nil && !strings.ContainsAny(a+b, "\u0085\u2028\u2029\ufeff\r") {
			if s2, s3 := fmt.Sprint(v2["s"]), fmt.Sprint(v3["s"]); s2 != in.S || s3 != in.S {
				t.Errorf("s = %q, reads back as %q and %q", in.S, s2, s3)
			}
		}
	})
}
