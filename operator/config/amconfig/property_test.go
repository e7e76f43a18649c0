package amconfig

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/alertmanager/config"
	commoncfg "github.com/prometheus/common/config"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// allVersions has a version on each side of every gate.
var allVersions = []string{
	"0.15.0", "0.21.0", "0.22.0", "0.23.0", "0.24.0", "0.25.0", "0.26.0", "0.27.0", "0.28.0", "0.29.0", "0.30.0", "0.31.0", "0.32.0", newestVersion,
}

// randomInput returns an Alertmanager with a random base and three random objects.
func randomInput(seed uint64) *goldenInput {
	r := newRandom(seed)
	w := &goldenInput{am: &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}}
	w.am.Spec.AlertmanagerConfigSelector = &metav1.LabelSelector{}
	w.objects = *r.secrets("a", "b", "default")
	w.objects.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alertmanager-main"}, StringData: map[string]string{v1.AlertmanagerConfigKey: r.base()}})
	for _, key := range [][2]string{{"a", "x"}, {"a", "y"}, {"b", "x"}} {
		w.configs = append(w.configs, r.config(key[0], key[1]))
	}
	return w
}

// checkInput checks that, for any objects, Alertmanager loads the document, the result is
// deterministic, no error contains a secret, and the input is not modified.
func checkInput(t *testing.T, seed uint64, version string) (accepted int) {
	w := randomInput(seed)
	before := w.copies()
	out, err := w.renderAll(version)
	if err != nil {
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("seed %d: a secret is shown: %v", seed, err)
		}
		return 0
	}
	if err := load(out.text); err != nil {
		t.Fatalf("seed %d, %s: Alertmanager refuses the document: %v\n%s", seed, version, err, out.text)
	}
	for _, why := range out.rejected {
		if strings.Contains(why, "hunter2") {
			t.Errorf("seed %d: a secret is shown: %s", seed, why)
		}
	}
	if again, err := randomInput(seed).renderAll(version); err != nil || !bytes.Equal(again.text, out.text) || !reflect.DeepEqual(again.rejected, out.rejected) {
		t.Errorf("seed %d: two runs differ: %v", seed, err)
	}
	if w.copies() != before {
		t.Errorf("seed %d: an input was changed", seed)
	}
	for key, f := range out.fragments {
		if f.Err != nil {
			continue
		}
		accepted++
		for section, text := range f.YAML {
			if bytes.Contains(text, []byte("$(")) {
				t.Errorf("seed %d: %s: a variable in %s:\n%s", seed, key, section, text)
			}
		}
	}
	return accepted
}

func TestRandomInputs(t *testing.T) {
	accepted := 0
	for seed := range uint64(100) {
		accepted += checkInput(t, seed, allVersions[seed%uint64(len(allVersions))])
	}
	if accepted < 40 {
		t.Errorf("only %d of 300 objects are accepted: the test says little", accepted)
	}
}

func FuzzInput(f *testing.F) {
	f.Add(uint64(1), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, version uint8) {
		checkInput(t, seed, allVersions[int(version)%len(allVersions)])
	})
}

// meaning returns the configuration that Alertmanager loads from a document, with its secrets.
func meaning(t *testing.T, text []byte) string {
	t.Helper()
	commoncfg.MarshalSecretValue = true
	c, err := config.Load(string(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return c.String()
}

// FuzzBase: a user-supplied document is either rejected, or keeps its meaning for the newest
// version and can be loaded by all others.
func FuzzBase(f *testing.F) {
	for seed := range uint64(20) {
		f.Add([]byte(newRandom(seed).base()))
	}
	f.Add([]byte("a: &a [*a]\nroute: {receiver: a}\nreceivers: [{name: a}]"))
	f.Add([]byte("route: &r {receiver: a, routes: [{<<: *r}]}\nreceivers: [{name: a}]"))
	f.Add([]byte("%YAML 1.1\n---\nroute: {receiver: !!str 012}\nreceivers: [{name: ! 012}]\n...\n---\nx"))
	f.Add([]byte("route: {receiver: !!binary YQ==}\nreceivers: [{name: 'a'}]\ntemplates: [? a]"))
	f.Fuzz(checkBase)
}

// TestRandomBases runs FuzzBase with documents in which a few characters are changed.
func TestRandomBases(t *testing.T) {
	const marks = "'\"\n -:#&*!|>[]{},~0a$(<?%@\t"
	for seed := range uint64(100) {
		r := newRandom(seed)
		text := []byte(r.base())
		for range r.IntN(4) {
			at := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text[at] = marks[r.IntN(len(marks))]
			case 1:
				text = append(text[:at], text[at+1:]...)
			case 2:
				text = append(text[:at:at], append([]byte(pick(r, strange...)), text[at:]...)...)
			}
		}
		checkBase(t, text)
	}
}

func checkBase(t *testing.T, text []byte) {
	if len(text) > 8192 {
		return
	}
	for _, version := range []string{newestVersion, "0.26.0", "0.21.0"} {
		target := targetOf(semver.MustParse(version))
		out, err := parseBase(text, target, dialectOf(&v1.Alertmanager{}, target))
		if err != nil {
			continue
		}
		whole := document(&out, nil)
		if err := load(whole); err != nil {
			t.Fatalf("%s: Alertmanager refuses the document: %v\n%s", version, err, whole)
		}
		again, err := parseBase(whole, target, dialectOf(&v1.Alertmanager{}, target))
		if err != nil || !bytes.Equal(document(&again, nil), whole) {
			t.Errorf("%s: not stable, %v\n%s\n%s", version, err, whole, document(&again, nil))
		}
		if version == newestVersion && !bytes.Contains(text, []byte("null")) && !bytes.Contains(text, []byte("~")) {
			if was, is := meaning(t, text), meaning(t, whole); was != is {
				t.Errorf("the meaning is another one:\n%s\n%s\n%s", text, was, is)
			}
		}
	}
}
