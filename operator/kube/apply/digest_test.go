package apply

import (
	"crypto/sha256"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestValuesAreHashedOnce: the writer uses the digests of a step for the comparison, for the record of its write and
// for the detection of conflicts. The digest in this test is not that of the value, so that hashing it once more would
// be noticed.
func TestValuesAreHashedOnce(t *testing.T) {
	made := metav1.ObjectMeta{Namespace: "ns", Name: "a"}
	value, sum := []byte("value"), [sha256.Size]byte{1, 2, 0xff}
	var w Writer

	secret := &corev1.Secret{ObjectMeta: made, Data: map[string][]byte{"k": value}}
	step := PutSecret(secret, map[string][sha256.Size]byte{"k": sum})
	if got := step.Sums()["k"]; got != string(sum[:]) {
		t.Errorf("the step has the digest %x", got)
	}
	k := w.secretOf(secret, step.Sums())
	if got := k.summary(secret).Data["k"]; string(got) != string(sum[:]) {
		t.Errorf("conflicts are detected with the digest %x", got)
	}
	live := k.keep(&corev1.Secret{ObjectMeta: made, Data: secret.Data}) // as contentEndpoint.Update returns it
	if live.StringData["k"] != string(sum[:]) || live.Data != nil {
		t.Errorf("the write is remembered as %v", live)
	}
	if !k.same(secret, live) {
		t.Error("what was written is not as wanted")
	}
	if live := k.keep(&corev1.Secret{ObjectMeta: made, Data: maps.Clone(secret.Data)}); live.StringData["k"] != DigestValue(value) {
		t.Error("what the API server returned is not hashed")
	}
}

// TestTextsAreOnlyForWrites: the texts of a ConfigMap are needed only when it is written. The digest in this test is not
// that of the text, so that hashing it would be noticed.
func TestTextsAreOnlyForWrites(t *testing.T) {
	made, calls := metav1.ObjectMeta{Namespace: "ns", Name: "a"}, 0
	server, _ := metadataServer(t)
	w := NewWriter(server, Caches{})
	k := w.configMapOf(func() map[string]Value { calls++; return plainValues(map[string]string{"k": "value"}) })
	want := digestedConfigMap(&corev1.ConfigMap{ObjectMeta: made}, map[string]string{"k": "sum"})
	if got := k.summary(want).BinaryData["k"]; string(got) != "sum" {
		t.Errorf("conflicts are detected with %q", got)
	}
	if live := digestedConfigMap(&corev1.ConfigMap{ObjectMeta: made}, map[string]string{"k": "sum"}); !k.same(want, live) || calls > 0 {
		t.Errorf("same as an equal one: %t; the texts were needed %d times", k.same(want, live), calls)
	}
	got, err := k.api("ns").Update(t.Context(), want, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if live := k.keep(got); live.Data["k"] != "sum" || !k.same(want, live) || len(live.ManagedFields) > 0 || len(got.ManagedFields) == 0 {
		t.Errorf("the write is remembered as %v", live)
	}
	if calls != 1 {
		t.Errorf("the texts were needed %d times", calls)
	}
	if live := k.keep(&corev1.ConfigMap{ObjectMeta: made, Data: map[string]string{"k": "value"}}); live.Data["k"] != DigestValue([]byte("value")) {
		t.Error("what the API server returned is not hashed")
	}
}

// TestConfigMapsAreDigestedOnce: informers may transform an object twice.
func TestConfigMapsAreDigestedOnce(t *testing.T) {
	m := &corev1.ConfigMap{Data: map[string]string{"k": "value"}, BinaryData: map[string][]byte{"b": []byte("value")}}
	once := DigestConfigMap(m)
	if once.Data["k"] != DigestValue([]byte("value")) || len(once.BinaryData) != 2 || once.BinaryData["b"] != nil {
		t.Errorf("%+v", once)
	}
	if twice := DigestConfigMap(once); twice != once || m.Data["k"] != "value" {
		t.Errorf("again: %+v, before: %+v", twice, m)
	}
}

// TestUnknownSumsAreComputed: values that a step has no digest of are hashed.
func TestUnknownSumsAreComputed(t *testing.T) {
	secret := &corev1.Secret{Data: map[string][]byte{"k": []byte("value"), "other": []byte("x")}}
	for name, step := range map[string]Step{
		"none": {Verb: Put, Object: secret}, "one": PutSecret(secret, map[string][sha256.Size]byte{"other": sha256.Sum256([]byte("x"))}),
	} {
		if got := step.Sums(); len(got) != 2 || got["k"] != DigestValue([]byte("value")) || got["other"] != DigestValue([]byte("x")) {
			t.Errorf("%s: %x", name, got)
		}
	}
}
