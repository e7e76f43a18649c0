package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Somebody changes a ConfigMap back after each of our writes. The other objects are
// still written; what would be removed after it stays.
func TestAContestedObjectIsPutOff(t *testing.T) {
	b := newBench(t)
	overwrites := 0
	b.writer.OnOverwrite = func(kind string) {
		if kind != "ConfigMap" {
			t.Errorf("overwrote a %s", kind)
		}
		overwrites++
	}
	object := func(name, data string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Data: map[string]string{"k": data}}
	}
	steps := []Step{
		{Put, object("contested", "ours")}, {Remove, object("surplus", "")},
		{Put, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"}}},
	}
	revert := func() {
		theirs := object("contested", "theirs")
		if _, err := b.kube.CoreV1().ConfigMaps("ns").Update(t.Context(), theirs, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
			t.Fatal(err)
		}
		b.configMaps.show(theirs)
	}
	if _, err := b.writer.Do(t.Context(), steps); err != nil {
		t.Fatal(err)
	}
	for i := range promptOverwrites {
		revert()
		if done, err := b.writer.Do(t.Context(), steps); err != nil || done[0].Change != Updated {
			t.Fatalf("round %d: %v, %v", i, done, err)
		}
	}
	revert()
	b.calls()
	done, err := b.writer.Do(t.Context(), steps)
	conflict, is := errors.AsType[*ConflictError](err)
	if !is || len(conflict.Conflicts) != 1 || !conflict.Conflicts[0].New || conflict.Wait() <= 0 || conflict.Wait() > firstPause {
		t.Fatalf("%v", err)
	}
	if want := `ConfigMap "contested": "kubectl-edit" has been changing it back since 20`; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%q, want %q…", err, want)
	}
	if diff := cmp.Diff([]string{"get"}, b.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(done) != 1 || done[0].Object.GetName() != "other" {
		t.Errorf("done: %v", done)
	}
	if overwrites != promptOverwrites || b.writer.Conflicts() != 1 {
		t.Errorf("%d overwrites, %d conflicts", overwrites, b.writer.Conflicts())
	}
	// Who it is has been asked, and told, once.
	_, err = b.writer.Do(t.Context(), steps)
	if conflict, is = errors.AsType[*ConflictError](err); !is || conflict.Conflicts[0].New || len(b.calls()) > 0 {
		t.Errorf("%#v", err)
	}
}
