package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"
	yamlv3 "go.yaml.in/yaml/v3"
)

type protocol string

func (p protocol) Since() string {
	if p == "new" {
		return "3.0.0-rc.0"
	}
	return ""
}

type role struct {
	Node bool `yaml:"node"`
	min  string
}

func (r *role) Allowed(t Target) string {
	if t.AtLeast(r.min) {
		return ""
	}
	return ">= " + r.min
}

type client struct {
	URL     string              `yaml:"url,omitempty"`
	Headers map[string][]string `yaml:"headers,omitnil"`
}

type inner struct {
	Window string `yaml:"window,omitempty" since:"2.39.0,agent=2.54.0"`
	Level  *int   `yaml:"level,omitempty" since:"3.10.0"`
}

type sample struct {
	Name      string     `yaml:"name"`
	Protocols []protocol `yaml:"protocols,omitempty" since:"2.49.0"`
	Retries   int        `yaml:"retries,omitempty" until:"2.11.0"`
	Alerting  string     `yaml:"alerting,omitempty" mode:"server"`
	client    `yaml:",inline" since:"2.43.0"`
	Labels    map[string]string `yaml:"labels,omitempty"`
	Inner     *inner            `yaml:"inner,omitempty" empty:"drop"`
	Kept      *inner            `yaml:"kept,omitempty"`
	Moved     string            `yaml:"moved,omitempty" since:"3.11.0"`
	Later     string            `yaml:"moved,omitempty" again:"after the fact"`
	Role      *role             `yaml:"role,omitempty"`
	Always    []string          `yaml:"always"`
	Float     *float64          `yaml:"float,omitempty"`
	Any       []any             `yaml:"any,omitempty"`
	More      Node              `yaml:"more,omitempty"`
}

func target(v string, m Mode) Target { return Target{Version: semver.MustParse(v), Mode: m} }

func TestTags(t *testing.T) {
	full := sample{
		Name: "x", Protocols: []protocol{"old", "new"}, Retries: 3, Alerting: "on",
		client: client{URL: "http://p", Headers: map[string][]string{"b": {"1", "y"}, "a": nil}},
		Labels: map[string]string{"z": "", "a": "017"},
		Inner:  &inner{Window: "5m", Level: new(0)}, Kept: &inner{Window: "5m"}, Moved: "24h", Later: "25h",
		Role: &role{min: "2.35.0"}, Float: new(1e-05),
		Any:  []any{&inner{Window: "1h"}, 8080, "s"},
		More: Node{{Key: "z", Value: 1}, {Key: "a", Value: []any{Node{{Key: "k", Value: true}}}}},
	}
	for name, tc := range map[string]struct {
		target  Target
		want    string
		dropped string
	}{
		"a new server takes everything that is not gone": {target("3.11.0", Server), `
name: x
protocols:
- old
- new
alerting: "on"
url: http://p
headers:
  a: []
  b:
  - "1"
  - "y"
labels:
  a: "017"
  z: ""
inner:
  window: 5m
  level: 0
kept:
  window: 5m
moved: 24h
role:
  node: false
always: []
float: 1e-05
any:
- window: 1h
- 8080
- s
more:
  z: 1
  a:
  - k: true
`, `retries needs < 2.11.0`},
		"an old agent takes little and the report says why": {target("2.10.0", Agent), `
name: x
retries: 3
labels:
  a: "017"
  z: ""
kept: {}
always: []
float: 1e-05
any:
- {}
- 8080
- s
more:
  z: 1
  a:
  - k: true
`, `protocols needs >= 2.49.0
alerting needs server mode
url needs >= 2.43.0
headers needs >= 2.43.0
inner.window needs >= 2.54.0
inner.level needs >= 3.10.0
kept.window needs >= 2.54.0
moved needs >= 3.11.0
role needs >= 2.35.0
any[0].window needs >= 2.54.0`},
		"a list item of its own version goes alone": {target("2.55.1", Agent), `
name: x
protocols:
- old
url: http://p
headers:
  a: []
  b:
  - "1"
  - "y"
labels:
  a: "017"
  z: ""
inner:
  window: 5m
kept:
  window: 5m
role:
  node: false
always: []
float: 1e-05
any:
- window: 1h
- 8080
- s
more:
  z: 1
  a:
  - k: true
`, `protocols[1] needs >= 3.0.0-rc.0
retries needs < 2.11.0
alerting needs server mode
inner.level needs >= 3.10.0
moved needs >= 3.11.0`},
	} {
		t.Run(name, func(t *testing.T) {
			got, dropped, err := Marshal(full, tc.target)
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimPrefix(tc.want, "\n"); string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			var lines []string
			for _, d := range dropped {
				lines = append(lines, d.String())
			}
			if got := strings.Join(lines, "\n"); got != tc.dropped {
				t.Errorf("dropped\n%s\nwant\n%s", got, tc.dropped)
			}
		})
	}
}

func TestPreReleaseSortsBeforeItsRelease(t *testing.T) {
	type doc struct {
		Final string `yaml:"final,omitempty" since:"3.0.0"`
	}
	got, dropped, _ := Marshal(doc{"x"}, target("3.0.0-rc.1", Server))
	if string(got) != "{}\n" || len(dropped) != 1 {
		t.Errorf("got %q, dropped %v", got, dropped)
	}
}

func TestSecondPlaceOfAKey(t *testing.T) {
	got, _, err := Marshal(sample{Later: "25h"}, target("3.11.0", Server))
	if want := "name: \"\"\nmoved: 25h\nalways: []\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestAppendItems(t *testing.T) {
	type job struct {
		Name  string   `yaml:"job_name"`
		Extra *bool    `yaml:"extra,omitempty" since:"2.49.0"`
		Names []string `yaml:"names,omitempty"`
	}
	buf := []byte("scrape_configs:\n")
	buf, dropped, err := AppendItems(buf, []*job{{Name: "a", Names: []string{"x"}}, {Name: "b", Extra: new(true)}}, target("2.48.0", Server), "scrape_configs")
	if err != nil {
		t.Fatal(err)
	}
	want := "scrape_configs:\n- job_name: a\n  names:\n  - x\n- job_name: b\n"
	if string(buf) != want || len(dropped) != 1 || dropped[0].String() != "scrape_configs[1].extra needs >= 2.49.0" {
		t.Errorf("got %q, dropped %v", buf, dropped)
	}
}

func TestCheckFindsWrongTags(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"occurs twice": reflect.TypeFor[struct {
			A string `yaml:"a"`
			B string `yaml:"a"`
		}](),
		"since": reflect.TypeFor[struct {
			A string `yaml:"a" since:"2.4"`
		}](),
		"until": reflect.TypeFor[[]struct {
			A string `yaml:"a" until:"v2.4.0"`
		}](),
		`no program is called "ruler"`: reflect.TypeFor[struct {
			A string `yaml:"a" since:"2.4.0,ruler=0.31.0"`
		}](),
		"two versions for the same program": reflect.TypeFor[struct {
			A string `yaml:"a" since:"thanos=0.31.0,thanos=0.32.0"`
		}](),
		"always stays": reflect.TypeFor[struct {
			A string `yaml:"a" until:"thanos=never"`
		}](),
		"mode": reflect.TypeFor[struct {
			A string `yaml:"a" mode:"ruler"`
		}](),
		"unknown yaml option": reflect.TypeFor[struct {
			A string `yaml:"a,flow"`
		}](),
		"no yaml tag": reflect.TypeFor[struct{ A string }](),
		"not a plain word": reflect.TypeFor[struct {
			A string `yaml:"on"`
		}](),
		`not "drop"`: reflect.TypeFor[struct {
			A string `yaml:"a" empty:"keep"`
		}](),
		"can be inlined": reflect.TypeFor[struct {
			A string `yaml:",inline"`
		}](),
	} {
		if _, err := Check(typ); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	structs, err := Check(reflect.TypeFor[sample]())
	if err != nil || len(structs) < 3 {
		t.Errorf("visited %v, %v", structs, err)
	}
}

func TestKeysShowTheStrictestGate(t *testing.T) {
	keys, err := Keys(reflect.TypeFor[sample](), Prometheus)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == "url" })
	if keys[i].Since != "2.43.0" {
		t.Errorf("url since %q", keys[i].Since)
	}
}

func TestErrorsNameThePath(t *testing.T) {
	type doc struct {
		List []any `yaml:"list"`
	}
	_, _, err := Marshal(doc{List: []any{Node{{Key: "f", Value: func() {}}}}}, target("3.0.0", Server))
	if err == nil || !strings.Contains(err.Error(), "list[0]") {
		t.Errorf("got %v", err)
	}
	if _, _, err := Marshal(3, target("3.0.0", Server)); err == nil {
		t.Error("a number is no document")
	}
}

func TestMarshalIsSafeForConcurrentUse(t *testing.T) {
	done := make(chan []byte, 8)
	v := sample{Name: "x", Kept: &inner{Window: "5m"}}
	for range cap(done) {
		go func() {
			got, _, _ := Marshal(v, Target{Version: semver.MustParse("2.77.7"), Mode: Server})
			done <- got
		}()
	}
	first := <-done
	for range cap(done) - 1 {
		if got := <-done; !bytes.Equal(got, first) {
			t.Errorf("got %s, want %s", got, first)
		}
	}
}

func TestPlanCacheIsBounded(t *testing.T) {
	for i := range 3 * maxTargets {
		if _, _, err := Marshal(inner{}, target(fmt.Sprintf("2.1.%d", i), Server)); err != nil {
			t.Fatal(err)
		}
	}
	cache.RLock()
	defer cache.RUnlock()
	if len(cache.byTarget) > maxTargets {
		t.Errorf("%d targets are kept", len(cache.byTarget))
	}
}

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

// Two keys of Texts are in the order of the library, whatever they are. More may have none there.
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

func TestParseList(t *testing.T) {
	nodes, err := ParseList([]byte("- z: 1\n  a: yes\n- {}\n"))
	if err != nil || len(nodes) != 2 || nodes[0][0].Key != "z" || nodes[0][1].Value != true {
		t.Errorf("got %v, %v", nodes, err)
	}
	if _, err := ParseList([]byte("a: b\n")); err == nil {
		t.Error("a map is no list")
	}
	if nodes, err := ParseList(nil); err != nil || len(nodes) != 0 {
		t.Errorf("empty text: %v, %v", nodes, err)
	}
}
