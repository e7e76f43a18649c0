package delivery

import (
	"context"

	"github.com/firekeeper-dev/firekeeper/internal/reload"
)

// State is what a pod makes of a content.
type State int

const (
	// NotAsked: there was no time yet.
	NotAsked State = iota
	// Applied: its servers run the content.
	Applied
	// Waiting: the content is on its way, or a server is still starting.
	Waiting
	// Refused: a server does not take the content.
	Refused
	// Silent: the pod cannot be asked.
	Silent
)

// Outcome is the state of a pod and why, for people and without values that may be
// secret.
type Outcome struct {
	State   State
	Message string
}

// AskOutcome asks the reloaders of a pod what became of the content.
func AskOutcome(ctx context.Context, pod Pod, want Content) Outcome {
	var reports []reload.Report
	for _, port := range pod.Ports {
		if report, err := fetch(ctx, pod, port); err == nil {
			reports = append(reports, report)
		}
	}
	return outcomeOf(reports, want)
}

// outcomeOf decides: what is refused counts most, as nothing but a change helps.
func outcomeOf(reports []reload.Report, want Content) Outcome {
	if len(reports) == 0 {
		return Outcome{Silent, "its reloaders do not answer"}
	}
	out := Outcome{State: Applied}
	if !onDisk(reports, want) {
		out = Outcome{Waiting, "the kubelet has not refreshed its files yet"}
	}
	for _, r := range reports {
		if r.InputError != nil {
			return Outcome{Refused, "its reloader cannot use the files: " + safe(r.InputError.Message)}
		}
		if out.State == Waiting && out.Message != starting {
			continue // what a server says is about something older
		}
		for _, t := range r.Targets {
			switch {
			case t.Ready:
			case t.Error != nil && t.Error.Reason == reload.Rejected:
				return Outcome{Refused, "the server refuses it: " + safe(t.Error.Message)}
			default:
				out = Outcome{Waiting, starting}
			}
		}
	}
	return out
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
	const more = "the log of its reloader has all of it"
	if said := reload.Safe(message); said != "" {
		return said + " (" + more + ")"
	}
	return more
}
