package promconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// thanosVersions are versions around the gates, newest first.
var thanosVersions = []string{"0.42.4", "0.40.0", "0.39.2", "0.37.2", "0.36.1", "0.35.1", "0.31.0", "0.30.2", "0.29.0", "0.27.0", "0.24.0", "0.23.2"}

// FuzzThanosRemoteWrite generates a remote write that the CRD allows, with random values
// in every field. An error contains the index of the entry and no secret. The file is
// deterministic, Thanos can read it, and keys that are dropped for a version are dropped
// for older versions, too.
func FuzzThanosRemoteWrite(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, uint8(seed*11), uint8(seed/2))
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent, version uint8) {
		at := int(version) % len(thanosVersions)
		ruler := randomRuler(t, seed, float64(percent%101)/100)
		file, ok := renderRuler(t, ruler, thanosVersions[at])
		if !ok || at+1 == len(thanosVersions) {
			return
		}
		older := thanosVersions[at+1+int(seed%uint64(len(thanosVersions)-at-1))]
		old, ok := renderRuler(t, ruler, older)
		if !ok {
			return
		}
		below := map[string]bool{}
		for _, d := range old.Dropped {
			below[d.Path] = true
		}
		for _, d := range file.Dropped {
			if !below[d.Path] && !coveredBy(d.Path, below) {
				t.Errorf("%s is left out for %s and written for %s", d.Path, thanosVersions[at], older)
			}
		}
	})
}

// TestRandomRulersAreAccepted makes sure that the fuzz test does not only generate errors.
func TestRandomRulersAreAccepted(t *testing.T) {
	accepted, entries := 0, 0
	for seed := range uint64(60) {
		ruler := randomRuler(t, seed, 0.5)
		if file, ok := renderRuler(t, ruler, thanosVersions[0]); ok {
			accepted++
			entries += bytes.Count(file.YAML, []byte("- url: "))
		}
	}
	if accepted < 15 || entries < 15 {
		t.Errorf("of 60 random rulers %d are accepted, with %d entries", accepted, entries)
	}
}

var rulerSamples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.ThanosRulerKind: v1.Version})
})

// randomRuler returns a ThanosRuler with a remote write that the CRD allows. Conflicting
// fields are removed from most of them.
func randomRuler(t *testing.T, seed uint64, density float64) *v1.ThanosRuler {
	t.Helper()
	samples, err := rulerSamples()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	ruler := &v1.ThanosRuler{}
	ruler.Namespace, ruler.Name = "owner", "test"
	for range 8 { // most objects have only other fields
		object, err := samples[v1.ThanosRulerKind].Object(rng, max(density, 0.05))
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := object["spec"].(map[string]any)
		if spec["remoteWrite"] == nil {
			continue
		}
		spec = map[string]any{"remoteWrite": spec["remoteWrite"]}
		refer(spec, "")
		if rng.IntN(4) > 0 {
			tidy(spec)
			settle(spec)
		}
		text, err := json.Marshal(spec)
		if err == nil {
			err = json.Unmarshal(text, &ruler.Spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	return ruler
}

// renderRuler compiles twice and checks the properties of every file; ok is false if the
// ruler is rejected.
func renderRuler(t *testing.T, ruler *v1.ThanosRuler, version string) (file RemoteWriteFile, ok bool) {
	t.Helper()
	before := rulerText(t, ruler)
	file, err := CompileThanosRemoteWrite(ruler, semver.MustParse(version), marked{})
	again, errAgain := CompileThanosRemoteWrite(ruler, semver.MustParse(version), marked{})
	if fmt.Sprint(err) != fmt.Sprint(errAgain) || !bytes.Equal(file.YAML, again.YAML) || !maps.EqualFunc(file.Files, again.Files, bytes.Equal) ||
		!slices.Equal(file.Dropped, again.Dropped) {
		t.Errorf("two runs differ: %v, %v\n%s\n%s", err, errAgain, file.YAML, again.YAML)
	}
	if rulerText(t, ruler) != before {
		t.Error("the input was changed")
	}
	if i := slices.IndexFunc(file.Deps, func(d assets.Dependency) bool { return d.Ref.Namespace != "owner" }); i >= 0 {
		t.Errorf("the ruler reads %s", file.Deps[i].Ref)
	}
	if err != nil {
		if !strings.HasPrefix(err.Error(), "spec.remoteWrite") || strings.Contains(err.Error(), "secret-of-") {
			t.Errorf("the error names no entry, or shows a secret: %v", err)
		}
		return file, false
	}
	checkRemoteWriteFile(t, version, file.YAML)
	return file, true
}

func rulerText(t *testing.T, ruler *v1.ThanosRuler) string {
	t.Helper()
	text, err := json.Marshal(ruler)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
