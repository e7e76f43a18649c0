package configsecret

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// tenants holds objects of several namespaces, some of which are left out.
type tenants struct {
	objects []*tenant
	frame   []*document.Piece
}

type tenant struct {
	namespace, name string
	piece           *document.Piece
	err             error
}

// noise returns incompressible text.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 5))
	out := make([]byte, n)
	for i := range out {
		out[i] = byte('!' + r.IntN(90))
	}
	return out
}

func (ts *tenants) add(namespace string, count, bytes int) {
	for i := range count {
		name := fmt.Sprintf("%s-%d", namespace, i)
		text := append([]byte("- name: "+name+"\n  text: "), noise(uint64(len(ts.objects)), bytes)...)
		ts.objects = append(ts.objects, &tenant{namespace: namespace, name: name, piece: document.NewPiece("Item/"+name, append(text, '\n'))})
	}
}

// addPlain adds objects that are large only uncompressed.
func (ts *tenants) addPlain(namespace string, count, size int) {
	for i := range count {
		name := fmt.Sprintf("%s-%d", namespace, i)
		text := append([]byte("- name: "+name+"\n  text: "), bytes.Repeat(noise(uint64(i), 1000), size/1000)...)
		ts.objects = append(ts.objects, &tenant{namespace: namespace, name: name, piece: document.NewPiece("Item/"+name, append(text, '\n'))})
	}
}

// addVariables adds small objects that grow when variables are substituted.
func (ts *tenants) addVariables(namespace string, count, references int) {
	for i := range count {
		name := fmt.Sprintf("%s-%d", namespace, i)
		text := "- name: " + name + "\n  text: " + strings.Repeat("$(PATH)", references) + "\n"
		ts.objects = append(ts.objects, &tenant{namespace: namespace, name: name, piece: document.NewPiece("Item/"+name, []byte(text))})
	}
}

func (ts *tenants) each() iter.Seq[Source] {
	return func(yield func(Source) bool) {
		for _, o := range ts.objects {
			if o.err == nil && !yield(Source{
				Kind: "Item", Namespace: o.namespace, Name: o.name, Bytes: o.piece.Rendered(),
				Pieces: []*document.Piece{o.piece}, LeaveOut: func(why error) { o.err = why },
			}) {
				return
			}
		}
	}
}

func (ts *tenants) content() (Content, error) {
	c := Content{Pieces: slices.Clone(ts.frame), Origin: Origin{Objects: "items", Divide: "divide it", Each: ts.each()}}
	for _, o := range ts.objects {
		if o.err == nil {
			c.Pieces = append(c.Pieces, o.piece)
		}
	}
	return c, nil
}

// leftOut returns the number of left-out objects per namespace.
func (ts *tenants) leftOut(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, o := range ts.objects {
		if o.err == nil {
			continue
		}
		out[o.namespace]++
		if _, ok := errors.AsType[*share.LeftOutError](o.err); !ok {
			t.Errorf("%s: error %v", o.name, o.err)
		}
	}
	return out
}

func (w *simulation) fit(ts *tenants) Output {
	w.t.Helper()
	out, err := w.docs.Fit(w.base, w.live(), ts.content)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// TestFit: only the namespace that holds too much loses objects.
func TestFit(t *testing.T) {
	foreign := func(w *simulation) { w.base.Config.ConfigReloaderImage = "other/reloader:v1" }
	memory := func(limit string) func(*simulation) {
		return func(w *simulation) {
			w.docs = New(nil, 0)
			w.base.Config.ReloaderResources = workload.ReloaderResources{MemoryLimit: resource.MustParse(limit)}
		}
	}
	const part = small * 9 / 10
	for name, tc := range map[string]struct {
		fill   func(*tenants)
		change func(*simulation)
		most   int // objects of greedy that may be left out
	}{
		"everything fits":       {fill: func(ts *tenants) { ts.add("a", 10, 100); ts.add("b", 10, 100) }},
		"beyond all parts":      {fill: func(ts *tenants) { ts.add("a", 10, 100); ts.add("greedy", 12, part); ts.add("z", 10, 100) }, most: 6},
		"many small ones":       {fill: func(ts *tenants) { ts.add("a", 20, 100); ts.add("greedy", 800, 60); ts.add("z", 20, 100) }, most: 400},
		"no reader of parts":    {fill: func(ts *tenants) { ts.add("a", 5, 100); ts.add("greedy", 20, 400) }, change: foreign, most: 14},
		"memory":                {fill: func(ts *tenants) { ts.add("a", 10, 1000); ts.addPlain("greedy", 40, 1<<20) }, change: memory("50Mi"), most: 14},
		"memory for variables":  {fill: func(ts *tenants) { ts.add("a", 10, 1000); ts.addVariables("greedy", 8, 50_000) }, change: memory("50Mi"), most: 6},
		"memory without limit":  {fill: func(ts *tenants) { ts.add("a", 10, 1000); ts.add("b", 8, 1<<18) }, change: memory("0")},
		"two that hold as much": {fill: func(ts *tenants) { ts.add("a", 10, 100); ts.add("greedy", 8, part); ts.add("greedy2", 8, part) }, most: 8},
	} {
		t.Run(name, func(t *testing.T) {
			w, ts := newSimulation(t), &tenants{frame: []*document.Piece{document.NewPiece("head", []byte("items:\n"))}}
			if tc.change != nil {
				tc.change(w)
			}
			tc.fill(ts)
			out := w.fit(ts)
			if out.Withheld != nil {
				t.Fatal(out.Withheld)
			}
			left, text := ts.leftOut(t), textOf(t, out)
			greedy := left["greedy"] + left["greedy2"]
			if (greedy == 0) != (tc.most == 0) || greedy > tc.most || left["a"]+left["z"]+left["b"] > 0 || len(out.Left) != greedy {
				t.Errorf("left out %v, at most %d of greedy", left, tc.most)
			}
			for _, o := range ts.objects {
				if strings.Contains(text, "- name: "+o.name+"\n") != (o.err == nil) {
					t.Errorf("%s: error %v", o.name, o.err)
				}
			}
			// The same inputs give the same result, independent of previous runs.
			before := ts.leftOut(t)
			for _, o := range ts.objects {
				o.err = nil
			}
			if again := w.fit(ts); textOf(t, again) != text || fmt.Sprint(ts.leftOut(t)) != fmt.Sprint(before) {
				t.Errorf("the second time %v, before %v", ts.leftOut(t), before)
			}
		})
	}
}

// TestFitComesBack: left-out objects return once there is room.
func TestFitComesBack(t *testing.T) {
	w, ts := newSimulation(t), &tenants{}
	ts.add("a", 10, 100)
	ts.add("greedy", 12, small*9/10)
	w.fit(ts)
	if ts.leftOut(t)["greedy"] == 0 {
		t.Fatal("everything fits")
	}
	ts.objects = ts.objects[:15]
	for _, o := range ts.objects {
		o.err = nil
	}
	if out := w.fit(ts); out.Withheld != nil || len(out.Left) > 0 || strings.Count(textOf(t, out), "- name: ") != 15 {
		t.Errorf("left out %v, withheld %v", out.Left, out.Withheld)
	}
}

// TestFitKeepsParts: if the configuration is already in parts but the operator's flags name a
// reloader that cannot read them, nothing is left out and the last configuration stays. The same
// holds while pods are being replaced by ones that can read parts.
func TestFitKeepsParts(t *testing.T) {
	w := newSimulation(t)
	w.content.Pieces = pieces(100)
	w.pass()
	w.base.Config.ConfigReloaderImage = "other/reloader:v1"
	ts := &tenants{}
	ts.add("a", 20, 1000)
	if out := w.fit(ts); out.Withheld == nil || len(ts.leftOut(t)) > 0 {
		t.Errorf("withheld %v, left out %v", out.Withheld, ts.leftOut(t))
	}
	w = newSimulation(t)
	w.sets["old"] = &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	if out := w.fit(ts); out.Withheld == nil || !out.InParts || len(ts.leftOut(t)) > 0 {
		t.Errorf("withheld %v, left out %v", out.Withheld, ts.leftOut(t))
	}
}

// TestNoMemoryForTheWorkloadsOwn: the workload's own configuration is never left out.
func TestNoMemoryForTheWorkloadsOwn(t *testing.T) {
	w, ts := newSimulation(t), &tenants{frame: []*document.Piece{document.NewPiece("head", noise(1, 31<<20))}}
	w.docs = New(nil, 0)
	w.base.Config.ReloaderResources = workload.ReloaderResources{MemoryLimit: resource.MustParse("50Mi")}
	w.base.Fields.Containers = []corev1.Container{{Name: workload.ContainerConfigReloader, Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("40Mi")},
	}}}
	ts.add("a", 1, 100)
	out := w.fit(ts)
	want := "with a memory limit of 40Mi, config-reloader has memory for 19.7 MiB of plain configuration: set --config-reloader-memory-limit=53Mi, or divide it. The last written"
	if out.Withheld == nil || !strings.Contains(out.Withheld.Error(), want) {
		t.Errorf("withheld %v", out.Withheld)
	}
}

// FuzzFit: a greedy namespace takes no room from those that hold less than an equal share.
func FuzzFit(f *testing.F) {
	f.Add(uint64(1), uint16(20), uint16(900))
	f.Add(uint64(2), uint16(900), uint16(30))
	f.Add(uint64(3), uint16(3), uint16(30000))
	f.Fuzz(func(t *testing.T, seed uint64, count, bytes uint16) {
		w, ts := newSimulation(t), &tenants{}
		ts.add("good", 5+int(seed%20), 100)
		ts.add("greedy", int(count)%1500, int(bytes))
		ts.add("fine", 10, 150)
		out := w.fit(ts)
		left := ts.leftOut(t)
		if out.Withheld != nil || left["good"]+left["fine"] > 0 {
			t.Errorf("withheld %v, left out %v", out.Withheld, left)
		}
	})
}
