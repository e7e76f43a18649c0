package rules

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
)

// TestPrometheusAndRulerShareACache: if workloads of both kinds select an object, each
// gets the file for its kind, and the object is compiled once per kind.
func TestPrometheusAndRulerShareACache(t *testing.T) {
	objects := []*v1.PrometheusRule{object(v1.RuleGroup{Name: "g", PartialResponseStrategy: "warn", Rules: []v1.Rule{record("a", "up")}})}
	selected := func(kind, name string) Selection {
		s := Selection{Workload: fragments.Workload{Kind: kind, Namespace: "demo", Name: name}, Settings: settings("3.13.2"), Objects: objects}
		if kind == v1.ThanosRulerKind {
			s.Settings = thanosSettings("0.42.4")
		}
		return s
	}
	var cache Cache
	for range 2 {
		for _, kind := range []string{v1.PrometheusKind, v1.ThanosRulerKind} {
			for _, name := range []string{"main", "other"} { // both kinds have a "main": a name alone does not identify a workload
				files := selected(kind, name).Compile(&cache, nil)
				if got, want := strings.Contains(string(files[0].Text()), "partial_response_strategy: warn"), kind == v1.ThanosRulerKind; got != want {
					t.Errorf("%s: has the strategy: %t, want %t", kind, got, want)
				}
			}
		}
	}
	if n := cache.Compilations(); n != 2 {
		t.Errorf("%d compilations, want one for each kind", n)
	}
	for _, name := range []string{"main", "other"} {
		cache.Release(selected(v1.PrometheusKind, name).Workload)
	}
	if n := cache.Len(); n != 1 {
		t.Errorf("%d files are kept for the ruler, want 1", n)
	}
}

// TestSharedFilesAreNotUnpacked: for a second workload with equal settings, an object with many rules costs no more than one
// with a single rule.
func TestSharedFilesAreNotUnpacked(t *testing.T) {
	cost := func(rules int) float64 {
		rule := `{"record":"a","expr":"sum by (namespace, pod) (rate(requests_total[5m]))"}`
		text := `{"metadata":{"namespace":"demo","name":"web"},"spec":{"groups":[{"name":"g","rules":[` + strings.Repeat(rule+",", rules-1) + rule + `]}]}}`
		var r v1.PrometheusRule
		if err := manifest.DecodePacked([]byte(text), &r); err != nil || r.Packed == "" {
			t.Fatalf("not packed: %v", err)
		}
		var cache Cache
		s := Selection{Workload: fragments.Workload{Kind: v1.PrometheusKind, Name: "first"}, Settings: settings("3.13.2"), Objects: []*v1.PrometheusRule{&r}}
		if s.Compile(&cache, nil)[0].Err != nil {
			t.Fatal("rejected")
		}
		s.Workload.Name = "second"
		return testing.AllocsPerRun(10, func() { s.Compile(&cache, nil) })
	}
	if one, many := cost(1), cost(500); many > one {
		t.Errorf("%v allocations for 500 rules, %v for one", many, one)
	}
}

// TestLastPassIsOfTheSettings: after an upgrade, a ruler gets keys that it did not support before.
func TestLastPassIsOfTheSettings(t *testing.T) {
	var cache Cache
	var last LastPass
	s := Selection{
		Workload: fragments.Workload{Kind: v1.ThanosRulerKind, Namespace: "demo", Name: "main"},
		Settings: thanosSettings("0.37.2"),
		Objects:  []*v1.PrometheusRule{object(v1.RuleGroup{Name: "g", QueryOffset: "1m"})},
	}
	old := s.Compile(&cache, &last)
	if again := s.Compile(&cache, &last); again[0].CompressedFragment != old[0].CompressedFragment {
		t.Error("compiled again without a change")
	}
	s.Settings = thanosSettings("0.38.0")
	if got := s.Compile(&cache, &last)[0]; !strings.Contains(string(got.Text()), "query_offset: 1m") || len(got.Dropped) > 0 || len(old[0].Dropped) != 1 {
		t.Errorf("before %q, after %q and dropped %q", old[0].Dropped, got.Text(), got.Dropped)
	}
}

func TestFilesLeaveOutWhatIsRejected(t *testing.T) {
	bad, good := object(of(record("a", "up("))), object(of(record("a", "up")))
	bad.UID, good.UID = types.UID("bad"), types.UID("good")
	var cache Cache
	files := Selection{Settings: settings("3.13.2"), Objects: []*v1.PrometheusRule{bad, good}}.Compile(&cache, nil)
	contents := files.Contents()
	const name = "demo-web-good.yaml"
	if len(contents) != 1 || contents[name] == nil {
		t.Errorf("contents %v", contents)
	}
	archive, err := files.Archive([]string{name})
	if err != nil || len(archive.Pieces) != 2 || archive.Bytes != contents[name].Len() || archive.Sums[name] != files[1].Sum {
		t.Errorf("archive %+v, %v", archive, err)
	}
}

// TestCompiledIsSmall: a compiled file holds compressed text only, and recognizes the digest of its content.
func TestCompiledIsSmall(t *testing.T) {
	content := strings.Repeat("groups: [] # the same comment again and again\n", 300)
	c := newCompiled(Fragment{FileName: "a.yaml", Content: content})
	if c.Content != "" || len(c.packed) > len(content)/20 || string(c.Text()) != content {
		t.Errorf("%d bytes of content and %d compressed of %d", len(c.Content), len(c.packed), len(content))
	}
	if bytes, _ := c.Weight(); bytes < len(content) {
		t.Errorf("weighs %d bytes, its content has %d", bytes, len(content))
	}
	digest := apply.DigestValue([]byte(content))
	if !c.Is(digest) || c.Digest() != digest || c.Is(apply.DigestValue([]byte(content[1:]))) || c.Is(content) {
		t.Error("takes another digest for that of its content, or that for another one")
	}
	if n := testing.AllocsPerRun(10, func() { c.Is(digest) }); n > 0 {
		t.Errorf("%v allocations to compare with the digest of a ConfigMap", n)
	}
}
