package message

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func encoded(t testing.TB) []byte {
	t.Helper()
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 7, Namespace: "demo"}, Spec: corev1.PodSpec{NodeName: "n1"}}
	text, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestField(t *testing.T) {
	text := encoded(t)
	for want, path := range map[string][]protowire.Number{"web": {1, 1}, "demo": {1, 3}, "n1": {2, 10}, "": {1, 7}} {
		if got := string(Field(text, path...)); got != want {
			t.Errorf("%v: %q instead of %q", path, got, want)
		}
	}
	if got := string(Field(text[:6], 1, 1)); got != "we" {
		t.Errorf("of a truncated message: %q", got)
	}
}

// FuzzField looks for a field in messages with any content.
func FuzzField(f *testing.F) {
	f.Add(encoded(f))
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := Field(text, 1, 1); len(got) > len(text) {
			t.Errorf("%d of %d bytes", len(got), len(text))
		}
	})
}
