package rules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// TestGolden compiles in.yaml of each testdata/*.txtar for the targets in the names of its want/ files:
//
//	owner.yaml                spec of the owner, optional
//	want/2.45.0.yaml          rule file for a Prometheus of that version
//	want/thanos-0.38.0.yaml   rule file for a Thanos Ruler
//	want/*.dropped            keys that the version does not support, one per line
//	want/*.error              why the object is rejected
//
// Every rule file is also parsed with Prometheus' own parser.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	object := &v1.PrometheusRule{}
	var owner []byte
	for _, f := range ar.Files {
		switch f.Name {
		case "in.yaml":
			if err := yaml.UnmarshalStrict(f.Data, object); err != nil {
				t.Fatalf("in.yaml: %v", err)
			}
		case "owner.yaml":
			owner = f.Data
		}
	}
	wants := 0
	for i, f := range ar.Files {
		name, ok := strings.CutPrefix(f.Name, "want/")
		if !ok {
			continue
		}
		wants++
		target := strings.TrimSuffix(name, filepath.Ext(name))
		s := settingsOf(t, target, owner)
		got := Compile(object, s)
		if got.Err == nil {
			if errs := readByPrometheus(got.Content, s); len(errs) > 0 {
				t.Errorf("%s: Prometheus refuses the file: %v\n%s", target, errs, got.Content)
			}
		}
		var text string
		switch filepath.Ext(name) {
		case ".yaml":
			text = got.Content
		case ".dropped":
			text = lines(got.Dropped)
		case ".error":
			if got.Err != nil {
				text = got.Err.Error() + "\n"
			}
		default:
			t.Fatalf("%s: want .yaml, .dropped or .error", f.Name)
		}
		if *update {
			ar.Files[i].Data = []byte(text)
		} else if d := cmp.Diff(string(f.Data), text); d != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, d)
		}
		if filepath.Ext(name) != ".error" && got.Err != nil {
			t.Errorf("%s: rejected: %v", target, got.Err)
		}
	}
	if wants == 0 {
		t.Error("the file expects nothing")
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func lines[T any](in []T) string {
	var out strings.Builder
	for _, line := range in {
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// settingsOf returns the settings for "3.0.0" or "thanos-0.38.0" and the owner's spec.
func settingsOf(t *testing.T, target string, spec []byte) Settings {
	t.Helper()
	if v, ok := strings.CutPrefix(target, "thanos-"); ok {
		owner := &v1.ThanosRuler{}
		if err := yaml.UnmarshalStrict(spec, &owner.Spec); err != nil {
			t.Fatalf("owner.yaml: %v", err)
		}
		return ThanosRulerSettings(owner, semver.MustParse(v))
	}
	owner := &v1.Prometheus{}
	if err := yaml.UnmarshalStrict(spec, &owner.Spec); err != nil {
		t.Fatalf("owner.yaml: %v", err)
	}
	return PrometheusSettings(owner, semver.MustParse(target))
}
