package commands

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// TestReadiness: an operator is ready once all controllers that could start are, and stays
// so when further ones follow.
func TestReadiness(t *testing.T) {
	r := &readiness{}
	if r.ok() {
		t.Error("ready before it is known how many controllers there are")
	}
	r.synced() // as soon as it runs
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

// TestLeaderOutsideOfAPod: the namespace of the Lease must be known, if there is one.
func TestLeaderOutsideOfAPod(t *testing.T) {
	if _, err := os.Stat(podNamespace); err == nil {
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
