package message

import (
	"slices"
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

func TestRepeatedFields(t *testing.T) {
	container := func(ports ...int32) (out corev1.Container) {
		for _, p := range ports {
			out.Ports = append(out.Ports, corev1.ContainerPort{Name: "web", HostPort: 7, ContainerPort: p})
		}
		return out
	}
	pod := corev1.Pod{Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{container(80, 8080), container(), container(9090)}}}
	text, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for c := range All(Field(text, 2), 2) {
		for p := range All(c, 6) {
			got = append(got, Varint(p, 3))
		}
	}
	if want := []uint64{80, 8080, 9090}; !slices.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
	if n := Varint(text, 3); n != 0 {
		t.Errorf("%d of a field that is no number", n)
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
		for part := range All(text, 2) {
			_ = Varint(part, 3)
		}
	})
}
