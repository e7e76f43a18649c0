package workload

import (
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
		if got := VolumeName("secret-", object); got != want {
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
			name := VolumeName(prefix, object)
			if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
				t.Errorf("VolumeName(%q) = %q: %v", object, name, errs)
			}
			if again := VolumeName("", name); again != name {
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
	if err := CheckVolumeNames([]corev1.Volume{{Name: "a"}, {Name: "b"}}); err != nil {
		t.Error(err)
	}
	if err := CheckVolumeNames([]corev1.Volume{{Name: "a"}, {Name: "b"}, {Name: "a"}}); err == nil {
		t.Error("the same name twice is accepted")
	}
}
