package informer

import (
	"errors"
	"testing"
)

type tally struct{ lists, failedLists, watches, failedWatches int }

func (c *tally) Listed(err error) {
	c.lists++
	if err != nil {
		c.failedLists++
	}
}

func (c *tally) Watched(err error) {
	c.watches++
	if err != nil {
		c.failedWatches++
	}
}

// Calls of a store are counted for each of its controllers.
func TestCallsAreCountedForAllReaders(t *testing.T) {
	var servers, agents tally
	shared := CallsOf(&servers)
	shared.listed(nil)
	shared.CountFor(&agents)
	shared.listed(errors.New("no"))
	shared.watched(nil)
	if want := (tally{2, 1, 1, 0}); servers != want {
		t.Errorf("servers: %+v, want %+v", servers, want)
	}
	if want := (tally{1, 1, 1, 0}); agents != want {
		t.Errorf("agents: %+v, want %+v", agents, want)
	}
}
