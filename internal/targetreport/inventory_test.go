package targetreport

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inventory is an inventory in memory.
type inventory struct {
	Inventory
	targets map[string]map[string]InventoryTarget
}

func (i *inventory) encode(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewInventoryWriter(&out, i.Inventory)
	if err != nil {
		t.Fatal(err)
	}
	for job, targets := range i.targets {
		if err := w.Job(job, maps.All(targets)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func decodeInventory(text []byte) (*inventory, error) {
	i := &inventory{targets: map[string]map[string]InventoryTarget{}}
	return i, ReadInventory(bytes.NewReader(text), func(head Inventory) error { i.Inventory = head; return nil },
		func(job, address string, target InventoryTarget) error {
			if i.targets[job] == nil {
				i.targets[job] = map[string]InventoryTarget{}
			}
			i.targets[job][address] = target
			return nil
		})
}

func packed(text string) []byte {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	_, _ = gz.Write([]byte(text))
	_ = gz.Close()
	return out.Bytes()
}

// One side reads the messages of the other, for any names.
func TestInventory(t *testing.T) {
	large := map[string]InventoryTarget{}
	for i := range 3000 {
		large[fmt.Sprintf("10.0.%d.%d:8080", i/256, i%256)] = InventoryTarget{Series: new(uint64(i)), Scraped: i%2 == 0}
	}
	for _, want := range []*inventory{
		{targets: map[string]map[string]InventoryTarget{}},
		{Inventory{Version: "7-3", Boot: 1764230400000, Seq: 12, Blind: true}, map[string]map[string]InventoryTarget{
			"serviceMonitor/demo/web/0": large,
			"a \"job\"\n":               {"\x00<é>": {Scraped: true}, "b": {Series: new(uint64(0))}, "": {}},
		}},
	} {
		got, err := decodeInventory(want.encode(t))
		if err != nil || cmp.Diff(want.Inventory, got.Inventory)+cmp.Diff(want.targets, got.targets) != "" {
			t.Errorf("%v\n%s%s", err, cmp.Diff(want.Inventory, got.Inventory), cmp.Diff(want.targets, got.targets))
		}
	}
	// A number or address that is too large is not the other side's problem.
	got, err := decodeInventory((&inventory{targets: map[string]map[string]InventoryTarget{"a": {
		"b": {Series: new(uint64(1 << 60))}, strings.Repeat("x", MaxName+1): {}}}}).encode(t))
	if err != nil || cmp.Diff(map[string]map[string]InventoryTarget{"a": {"b": {Series: new(uint64(maxCount))}}}, got.targets) != "" {
		t.Errorf("%v, %v", got.targets, err)
	}
	// The encoded form is the documented one.
	example := &inventory{Inventory{Version: "7-3", Boot: 1764230400000, Seq: 12}, map[string]map[string]InventoryTarget{
		"serviceMonitor/demo/web/0": {"10.0.0.7:8080": {Series: new(uint64(412)), Scraped: true}}}}
	gz, err := gzip.NewReader(bytes.NewReader(example.encode(t)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(gz)
	const want = `{"version":"7-3","boot":1764230400000,"seq":12}
{"job":"serviceMonitor/demo/web/0","targets":{"10.0.0.7:8080":{"series":412,"scraped":true}}}
`
	if string(text) != want || err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// The writer stops where the reader would.
func TestInventoryWriterLimits(t *testing.T) {
	numbers := func(n int) iter.Seq2[string, InventoryTarget] {
		return func(yield func(string, InventoryTarget) bool) {
			for i := range n {
				if !yield(fmt.Sprint(i), InventoryTarget{}) {
					return
				}
			}
		}
	}
	for name, write := range map[string]func(*InventoryWriter) error{
		"targets": func(w *InventoryWriter) error { return w.Job("a", numbers(MaxInventoryTargets+1)) },
		"jobs": func(w *InventoryWriter) error {
			for range MaxInventoryJobs {
				if err := w.Job("a", numbers(0)); err != nil {
					t.Fatal(err)
				}
			}
			return w.Job("a", numbers(0))
		},
		"name": func(w *InventoryWriter) error { return w.Job(strings.Repeat("a", MaxName+1), numbers(0)) },
	} {
		w, err := NewInventoryWriter(io.Discard, Inventory{})
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w); !errors.Is(err, errInventory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w, err := NewInventoryWriter(io.Discard, Inventory{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Job("a", numbers(MaxInventoryTargets)); err != nil {
		t.Errorf("as many targets as possible: %v", err)
	}
}

// What exceeds the limits or is not of the protocol is refused.
func TestReadInventoryRefuses(t *testing.T) {
	job := func(targets string) string { return `{"version":"1-1"}{"job":"a","targets":{` + targets + `}}` }
	for text, want := range map[string]string{
		``:                                "not valid: EOF",
		`[]`:                              "not valid",
		`{"version":"a\u0007"}`:           "not printable",
		`{"version":"1-1","boot":-1}`:     "not valid",
		`{}{"targets":{"a":{}}}`:          "without a job",
		`{}{"job":"a","job":"b"}`:         "two jobs",
		`{}{"job":1}`:                     "not valid",
		`{}{"job":"a","targets":{"b":{}}`: "unexpected EOF",
		job(`"b":{"series":-1}`):          "not valid",
		job(`"b":{"series":100000001}`):   "number 100000001",
		job(`"b":[]`):                     "not valid",
		job(`"` + strings.Repeat("b", MaxName+1) + `":{}`):                                   "too long",
		job(`"b":{"x":"` + strings.Repeat("b", 10_000) + `"}`):                               "too large",
		`{"x":"` + strings.Repeat("b", 10_000) + `"}`:                                        "too large",
		`{}` + strings.Repeat(`{"job":"a"}`, MaxInventoryJobs+1):                             "more than 20000 jobs",
		job(strings.Repeat(`"b":{},`, MaxInventoryTargets) + `"b":{}`):                       "more than 1000000 targets",
		`{}` + strings.Repeat(strings.Repeat(" ", 1<<20), MaxInventoryPlain>>20) + `{"a":1}`: "too large",
	} {
		if _, err := decodeInventory(packed(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
	if _, err := decodeInventory([]byte(`{"version":"1-1"}`)); err == nil {
		t.Error("text that is not compressed was taken")
	}
	// What other releases add is ignored.
	got, err := decodeInventory(packed(`{"version":"1-1","new":{}}{"new":[1]}{"new":1,"job":"a","targets":{"b":{"new":1,"scraped":true}}}`))
	if err != nil || !got.targets["a"]["b"].Scraped {
		t.Errorf("%v, %v", got, err)
	}
	// The callbacks end it.
	for _, stop := range []error{errors.New("stopped"), io.EOF} {
		text := packed(job(`"b":{},"c":{}`))
		err := ReadInventory(bytes.NewReader(text), func(Inventory) error { return stop }, nil)
		if !errors.Is(err, stop) {
			t.Error(err)
		}
		n := 0
		err = ReadInventory(bytes.NewReader(text), func(Inventory) error { return nil },
			func(string, string, InventoryTarget) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			t.Error(n, err)
		}
	}
}

// No inventory makes ReadInventory panic or return a message that the writer would not write.
func FuzzReadInventory(f *testing.F) {
	f.Add([]byte(`{"version":"1-1","boot":1,"seq":2,"blind":true}{"job":"a","targets":{"b":{"series":1,"scraped":true}}}`))
	f.Add([]byte(`{}{"job":"","targets":{"":{},"":{}}}{"targets":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := decodeInventory(packed(string(text)))
		if err != nil {
			return
		}
		again, err := decodeInventory(got.encode(t))
		if err != nil {
			t.Fatal(err)
		}
		for job, targets := range got.targets {
			if cmp.Diff(targets, again.targets[job]) != "" {
				t.Error(cmp.Diff(targets, again.targets[job]))
			}
		}
	})
}
