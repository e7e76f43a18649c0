package commands

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// An operator is ready once all controllers that could start have synced, and stays ready
// when more controllers start.
func TestReadiness(t *testing.T) {
	r := &readiness{}
	if r.ok() {
		t.Error("ready before it is known how many controllers there are")
	}
	r.synced() // a controller may sync immediately
	r.expect(2)
	if r.ok() {
		t.Error("ready with one of two")
	}
	r.synced()
	if !r.ok() {
		t.Error("not ready with both")
	}
	r.synced()
	if !r.ok() {
		t.Error("not ready after one that came later")
	}
	none := &readiness{}
	if none.expect(0); !none.ok() {
		t.Error("not ready although nothing can start")
	}
}

// With leader election outside of a pod, the namespace of the Lease must be given.
func TestLeaderOutsideOfAPod(t *testing.T) {
	if _, err := os.Stat(namespaceFile); err == nil {
		t.Skip("this is a pod")
	}
	log := slog.New(slog.DiscardHandler)
	if _, err := (&leaderFlags{Elect: true, Lease: "a"}).leader(t.Context(), &rest.Config{}, log); err == nil || !strings.HasPrefix(err.Error(), "--leader-elect-namespace: ") {
		t.Errorf("got %v", err)
	}
	alone, err := (&leaderFlags{}).leader(t.Context(), &rest.Config{}, log)
	if err != nil || !alone.Leads() {
		t.Errorf("without --leader-elect: %v", err)
	}
}
