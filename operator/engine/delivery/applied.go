package delivery

import (
	"fmt"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// State says how far a pod has got with a configuration.
type State int

const (
	// NotAsked: the operator has not asked the pod yet.
	NotAsked State = iota
	// Applied: its servers run the content.
	Applied
	// Reloaded: its server has reloaded since the content was written, but nothing
	// reports which content it loaded.
	Reloaded
	// Waiting: the content is on its way, or a server is still starting.
	Waiting
	// Refused: a server rejected the content.
	Refused
	// Silent: the pod does not answer.
	Silent
)

// Outcome is the state of a pod and why, for people and without values that may be
// secret.
type Outcome struct {
	State   State
	Message string
}

// Good reports whether the pod is done.
func (o Outcome) Good() bool { return o.State == Applied || o.State == Reloaded }

// findingOf sums up what reloaders report: a rejection counts most, because only a
// change helps. At least one of them has answered.
func findingOf(replies []reply, want Content) Finding {
	var reports []reload.Report
	silent := 0 // port
	for _, r := range replies {
		if r.err == nil {
			reports = append(reports, r.report)
		} else {
			silent = r.port
		}
	}
	f := Finding{Outcome: Outcome{State: Applied}, Disk: Confirmed, Reload: lastReload(reports)}
	switch {
	case onDisk(reports, want):
	case silent != 0:
		f.Outcome, f.Disk = Outcome{Silent, fmt.Sprintf("its reloader on port %d does not answer", silent)}, Unknown
	default:
		f.Outcome, f.Disk = Outcome{Waiting, "the kubelet has not refreshed its files yet"}, Missing
	}
	for _, r := range reports {
		if r.InputError != nil && r.InputError.Reason == reload.Incomplete {
			f.Outcome, f.Disk = Outcome{Waiting, "its files are being replaced"}, Missing
			return f
		}
		if r.InputError != nil {
			f.Outcome = Outcome{Refused, "its reloader cannot use the files: " + safe(r.InputError.Message)}
			return f
		}
		if f.Disk != Confirmed {
			continue // what a server says is about something older
		}
		for _, t := range r.Targets {
			switch {
			case t.Ready:
			case t.Error != nil && t.Error.Reason == reload.Rejected:
				f.Outcome = Outcome{Refused, "the server rejected it: " + safe(t.Error.Message)}
				return f
			default:
				f.Outcome = Outcome{Waiting, starting}
			}
		}
	}
	return f
}

// lastReload is when a server confirmed a content last.
func lastReload(reports []reload.Report) (at time.Time) {
	for _, r := range reports {
		for _, t := range r.Targets {
			if t.Applied != nil && t.Applied.Time.After(at) {
				at = t.Applied.Time
			}
		}
	}
	return at
}

const starting = "the server has not confirmed it yet"

// onDisk reports whether the content is what the reloaders see.
func onDisk(reports []reload.Report, want Content) bool {
	files, dirs := map[string]bool{}, map[string]string{}
	for _, r := range reports {
		if r.Current == nil {
			continue
		}
		for _, f := range r.Current.Files {
			files[f.InputSHA256] = true
		}
		for _, d := range r.Current.Dirs {
			dirs[d.Path] = d.SHA256
		}
	}
	if want.Config != "" && !files[want.Config] {
		return false
	}
	for path, sum := range want.Dirs {
		if dirs[path] != sum {
			return false
		}
	}
	return true
}

// safe returns what an error of a server says without what may be a value of the
// configuration. The whole text is where the configuration is: in the reloader's log.
func safe(message string) string {
	const more = "see the log of its reloader"
	if said := reload.Safe(message); said != "" {
		return said + " (" + more + ")"
	}
	return more
}
