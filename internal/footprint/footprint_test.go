package footprint

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTune(t *testing.T) {
	gc, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetGCPercent(gc); debug.SetMemoryLimit(limit) })
	t.Setenv("GOGC", "")
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	Tune(0, log)
	if got := debug.SetGCPercent(gcPercent); got != gcPercent || debug.SetMemoryLimit(-1) != limit || logged.Len() > 0 {
		t.Errorf("GC percent %d, limit %d, log %q", got, debug.SetMemoryLimit(-1), logged.String())
	}
	Tune(0.5, log)
	if debug.SetMemoryLimit(-1) == limit || !strings.Contains(logged.String(), "gomemlimit_bytes=") {
		t.Errorf("limit %d, log %q", debug.SetMemoryLimit(-1), logged.String())
	}
}

func TestTrimmerPlansOneRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var trim Trimmer
		h := trim.Wrap(http.NotFoundHandler())
		for range 3 {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest("GET", "/", nil))
			if rec.Code != 404 || !trim.due.Load() {
				t.Fatalf("answer %d, planned %v", rec.Code, trim.due.Load())
			}
		}
		time.Sleep(2 * trimDelay)
		if trim.due.Load() {
			t.Error("still planned")
		}
	})
}

// TestBrief: a command collects garbage less often, unless the user sets a percentage.
func TestBrief(t *testing.T) {
	before, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(before)
		debug.SetMemoryLimit(limit)
	})
	t.Setenv("GOGC", "50")
	Brief()
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC, the percentage became %d", got)
	}
	t.Setenv("GOGC", "")
	Brief()
	if got := debug.SetGCPercent(100); got != briefPercent {
		t.Errorf("the percentage is %d, want %d", got, briefPercent)
	}
}
