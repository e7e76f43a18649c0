package delivery

import (
	"fmt"
	"math"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// State is the progress of a pod with a configuration.
type State int

const (
	// NotAsked: the operator has not queried the pod yet.
	NotAsked State = iota
	// Applied: its servers run the content.
	Applied
	// Reloaded: its server has reloaded since the content was written, but the loaded content is
	// not reported.
	Reloaded
	// Waiting: the content is in flight, or a server is still starting.
	Waiting
	// Refused: a server rejected the content.
	Refused
	// Silent: the pod does not respond.
	Silent
)

// Outcome is the state of a pod and a human-readable reason without values that may be secret.
type Outcome struct {
	State   State
	Message string
}

// Good reports whether the pod needs no further work.
func (o Outcome) Good() bool { return o.State == Applied || o.State == Reloaded }

// findingOf summarizes the reports of the reloaders. A rejection takes precedence, because only a
// change resolves it. At least one reloader must have responded.
func findingOf(replies []reply, want Content) Finding {
	var reports []reload.Report
	silent := 0 // port of a reloader that did not respond
	for _, r := range replies {
		if r.err == nil {
			reports = append(reports, r.report)
		} else {
			silent = r.port
		}
	}
	f := Finding{Outcome: Outcome{State: Applied}, Disk: Confirmed, Reload: lastReload(reports)}
	for _, r := range reports {
		f.Recent = append(f.Recent, r.Recent...)
	}
	switch {
	case onDisk(reports, want):
		f.OnDisk = lastFound(reports)
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
			continue // the servers' reports are about an older content
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

// lastReload returns the latest time at which a server confirmed a content.
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

// lastFound returns the latest time at which a reloader found a change on the disk.
func lastFound(reports []reload.Report) (at time.Time) {
	for _, r := range reports {
		if r.Current != nil && r.Current.Time.After(at) {
			at = r.Current.Time
		}
	}
	return at
}

// When returns when a file or directory with a checksum was found on the pod's disk and loaded by its
// servers, for a content that was written at a time; zero if the pod does not report it.
func (f Finding) When(path, sum string, written time.Time) (found, loaded time.Time) {
	nearest := time.Duration(math.MaxInt64)
	for _, r := range f.Recent {
		distance := r.Found.Sub(written).Abs() // the same content may have been written twice
		if r.SHA256 == sum && (path == "" || r.Path == path) && distance < nearest {
			nearest, found, loaded = distance, r.Found, r.Loaded
		}
	}
	return found, loaded
}

const starting = "the server has not confirmed it yet"

// onDisk reports whether the reloaders see the content.
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

// safe returns a server's error message without possible values of the configuration. The full text
// is in the reloader's log, where the configuration is readable as well.
func safe(message string) string {
	const more = "see the log of its reloader"
	if said := reload.Safe(message); said != "" {
		return said + " (" + more + ")"
	}
	return more
}
