package targetreport

import (
	"encoding/json"
	"fmt"
)

// Limits of a watch.
const (
	// MaxWatch is the maximum size of a watch in bytes.
	MaxWatch = 256 << 10
	// MaxWatchUnits and MaxWatchTargets are the maximum numbers of units, and of addresses of all of them.
	MaxWatchUnits   = 1000
	MaxWatchTargets = 10_000
	// MaxUnitID is the maximum size of the ID of a unit in bytes.
	MaxUnitID = 16
)

// Watch is a line of the stream, {"watch":{"seq":3,"units":[…]}}, with the units whose scrapes the discovery service waits
// for. It replaces the previous watch, and refers to the last complete list. While it has units, the pod polls Prometheus
// for the targets of their jobs, and reports each change.
type Watch struct {
	// Seq grows with each watch of a leader. Reports repeat it.
	Seq   uint64      `json:"seq"`
	Units []WatchUnit `json:"units"`

	targets, size int // of the units that Add added
}

// WatchUnit are targets that are watched together.
type WatchUnit struct {
	// ID is chosen by the service, without a meaning for the pod.
	ID string `json:"id"`
	// Targets are discovered addresses by job.
	Targets map[string][]string `json:"targets"`
}

// Add adds a unit if the watch is within the limits with it, and returns whether it did.
func (w *Watch) Add(u WatchUnit) bool {
	text, err := json.Marshal(u)
	if err != nil || !u.valid() {
		return false
	}
	const frame = 100 // more than all of the watch but its units
	size, targets := w.size+len(text)+1, w.targets+u.count()
	if len(w.Units) == MaxWatchUnits || targets > MaxWatchTargets || size+frame > MaxWatch {
		return false
	}
	w.Units, w.size, w.targets = append(w.Units, u), size, targets
	return true
}

// DecodeWatch returns the watch in JSON of at most MaxWatch.
//
// Errors: it is no watch, or exceeds the limits.
func DecodeWatch(text []byte) (Watch, error) {
	if len(text) > MaxWatch {
		return Watch{}, fmt.Errorf("the watch has more than %d bytes", MaxWatch)
	}
	var got Watch
	if err := json.Unmarshal(text, &got); err != nil {
		return Watch{}, fmt.Errorf("the watch is not valid: %w", err)
	}
	if len(got.Units) > MaxWatchUnits {
		return Watch{}, fmt.Errorf("the watch has more than %d units", MaxWatchUnits)
	}
	targets, ids := 0, map[string]bool{}
	for _, u := range got.Units {
		if !u.valid() || ids[u.ID] {
			return Watch{}, fmt.Errorf("the watch has the unit %.100q, whose ID or a name is too long or occurs twice, or which has no targets", u.ID)
		}
		ids[u.ID] = true
		if targets += u.count(); targets > MaxWatchTargets {
			return Watch{}, fmt.Errorf("the watch has more than %d targets", MaxWatchTargets)
		}
	}
	return got, nil
}

func (u *WatchUnit) count() (n int) {
	for _, addresses := range u.Targets {
		n += len(addresses)
	}
	return n
}

func (u *WatchUnit) valid() bool {
	if !validID(u.ID) || u.count() == 0 {
		return false
	}
	for job, addresses := range u.Targets {
		if len(job) > MaxName {
			return false
		}
		for _, address := range addresses {
			if len(address) > MaxName {
				return false
			}
		}
	}
	return true
}

func validID(id string) bool { return id != "" && len(id) <= MaxUnitID && quotable(id) }

// quotable reports whether an ID needs no escapes in JSON.
func quotable(id string) bool {
	for i := range len(id) {
		if c := id[i]; (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' {
			return false
		}
	}
	return true
}
