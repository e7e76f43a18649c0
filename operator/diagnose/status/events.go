package status

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxEvents is the maximum number of Events on a page.
const maxEvents = 10

// Event is an Event about the workload or one of its objects.
type Event struct {
	Last    time.Time `json:"last"`  // time of the last occurrence in RFC 3339 format
	Count   int32     `json:"count"` // number of occurrences
	Type    string    `json:"type"`  // Normal or Warning
	Reason  string    `json:"reason"`
	About   string    `json:"about"` // object of the Event, for example "StatefulSet prometheus-main"
	Message string    `json:"message"`
}

// EventsOf returns the last Events, oldest first.
func EventsOf(all []corev1.Event) []Event {
	out := []Event{}
	for _, e := range all {
		out = append(out, Event{
			Last: lastOf(e), Count: max(1, e.Count), Type: e.Type, Reason: e.Reason,
			About: e.InvolvedObject.Kind + " " + e.InvolvedObject.Name, Message: e.Message,
		})
	}
	slices.SortStableFunc(out, func(a, b Event) int { return a.Last.Compare(b.Last) })
	return out[max(0, len(out)-maxEvents):]
}

func lastOf(e corev1.Event) time.Time {
	last := e.EventTime.Time
	for _, t := range []time.Time{e.FirstTimestamp.Time, e.LastTimestamp.Time, e.CreationTimestamp.Time} {
		if t.After(last) {
			last = t
		}
	}
	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}
	return last.UTC()
}
