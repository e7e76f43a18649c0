package programtest

import "testing"

func TestBuild(t *testing.T) {
	for value, want := range map[string][3]bool{"": {}, "1": {true, false, true}, "all": {true, true, true}} {
		t.Setenv(env, value)
		if got := [3]bool{Build(0, 3), Build(1, 3), Build(2, 3)}; got != want {
			t.Errorf("%s=%q builds %v, want %v", env, value, got, want)
		}
	}
}

func TestOptionalBuildsNothingWhenShort(t *testing.T) {
	if !testing.Short() {
		t.Skip("about -short")
	}
	t.Setenv(env, "")
	t.Setenv("FIREKEEPER_CACHE", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("PATH", "")
	if path, ok := Optional(t, "pause"); ok {
		t.Errorf("built %s", path)
	}
}
