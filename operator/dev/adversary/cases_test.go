package adversary

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// Limits for the checks of the objects of one case.
const (
	caseTime  = 20 * time.Second // generous, because the machine may be busy
	caseBytes = 512 << 20        // allocated in total, not at the same time
)

// TestCases replays cases found by attacks or reported by users, without a cluster. The first line of a case states the
// expected result for each of its objects:
//
//	# rejected: a part of the reason
//	# accepted
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := strings.Cut(string(text), "\n")
			all, err := objects.Parse(expanded(text))
			if err != nil || len(all) == 0 {
				t.Fatalf("%d objects, %v", len(all), err)
			}
			for _, o := range all {
				raw, err := yaml.Marshal(o.Object)
				if err == nil {
					raw, err = yaml.YAMLToJSON(raw)
				}
				if err != nil {
					t.Fatal(err)
				}
				replay(t, catalog.Of(o.GetKind()), raw, want)
			}
		})
	}
}

func replay(t *testing.T, row *catalog.Row, raw []byte, want string) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	err := rejected(row, raw)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > caseBytes || took > caseTime {
		t.Errorf("took %s and %d MiB", took, n>>20)
	}
	reason, bad := strings.CutPrefix(want, "# rejected: ")
	switch {
	case !bad && want != "# accepted":
		t.Errorf("the first line says neither rejected nor accepted: %q", want)
	case bad && (err == nil || !strings.Contains(err.Error(), reason)):
		t.Errorf("%v, want %s", err, reason)
	case !bad && err != nil:
		t.Errorf("rejected: %v", err)
	}
}

// expanded replaces REPEAT(10000,text) by that many copies of the text, which keeps the files small.
func expanded(text []byte) []byte {
	rest, out := string(text), strings.Builder{}
	for {
		before, after, found := strings.Cut(rest, "REPEAT(")
		out.WriteString(before)
		if !found {
			return []byte(out.String())
		}
		count, after, _ := strings.Cut(after, ",")
		piece, after, _ := strings.Cut(after, ")END")
		n := 0
		for _, digit := range count {
			n = n*10 + int(digit-'0')
		}
		out.WriteString(strings.Repeat(piece, n))
		rest = after
	}
}
