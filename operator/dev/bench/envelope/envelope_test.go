package envelope

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var example = &Part{
	Name: "example", Title: "More of it", About: "What is done.",
	Keys: []Key{{"monitors", 1000}, {"rule objects", 1000}}, Sizes: []Size{{100, 10}, {1000, 100}, {10_000, 1000}},
	Costs: []Cost{{"one monitor, p50", Time}, {"memory", Bytes}, {"writes", Count}, {"calls", Count}},
}

func TestWrite(t *testing.T) {
	nothing := math.NaN()
	columns := []Column{
		{Size{100, 10}, []float64{4.3e6, 50e6, 0, 1}},
		{Size{1000, 100}, []float64{6.9e6, nothing, 0, 1}},
		{Size{10_000, 1000}, []float64{33e6, 2.4e9, 0, 9}},
	}
	const want = `<!-- part example -->
### More of it

What is done.
Measured somewhere.

| monitors / rule objects | 100 / 10 | 1,000 / 100 | 10,000 / 1,000 |
| --- | --- | --- | --- |
| one monitor, p50 | 4.3 ms | 6.9 ms | 33 ms |
| memory | 50 MB | – | 2.4 GB |
| writes | 0 | 0 | 0 |
| calls | 1 | 1 | 9 |

- one monitor, p50 ≈ 4 ms + 2.9 ms per 1,000 monitors (R² 0.99, each size within 1 %)
- memory ≈ 26 MB + 237 MB per 1,000 monitors (two sizes, so not checked)
- writes ≈ 0 at every size (exact)
- calls ≈ 0.7 + 0.6 per 1,000 monitors (R² 0.92, each size within 37 %)
`
	if diff := cmp.Diff(want, example.Write("Measured somewhere.", columns)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}

// A cost that its formula does not describe is marked with the factor, and the sentence says so.
func TestMarks(t *testing.T) {
	var columns []Column
	for i, n := range []int{100, 1000, 10_000, 50_000} {
		columns = append(columns, Column{Size{n, 1}, []float64{[]float64{5e6, 80e6, 4e6, 60e6}[i], 1e6, 0, []float64{0, 0, 0, 7}[i]}})
	}
	text := example.Write("", columns)
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "| one monitor"):
			if strings.Count(line, "(×") < 2 {
				t.Errorf("not marked: %s", line)
			}
		case strings.HasPrefix(line, "- one monitor"), strings.HasPrefix(line, "- calls"):
			if !strings.Contains(line, "**does not describe each size**") {
				t.Errorf("not said: %s", line)
			}
		case strings.HasPrefix(line, "| memory"), strings.HasPrefix(line, "- memory"), strings.HasPrefix(line, "| writes"), strings.HasPrefix(line, "- writes"):
			if strings.Contains(line, "×") || strings.Contains(line, "**") {
				t.Errorf("marked, but constant: %s", line)
			}
		}
	}
}

// Costs with other formulas than a line.
func TestSentences(t *testing.T) {
	one := &Part{Keys: []Key{{"Prometheus objects", 1}}, Costs: example.Costs}
	for want, tc := range map[string]struct {
		part  *Part
		costs []float64
	}{
		"one monitor, p50 ≈ 10 ms per Prometheus object (R² 1.00, exact)":     {one, []float64{100e6, 1000e6, 10_000e6}},
		"one monitor, p50 ≈ 200 ms × (Prometheus objects)^2 (R² 1.00, exact)": {one, []float64{20e9, 2000e9, 200_000e9}},
		"one monitor, p50 ≈ 2 ms × (monitors / 1,000)^0.5 (R² 1.00, exact)":   {example, []float64{2e6 * math.Sqrt(0.01), 2e6 * math.Sqrt(0.1), 2e6}},
		"one monitor, p50 ≈ 6.7 ms at every size (each size within 12 %)":     {example, []float64{6e6, 7e6, 7.5e6}},
		"one monitor, p50 ≈ 4 µs + 20 µs per 1,000 monitors (R² 1.00, exact)": {example, []float64{6e3, 24e3, 204e3}},
	} {
		sizes := []int{10, 100, 1000}
		if tc.part == example {
			sizes = []int{100, 1000, 10_000}
		}
		if strings.Contains(want, "^0.5") {
			sizes = []int{10, 100, 1000}
		}
		var columns []Column
		for i, n := range sizes {
			columns = append(columns, Column{Size{n}, []float64{tc.costs[i]}})
		}
		f, ok := tc.part.fit(columns, 0)
		if got := tc.part.sentence(tc.part.Costs[0], f); !ok || got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"0 ms": Time.write(0), "3.3 ms": Time.write(3_349_000), "33 ms": Time.write(33_100_000), "333 ms": Time.write(333_300_000), "1 s": Time.write(1e9), "61 s": Time.write(61e9),
		"410 µs": Time.write(410_000), "0 MB": Bytes.write(0), "650 KB": Bytes.write(650_000), "100 MB": Bytes.write(1e8), "1.2 GB": Bytes.write(1_234_000_000),
		"1": Count.write(1), "1.4": Count.write(1.4), "6,000": Count.write(6000), "–": Count.write(math.NaN()), "-1,234,567": thousands(-1_234_567), "-100": thousands(-100),
		"0.053": Count.write(0.0526), "10": Count.write(9.97),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// filled returns a part with any figures, at the sizes of a complete run.
func filled(p *Part, value float64) string {
	var columns []Column
	for _, s := range p.Sizes {
		c := Column{Size: s}
		for i := range p.Costs {
			c.Values = append(c.Values, value*float64(i+s[p.By]))
		}
		columns = append(columns, c)
	}
	return p.Write("Measured on some day.", columns)
}

func TestReplace(t *testing.T) {
	page := "# Page\n\n" + begin + "\n" + end + "\n\nThe end.\n"
	replace := func(p *Part, value float64) {
		t.Helper()
		next, err := Replace(page, p, filled(p, value))
		if err != nil {
			t.Fatal(err)
		}
		page = next
	}
	replace(Parts[2], 1e6)
	replace(Parts[0], 1e6)
	replace(Parts[1], 1e6)
	want := page
	replace(Parts[1], 5e7)
	if page == want {
		t.Error("the figures were not replaced")
	}
	replace(Parts[1], 1e6)
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("the same parts make another page:\n%s", diff)
	}
	if !strings.HasPrefix(page, "# Page\n\n"+begin+"\n"+Parts[0].marker()+"\n") || !strings.HasSuffix(page, "\n\n"+end+"\n\nThe end.\n") && !strings.HasSuffix(page, "\n"+end+"\n\nThe end.\n") {
		t.Errorf("the page around the parts is another one:\n%s", page)
	}
}

func TestCheck(t *testing.T) {
	all := ""
	for _, p := range Parts {
		all += "\n" + filled(p, 1e6)
	}
	page := func(section string) string { return begin + section + end }
	for name, tc := range map[string]struct{ page, want string }{
		"as written":      {page(all), ""},
		"no section":      {"# Page", "no lines"},
		"two sections":    {page(all) + page(all), "more than one"},
		"empty":           {page("\n"), ""},
		"text before":     {page("\nHello\n" + all), `"Hello" is before the first part`},
		"unknown part":    {page(all + "\n<!-- part other -->\n"), "part other is none of the command's"},
		"other title":     {page(strings.Replace(all, Parts[0].Title, "Something", 1)), "part monitors: has"},
		"other cost":      {page(strings.Replace(all, "| live heap |", "| dead heap |", 1)), "part monitors: has"},
		"missing cost":    {page(strings.Replace(all, "- live heap ≈", "- dead heap ≈", 1)), "part monitors: has"},
		"other sizes":     {page(strings.Replace(all, "| 50,000 / 1,800 / 1 |", "| 60,000 / 1,800 / 1 |", 1)), "part monitors: has"},
		"missing value":   {page(strings.Replace(all, " s | ", " ", 1)), "values"},
		"not said when":   {page(strings.Replace(all, "Measured on some day.\n", "", 1)), "does not say"},
		"another order":   {page("\n" + filled(Parts[1], 1e6) + "\n" + filled(Parts[0], 1e6)), "too early"},
		"some parts only": {page("\n" + filled(Parts[1], 1e6)), "part monitors is missing"},
	} {
		err := Check(tc.page)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestPage compares the layout of the section with that of the current command. It ignores the figures.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(string(page)); err != nil {
		t.Errorf("%v\nmake envelope ARGS=\"--only PART\" writes it again", err)
	}
}

// Each part can be written at all of its sizes.
func TestParts(t *testing.T) {
	for _, p := range Parts {
		for _, s := range append(append([]Size{}, p.Sizes...), p.Quick...) {
			if len(s) != len(p.Keys) {
				t.Errorf("part %s: size %s has %d numbers of %d", p.Name, s, len(s), len(p.Keys))
			}
		}
		if Named(p.Name) != p {
			t.Errorf("part %s has a name that is not its own", p.Name)
		}
	}
	if Named("none") != nil || len(Names()) != len(Parts) {
		t.Error("there are other parts")
	}
}
