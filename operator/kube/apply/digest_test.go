package apply

import (
	"crypto/sha256"
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
	var s sums

	secret := &corev1.Secret{ObjectMeta: made, Data: map[string][]byte{"k": value}}
	step := PutSecret(secret, map[string][sha256.Size]byte{"k": sum})
	if got := step.Sums()["k"]; got != string(sum[:]) {
		t.Errorf("the step has the digest %x", got)
	}
	forget := know(&s, secret.Data, step.Sums())
	if got := s.secret(secret).Data["k"]; string(got) != string(sum[:]) {
		t.Errorf("conflicts are detected with the digest %x", got)
	}
	returned := &corev1.Secret{ObjectMeta: made, Data: secret.Data} // as contentEndpoint.Update returns it
	live := s.trimSecret(returned)
	if live.StringData["k"] != string(sum[:]) || live.Data != nil {
		t.Errorf("the write is remembered as %v", live)
	}
	if !s.sameSecret(secret, live) {
		t.Error("what was written is not as wanted")
	}
	forget()
	if s.sameSecret(secret, live) || len(s.of) > 0 {
		t.Error("a digest is used for longer than the write")
	}

	rules := &corev1.ConfigMap{ObjectMeta: made, Data: map[string]string{"k": "value"}}
	step = PutConfigMap(rules, map[string][sha256.Size]byte{"k": sum})
	defer know(&s, rules.Data, step.Digests)()
	if got := s.configMap(rules).BinaryData["k"]; string(got) != string(sum[:]) {
		t.Errorf("conflicts about rules are detected with the digest %x", got)
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
