package expand

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

var environment = []string{"A=1", "E=", "X=a$1$(A)", "_=underscore", "1A=digit", "LONG_name_9=v", "A=second"}

func expand(t testing.TB, syntax Syntax, in string) (string, Unset) {
	t.Helper()
	var out strings.Builder
	unset, err := New(syntax, environment).Expand(&out, strings.NewReader(in))
	if err != nil {
		t.Fatalf("expand %q: %v", in, err)
	}
	return out.String(), unset
}

func TestKubernetes(t *testing.T) {
	for in, want := range map[string]string{
		"x$(A)y":                      "x1y",
		"$(A)$(A)":                    "11",
		"[$(E)]":                      "[]",
		"$$(A)":                       "$1",
		"$($(A))":                     "$(1)",
		"$(X)":                        "a$1$(A)",
		"$(_)":                        "underscore",
		"$(1A)":                       "digit",
		"$(LONG_name_9)$":             "v$",
		"":                            "",
		"$(SHARD);|.+;.+ is not $(A)": "$(SHARD);|.+;.+ is not 1",
	} {
		if got, _ := expand(t, Kubernetes, in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	for _, same := range []string{
		"$A", "${A}", "$1", "${1}", "${1}:9090", "$$", "$labels", "{{ $labels.instance }}", "$()", "$(A-B)", "$( A )", "$(A", "$(",
		"$((A))", "(.+)$", "a$ b", "${", "$(\xff)", "$(Ä)", "a\x00$b\r\n",
	} {
		if got, unset := expand(t, Kubernetes, same); got != same || len(unset) != 0 {
			t.Errorf("%q becomes %q (unset %v), want no change", same, got, unset)
		}
	}
}

func TestUnsetIsKeptAndCounted(t *testing.T) {
	got, unset := expand(t, Kubernetes, "$(U) $(A) $(V)$(U)$$(V)")
	if want := "$(U) 1 $(V)$(U)$$(V)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if unset.Total() != 4 || !slices.Equal(unset.Names(), []string{"U", "V"}) || unset["U"] != 2 {
		t.Errorf("unset %v", unset)
	}
}

// The authors of a configuration choose how many variables it refers to, and how long their names are.
func TestUnsetIsBounded(t *testing.T) {
	var in strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&in, "$(U%d)", i)
	}
	fmt.Fprintf(&in, "$(%s)$(A)", strings.Repeat("U", 1<<20))
	e := New(Kubernetes, environment)
	var out strings.Builder
	unset, err := e.Expand(&out, strings.NewReader(in.String()))
	if want := strings.TrimSuffix(in.String(), "$(A)") + "1"; err != nil || out.String() != want {
		t.Errorf("error %v, or the text changed", err)
	}
	if len(unset) != maxUnset+1 || unset[Others] != 100_000-maxUnset || unset.Total() != 100_000 {
		t.Errorf("%d names, %d others, %d references", len(unset), unset[Others], unset.Total())
	}
	if len(e.values) != 1 || len(e.buf) != bufferSize {
		t.Errorf("keeps %d values and a buffer of %d bytes", len(e.values), len(e.buf))
	}
}

// A name that is too long is text wherever the windows end.
func TestLongNames(t *testing.T) {
	for _, n := range []int{variables.MaxName - 1, variables.MaxName, variables.MaxName + 1, bufferSize, 3 * bufferSize} {
		in := "$(" + strings.Repeat("n", n) + ")$(A)"
		want := strings.TrimSuffix(in, "$(A)") + "1"
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "bytes": iotest.OneByteReader(strings.NewReader(in))} {
			var out strings.Builder
			unset, err := New(Kubernetes, environment).Expand(&out, r)
			if out.String() != want || err != nil || (len(unset) == 1) != (n <= variables.MaxName) {
				t.Errorf("%d, %s: error %v, unset %d", n, name, err, len(unset))
			}
		}
	}
}

func TestLongLine(t *testing.T) {
	for n, ok := range map[int]bool{maxLine - 1: true, maxLine: false} {
		_, err := New(Shell, nil).Expand(io.Discard, strings.NewReader("fine\n"+strings.Repeat("x", n)+"\n"))
		if ok != (err == nil) || !ok && err.Error() != "line 2: longer than 1048576 bytes" {
			t.Errorf("%d: %v", n, err)
		}
	}
}

func TestShell(t *testing.T) {
	for in, want := range map[string]string{
		"$A ${A} ${U:-d} ${E:-d} ${E-d} ${A:+yes} $U|": "1 1 d d  yes |",
		"$$1\n$(A)\n":         "$1\n$(A)\n",
		"no dollar\r\n\nlast": "no dollar\r\n\nlast",
	} {
		if got, _ := expand(t, Shell, in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	_, err := New(Shell, nil).Expand(io.Discard, strings.NewReader("fine\n${A\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("an open brace: %v", err)
	}
}

func TestErrorsPassThrough(t *testing.T) {
	broken := errors.New("broken")
	for _, syntax := range Syntaxes {
		e := New(Syntax(syntax), environment)
		if _, err := e.Expand(io.Discard, iotest.ErrReader(broken)); !errors.Is(err, broken) {
			t.Errorf("%s: a read error becomes %v", syntax, err)
		}
		if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
			if _, err := e.Expand(full, strings.NewReader("$(A)$A")); err == nil {
				t.Errorf("%s: a full disk goes unnoticed", syntax)
			}
			full.Close()
		}
	}
}

// model implements the dialect with a regular expression over the whole text.
func model(in []byte) (out []byte, unset int) {
	env := map[string]string{}
	for _, pair := range environment {
		k, v, _ := strings.Cut(pair, "=")
		if _, ok := env[k]; !ok {
			env[k] = v
		}
	}
	ref := regexp.MustCompile(`\$\(([a-zA-Z_0-9]+)\)`)
	out = ref.ReplaceAllFunc(in, func(m []byte) []byte {
		v, ok := env[string(m[2:len(m)-1])]
		if !ok {
			unset++
			return m
		}
		return []byte(v)
	})
	return out, unset
}

// The output equals that of a regular expression, regardless of how the stream is split,
// and text without a reference to a set variable is unchanged.
func FuzzKubernetes(f *testing.F) {
	for _, s := range []string{
		"x$(A)y", "$($(A))", "$$(A)", "$(U)$(_)$(1A)", "$(X", "${1}$labels$", "$(A)$(E)$(X)\n\xff$(", strings.Repeat("$(LONG_name_9)", 50),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, wantUnset := model(in)
		for _, src := range []io.Reader{
			bytes.NewReader(in), iotest.OneByteReader(bytes.NewReader(in)), iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(in))),
		} {
			e := New(Kubernetes, environment)
			e.buf = make([]byte, 3) // small windows, so that they end everywhere
			var got bytes.Buffer
			unset, err := e.Expand(&got, src)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) || unset.Total() != wantUnset {
				t.Fatalf("%q becomes %q (%d unset), want %q (%d)", in, got.Bytes(), unset.Total(), want, wantUnset)
			}
		}
		var again bytes.Buffer
		if _, err := New(Kubernetes, nil).Expand(&again, bytes.NewReader(in)); err != nil || !bytes.Equal(again.Bytes(), in) {
			t.Fatalf("without variables %q becomes %q (%v)", in, again.Bytes(), err)
		}
	})
}

// The run time is linear in the size of the text, not quadratic.
func TestManyReferences(t *testing.T) {
	in := strings.Repeat(strings.Repeat("x", 130)+" ${1} $(A) $(U)\n", 20000)
	start := cputime.Now()
	_, unset := expand(t, Kubernetes, in)
	if took := cputime.Since(start); took > time.Second || unset.Total() != 20000 {
		t.Errorf("%d bytes took %v, %d unset", len(in), took, unset.Total())
	}
}

// BenchmarkExpand expands about 20,000 references in 3 MB at the largest size.
func BenchmarkExpand(b *testing.B) {
	block := "  - source_labels: [__address__]\n    regex: (.+)$\n    replacement: ${1}:$(A)\n    target_label: __tmp_hash$(U)\n" + strings.Repeat("  # filler text without references\n", 2)
	for _, blocks := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			in := []byte(strings.Repeat(block, blocks))
			e := New(Kubernetes, environment)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Expand(io.Discard, bytes.NewReader(in)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
