package configsecret

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// TestAConfigurationGrowsAndShrinks: a pod that starts after any write reads the old version or the
// new one, and writing the same content again is a no-op.
func TestAConfigurationGrowsAndShrinks(t *testing.T) {
	all := pieces(300)
	w := newSimulation(t)
	var volume corev1.Volume
	most := 0
	for i, n := range []int{1, 20, 60, 300, 299, 150, 20, 1} {
		w.content.Pieces = all[:n]
		before, _ := w.read()
		next := textOf(t, w.output())
		w.after = func(int) {
			if text, err := w.read(); err != nil || text != before && text != next {
				t.Errorf("%d pieces: a pod reads %d bytes, %v", n, len(text), err)
			}
		}
		out := w.pass()
		if i == 0 {
			volume = w.base.ConfigVolume(out.InParts)
		}
		if diff := cmp.Diff(volume, w.base.ConfigVolume(out.InParts)); diff != "" {
			t.Errorf("%d pieces: another volume:\n%s", n, diff)
		}
		if len(out.Parts) != len(w.partSecrets()) {
			t.Errorf("%d pieces: %v are wanted, %v are there", n, out.Parts, w.partSecrets())
		}
		most = max(most, len(out.Parts))
		if w.pass(); len(w.writes) > 0 {
			t.Errorf("%d pieces: the same again wrote %v", n, w.writes)
		}
	}
	if most < 4 || len(w.partSecrets()) > 0 {
		t.Errorf("at most %d parts, %v are left", most, w.partSecrets())
	}
}

// TestKeysTakeOfTheRoom: every version has the user's additional keys, no matter how little room
// they leave.
func TestKeysTakeOfTheRoom(t *testing.T) {
	all := pieces(200)
	w := newSimulation(t)
	for _, tc := range []struct {
		pieces, keys int
		parts        bool
	}{
		{20, 0, false}, {20, 1000, false}, {20, 3000, true}, {20, small - 1, true}, {200, small - 1, true}, {200, 100, true}, {1, small - 300, false}, {1, small - 100, true}, {20, 0, false},
	} {
		name := fmt.Sprintf("%d pieces beside %d bytes", tc.pieces, tc.keys)
		w.content.Pieces = all[:tc.pieces]
		w.content.Keys = map[string][]byte{"a.tmpl": make([]byte, tc.keys/2), "b.tmpl": make([]byte, tc.keys-tc.keys/2)}
		w.pass()
		if _, listed := w.secrets[mainSecret].Data[parts.ListName]; listed != tc.parts {
			t.Errorf("%s: in parts %t", name, listed)
		}
		data := w.secrets[mainSecret].Data
		if len(data["a.tmpl"])+len(data["b.tmpl"]) != tc.keys {
			t.Errorf("%s: Secret has %v", name, slices.Sorted(maps.Keys(data)))
		}
	}
}

// TestKeysOfOurOwnAreLeftOut: a user-provided list of parts is left out, as it would stop every pod.
func TestKeysOfOurOwnAreLeftOut(t *testing.T) {
	w := newSimulation(t)
	w.content.Pieces = pieces(3)
	w.content.Keys = map[string][]byte{
		parts.ListName: []byte("{}"), parts.ConfigName(1): []byte("x"), parts.ConfigEnd: []byte("x"), parts.RulesEnd: []byte("x"),
		mainKey: []byte("another configuration"), "config.gz": []byte("stays"), "parts.json.tmpl": []byte("stays"),
	}
	keys := maps.Clone(w.content.Keys)
	out := w.pass()
	if got := slices.Sorted(maps.Keys(w.secrets[mainSecret].Data)); !slices.Equal(got, []string{"config.gz", "parts.json.tmpl", mainKey}) {
		t.Errorf("Secret has %v", got)
	}
	if len(out.Warnings) != 4 || !strings.Contains(out.Warnings[0].String(), `key "config-1.gz" is left out of Secret widget-main-generated`) {
		t.Errorf("warnings %q", out.Warnings)
	}
	if !maps.EqualFunc(keys, w.content.Keys, slices.Equal) {
		t.Error("the keys of the caller were changed")
	}
}

func TestWhatIsTooLargeIsWithheld(t *testing.T) {
	many := pieces(700)
	from := func(n int) iter.Seq[Source] {
		return func(yield func(Source) bool) {
			for i := range n {
				if !yield(Source{Kind: "Item", Namespace: fmt.Sprintf("ns-%d", i%5), Name: fmt.Sprint(i), Bytes: 1 << 20}) {
					return
				}
			}
		}
	}
	foreign := func(w *simulation) { w.base.Config.ConfigReloaderImage = "other/reloader:v1" }
	for name, tc := range map[string]struct {
		pieces, keys int
		change       func(*simulation) // applied before the write
		want         []string
		awaits       bool // the next pods can read it
		leave        bool
	}{
		"beyond all parts": {pieces: 700, want: []string{
			"the configuration of 700 items has ", "the namespaces ns-0 (140.0 MiB), ns-1 (140.0 MiB), ns-2 (140.0 MiB), the largest object is Item ns-0/0 (1.0 MiB); ",
			"the Secrets that pods mount hold 0.0 MiB: divide it. The last written configuration stays in use",
		}},
		"the keys leave no room": {pieces: 100, keys: small, want: []string{"of which its other keys take 0.0 MiB, which leaves no room: mount what they hold from other Secrets"}},
		"a reloader that reads no parts": {pieces: 100, change: foreign, want: []string{
			`image "other/reloader:v1" of container config-reloader (--prometheus-config-reloader) is not known to read`, "or divide it. The last",
		}, awaits: true},
		"a pod of before": {pieces: 100, change: func(w *simulation) {
			w.sets["old"] = &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
		}, want: []string{"as soon as all pods can read them; now StatefulSet old: container config-reloader still has image"}, awaits: true},
		"nothing was written yet": {pieces: 700, change: func(w *simulation) { clear(w.secrets) }, leave: true},
		"the Secret is another's": {pieces: 700, change: func(w *simulation) { w.secrets[mainSecret].OwnerReferences = nil }, leave: true},
		"in parts that the next pods could not read": {pieces: 100, change: func(w *simulation) {
			w.content.Pieces = many[:90]
			w.pass()
			foreign(w)
		}, awaits: true, leave: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSimulation(t)
			w.content = Content{Pieces: many[:3], Origin: Origin{Objects: "items", Divide: "divide it", Each: from(700)}}
			w.pass()
			if tc.change != nil {
				tc.change(w)
			}
			w.content.Pieces, w.content.Keys = many[:tc.pieces], map[string][]byte{"template": make([]byte, tc.keys)}
			out := w.output()
			if out.Withheld == nil || len(out.Steps) > 0 || textOf(t, out) != "" {
				t.Fatalf("withheld %v, steps %v", out.Withheld, out.Steps)
			}
			for _, want := range tc.want {
				if !strings.Contains(out.Withheld.Error(), want) {
					t.Errorf("%q does not say %q", out.Withheld, want)
				}
			}
			plan := out.Withheld.Plan()
			if !errors.Is(plan.Withheld, out.Withheld) || plan.AwaitsPods != tc.awaits || out.LeavePods != tc.leave {
				t.Errorf("awaits pods %t, leave pods %t", plan.AwaitsPods, out.LeavePods)
			}
		})
	}
}

// TestPartsAvoidSecretsOfOthers: parts are not written into Secrets with another owner, and these
// reduce the room.
func TestPartsAvoidSecretsOfOthers(t *testing.T) {
	w := newSimulation(t)
	w.content.Pieces = pieces(300)
	theirs := func(i int) {
		name := w.base.ConfigPartName(i)
		w.secrets[name] = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{mainKey: []byte("another configuration")}}
	}
	theirs(1)
	theirs(3)
	if out := w.pass(); len(out.Parts) < 2 {
		t.Errorf("parts %v", out.Parts)
	}
	for i := range workload.ConfigParts {
		if w.secrets[w.base.ConfigPartName(i+1)] == nil {
			theirs(i + 1)
		}
	}
	room := len(w.partSecrets()) / 2
	w.content.Pieces = pieces(310)[5:]
	if out := w.output(); out.Withheld == nil || out.Withheld.Room != room*small {
		t.Errorf("withheld %v, steps %v", out.Withheld, out.Steps)
	}
}

// TestNoFreeSecret: without the annotation, every part counts as named by the list.
func TestNoFreeSecret(t *testing.T) {
	w := newSimulation(t)
	w.content.Pieces = pieces(300)
	w.pass()
	for i := range workload.ConfigParts {
		if name := w.base.ConfigPartName(i + 1); w.secrets[name] == nil {
			w.secrets[name] = w.base.Secret(name, map[string][]byte{"left": []byte("behind")})
		}
	}
	delete(w.secrets[mainSecret].Annotations, wellknown.AnnotationConfigParts)
	w.content.Pieces = pieces(310)[5:]
	_, err := w.docs.Write(w.base, w.live(), w.content)
	if wait, waits := engine.Waiting(err); !waits || wait.For != slotsLook || !strings.Contains(err.Error(), "all 16 of 16 Secrets that do not belong to another object are in use") {
		t.Errorf("error %v", err)
	}
}

// TestInterruptionsLeaveAVersion: a starting pod can read a configuration at any time, even if the
// operator dies after any write and another change follows.
func TestInterruptionsLeaveAVersion(t *testing.T) {
	all := pieces(320)
	for stop := range 8 {
		w := newSimulation(t)
		w.content.Pieces, w.content.Keys = all[:40], map[string][]byte{"template": make([]byte, 1000)}
		w.pass()
		text, _ := w.read()
		known := map[string]bool{text: true}
		for _, content := range []int{300, 280, 200, 10, 300, 250} {
			w.content.Pieces = all[320-content:]
			w.docs = New(nil, small) // the operator restarts
			out := w.output()
			known[textOf(t, out)] = true
			w.after = func(int) {
				if text, err := w.read(); err != nil || !known[text] {
					t.Fatalf("stopped after %d writes: %d bytes, %v", stop, len(text), err)
				}
			}
			w.do(out.Steps[:min(stop, len(out.Steps))])
		}
		w.after = nil
		w.pass()
	}
}

// FuzzWrite: for all sizes, the written content can be read and does not depend on previous writes.
func FuzzWrite(f *testing.F) {
	f.Add(uint64(1), uint16(20), uint16(0), uint16(300), uint16(1000))
	f.Add(uint64(7), uint16(300), uint16(3999), uint16(20), uint16(3999))
	f.Add(uint64(9), uint16(0), uint16(3900), uint16(1), uint16(4100))
	all := pieces(600)
	f.Fuzz(func(t *testing.T, seed uint64, n1, keys1, n2, keys2 uint16) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newSimulation(t)
		for _, step := range []struct{ n, keys uint16 }{{n1, keys1}, {n2, keys2}, {n1, keys1}} {
			from := r.IntN(100)
			w.content.Pieces = all[from:min(from+int(step.n), len(all))]
			w.content.Keys = map[string][]byte{"template": make([]byte, step.keys%5000)}
			out := w.output()
			if out.Withheld != nil {
				if len(out.Steps) > 0 {
					t.Fatalf("withheld, and %d steps", len(out.Steps))
				}
				continue
			}
			fresh, err := New(nil, small).Write(w.base, w.live(), w.content)
			if err != nil || !cmp.Equal(fresh.Steps, out.Steps) {
				t.Fatalf("a new operator wants something else, %v", err)
			}
			w.pass()
		}
	})
}
