package gate

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
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
