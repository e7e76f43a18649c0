package delivery

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// Responses from clocks that may be that of the operator do not change times; the difference of others is found with
// half a second of error, and half the time of the request.
func TestClockOf(t *testing.T) {
	sent := time.Date(2026, 11, 29, 12, 0, 0, 700e6, time.UTC)
	received := sent.Add(40 * time.Millisecond)
	for ahead := -time.Minute; ahead <= time.Minute; ahead += 70 * time.Millisecond {
		got := clockOf(sent.Add(20*time.Millisecond+ahead).Truncate(time.Second), sent, received)
		if got == (clock{}) {
			if ahead.Abs() > 1100*time.Millisecond {
				t.Errorf("%s ahead: no difference", ahead)
			}
			continue
		}
		if off := (got.ahead - ahead).Abs(); off > got.error || got.error > 520*time.Millisecond {
			t.Errorf("%s ahead: got %s, error %s, which may be %s", ahead, got.ahead, off, got.error)
		}
	}
	for _, ahead := range []time.Duration{0, 10 * time.Millisecond, -10 * time.Millisecond} {
		if got := clockOf(sent.Add(20*time.Millisecond+ahead).Truncate(time.Second), sent, received); got != (clock{}) {
			t.Errorf("%s ahead: got %+v", ahead, got)
		}
	}
	if got := clockOf(time.Time{}, sent, received); got != (clock{}) {
		t.Errorf("without a date: %+v", got)
	}
}

// Times that a reloader reports are converted to the clock of the operator.
func TestTimesOfAnotherClock(t *testing.T) {
	const ahead = 90 * time.Second
	began := time.Now().Truncate(time.Millisecond)
	here := func(d time.Duration) time.Time { return began.Add(ahead + d) } // on that clock
	content := reload.Content{Files: []reload.FileSum{{InputSHA256: "aa"}}}
	pod := reference{ahead: ahead}.start(t)
	pod.Ports[0] = serve(t, atClock(ahead, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(reload.Report{
			Ready: true, Current: &reload.Stamped{Content: content, Time: here(-time.Second)},
			Targets: []reload.TargetReport{{Ready: true, Applied: &reload.Stamped{Content: content, Time: here(0)}}},
			Recent:  []reload.Recent{{SHA256: "aa", Found: here(-time.Second), Loaded: here(0)}, {SHA256: "bb", Found: here(-time.Minute)}},
		})
	})))
	f, _ := Query(t.Context(), pod, Wanted{Content: Content{Config: "aa"}, Since: began}, slowLimit)
	found, loaded := f.When("", "aa", began)
	older, never := f.When("", "bb", began)
	for _, tc := range []struct {
		name      string
		got, want time.Time
	}{
		{"on disk", f.OnDisk, began.Add(-time.Second)}, {"reload", f.Reload, began},
		{"found", found, began.Add(-time.Second)}, {"loaded", loaded, began}, {"found before", older, began.Add(-time.Minute)},
	} {
		if off := tc.got.Sub(tc.want).Abs(); off > time.Second {
			t.Errorf("%s is %s off", tc.name, off)
		}
	}
	if !never.IsZero() || f.State != Applied {
		t.Errorf("never loaded at %s, state %v", never, f.State)
	}
}
