package workload

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestVolumeName(t *testing.T) {
	for object, want := range map[string]string{
		"web":                          "secret-web",
		"My.Secret__1":                 "secret-my-secret-1",
		"...":                          "secret",
		strings.Repeat("a", 70):        "secret-" + strings.Repeat("a", 56),
		strings.Repeat("a", 55) + ".b": "secret-" + strings.Repeat("a", 55),
	} {
		if got := volumeName("secret-", object); got != want {
			t.Errorf("%q: %q, want %q", object, got, want)
		}
	}
	const want = "web-config-tls-secret-key-some-secret-3556f148"
	if got := uniqueVolumeName("web-config-tls-secret-key-", "some-secret"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := strings.Repeat("x", 100)
	if uniqueVolumeName("p-", long+"1") == uniqueVolumeName("p-", long+"2") {
		t.Error("two objects share a volume name")
	}
}

func FuzzVolumeName(f *testing.F) {
	f.Add("web")
	f.Add("A.b_C")
	f.Add(strings.Repeat("a-", 40))
	f.Add("\xff\x00")
	f.Fuzz(func(t *testing.T, object string) {
		for _, prefix := range []string{"secret-", "configmap-"} {
			name := volumeName(prefix, object)
			if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
				t.Errorf("VolumeName(%q) = %q: %v", object, name, errs)
			}
			if again := volumeName("", name); again != name {
				t.Errorf("not stable: %q then %q", name, again)
			}
		}
		name := uniqueVolumeName("web-config-tls-configmap-client-ca-", object)
		if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
			t.Errorf("uniqueVolumeName(%q) = %q: %v", object, name, errs)
		}
	})
}

func TestCheckVolumeNames(t *testing.T) {
	volumes := func(names ...string) (out []corev1.Volume) {
		for _, name := range names {
			out = append(out, corev1.Volume{Name: name})
		}
		return out
	}
	for want, in := range map[string][2][]corev1.Volume{
		"<nil>":                           {volumes("a", "b"), volumes("c")},
		`spec: two volumes are named "a"`: {volumes("a", "b", "a"), nil},
		`spec.volumes[1].name: "a" is the name of a volume of the operator; give yours another name`: {volumes("a"), volumes("b", "a")},
		`spec.volumes[1].name: "b" is the name of spec.volumes[0]; give one of them another name`:    {volumes("a"), volumes("b", "b")},
	} {
		if got := fmt.Sprint(checkVolumeNames(in[0], in[1])); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
