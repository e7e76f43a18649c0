package delivery

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// A finding has the last changes of all reloaders. The time of the write
// distinguishes two times at which a content was there.
func TestWhen(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2024, 5, 1, 10, 0, second, 0, time.UTC) }
	config := report("aa", reload.TargetReport{Ready: true})
	config.Current.Time = at(30)
	config.Recent = []reload.Recent{{Path: "/c", SHA256: "aa", Found: at(10), Loaded: at(11)}, {Path: "/c", SHA256: "bb", Found: at(20)}, {Path: "/c", SHA256: "aa", Found: at(30), Loaded: at(31)}}
	rules := report("", reload.TargetReport{Ready: true})
	rules.Current.Time = at(5)
	rules.Recent = []reload.Recent{{Path: "/r", SHA256: "11", Found: at(5), Loaded: at(6)}}
	f := findingOf([]reply{{report: config}, {report: rules}}, Content{Config: "aa"})
	if f.State != Applied || !f.OnDisk.Equal(at(30)) {
		t.Errorf("%+v", f)
	}
	for name, tc := range map[string]struct {
		path, sum     string
		written       time.Time
		found, loaded time.Time
	}{
		"the first time":    {"", "aa", at(9), at(10), at(11)},
		"the second time":   {"", "aa", at(28), at(30), at(31)},
		"never loaded":      {"", "bb", at(19), at(20), time.Time{}},
		"of another reload": {"/r", "11", at(5), at(5), at(6)},
		"another folder":    {"/other", "11", at(5), time.Time{}, time.Time{}},
		"not known":         {"", "cc", at(5), time.Time{}, time.Time{}},
	} {
		if found, loaded := f.When(tc.path, tc.sum, tc.written); !found.Equal(tc.found) || !loaded.Equal(tc.loaded) {
			t.Errorf("%s: found %s, loaded %s", name, found, loaded)
		}
	}
}

func TestSince(t *testing.T) {
	before := Content{Config: "a", Dirs: map[string]string{"/gone": "1", "/same": "2", "/other": "3"}}
	now := Content{Config: "b", Dirs: map[string]string{"/same": "2", "/other": "4", "/new": "5"}}
	if diff := cmp.Diff(map[string]string{"": "b", "/other": "4", "/new": "5"}, now.Since(before)); diff != "" {
		t.Error(diff)
	}
	if got := now.Since(now); len(got) > 0 {
		t.Error(got)
	}
}
