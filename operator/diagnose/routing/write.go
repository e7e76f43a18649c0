package routing

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/report"
)

// Report is the result of routing an alert.
type Report struct {
	Source string    `json:"source"` // workload or file with the configuration, for example "Alertmanager monitoring/main"
	Labels Labels    `json:"labels"` // labels of the alert
	At     time.Time `json:"at"`     // time for which time intervals are evaluated, in RFC 3339 format
	// Notes lists what is unknown about the labels, and the objects whose routes are missing.
	Notes []string `json:"notes,omitempty"`
	Route Step     `json:"route"`
	// Nearest lists the routes with the fewest unmatched matchers. Absent if the alert causes a notification.
	Nearest      []Near        `json:"nearest,omitempty"`
	InhibitRules []InhibitRule `json:"inhibitRules"` // rules that could inhibit the alert
	// Hints lists probable mistakes in the manifests, human-readable.
	Hints []string `json:"hints,omitempty"`
	// NotReached lists the expected receivers that the alert does not reach.
	NotReached []string `json:"notReached,omitempty"`
}

// Deliveries returns the deliveries of all routes that take the alert, in route order.
func (r Report) Deliveries() []*Delivery { return r.Route.deliveries() }

func (s Step) deliveries() (out []*Delivery) {
	if s.Delivery != nil {
		out = append(out, s.Delivery)
	}
	for _, below := range s.Routes {
		out = append(out, below.deliveries()...)
	}
	return out
}

// Notified returns the receivers that send notifications, sorted and without duplicates.
func (r Report) Notified() []string {
	return r.receivers(func(d *Delivery) bool { return !d.Muted })
}

// Reached returns the receivers that [Report.Notified] returns, and those that are muted.
func (r Report) Reached() []string {
	return r.receivers(func(*Delivery) bool { return true })
}

func (r Report) receivers(counts func(*Delivery) bool) []string {
	names := map[string]bool{}
	for _, d := range r.Deliveries() {
		if len(d.Receiver.Integrations) > 0 && counts(d) {
			names[d.Receiver.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Reaches reports whether the alert reaches a receiver, given by its name in the configuration
// ("demo/team/pager") or in its AlertmanagerConfig ("pager").
func (r Report) Reaches(receiver string) bool {
	return slices.ContainsFunc(r.Deliveries(), func(d *Delivery) bool {
		_, own, _ := owned(d.Receiver.Name)
		return receiver == d.Receiver.Name || receiver == own
	})
}

// Formats are the values of Write's format.
var Formats = report.Formats

// Write writes the report: "text" is human-readable, "json" is for programs.
func (r Report) Write(w io.Writer, format string) error { return report.Write(w, format, r, r.text) }

func (r Report) text(w *strings.Builder) {
	names, now := r.Reached(), r.Notified()
	for i, name := range names {
		names[i] = excerpt.Name(name)
		if !slices.Contains(now, name) {
			names[i] += " (muted)"
		}
	}
	if names == nil {
		names = []string{"no receiver"}
	}
	fmt.Fprintf(w, "%s notifies %s of %s\n", r.Source, strings.Join(names, ", "), labelsText(r.Labels))
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	fmt.Fprintln(w)
	r.Route.text(w, "", r.At)
	for _, near := range r.Nearest {
		fmt.Fprintln(w)
		near.text(w)
	}
	for _, rule := range r.InhibitRules {
		fmt.Fprintln(w)
		rule.text(w)
	}
	if len(r.Hints) > 0 {
		fmt.Fprintln(w)
		rows(w, "", "hint", r.Hints...)
	}
	for _, name := range r.NotReached {
		fmt.Fprintf(w, "\nexpected receiver %s is not reached\n", excerpt.Name(name))
	}
}

// labelsText returns labels as they are written in matchers: {a="b", c="d"}.
func labelsText(of Labels) string {
	all := make([]string, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprintf("%s=%q", excerpt.Name(string(name)), of[name]))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (s Step) text(w *strings.Builder, indent string, at time.Time) {
	fmt.Fprintf(w, "%s%s\n", indent, s.Path)
	indent += "  "
	rows(w, indent, "from", s.Origin.String())
	switch {
	case s.EndedBy != "":
		rows(w, indent, "not tried", s.EndedBy+" matches and has no continue")
		return
	case s.Miss != nil:
		rows(w, indent, "no match", s.Miss.String())
		return
	case len(s.Matchers) > 0:
		rows(w, indent, "matches", strings.Join(s.Matchers, ", "))
	}
	if s.Continue {
		rows(w, indent, "continue", "true")
	}
	if s.Delivery != nil {
		s.Delivery.text(w, indent, at)
	}
	for _, below := range s.Routes {
		below.text(w, indent, at)
	}
}

// String returns a human-readable form: `severity="critical", but severity is "warning"`.
func (m Miss) String() string {
	text := fmt.Sprintf("%s, but %s is %q", m.Matcher, excerpt.Name(m.Label), m.Value)
	if !m.Present {
		text = m.Matcher + ", but there is no label " + excerpt.Name(m.Label)
	}
	if m.Added {
		text += "; the operator adds this matcher, unless spec.alertmanagerConfigMatcherStrategy of the Alertmanager excepts the namespace or is {type: None}"
	}
	return text
}

func (d Delivery) text(w *strings.Builder, indent string, at time.Time) {
	rows(w, indent, "receiver", excerpt.Name(d.Receiver.Name))
	var to []string
	for _, i := range d.Receiver.Integrations {
		to = append(to, i.String())
	}
	if to == nil {
		to = []string{"nothing: the receiver has no integrations"}
	}
	rows(w, indent, "notifies", to...)
	by := "nothing: all alerts of the route are one group"
	if len(d.GroupBy) > 0 {
		by = strings.Join(excerpt.Names(d.GroupBy), ", ")
	}
	rows(w, indent, "group by", by)
	rows(w, indent, "group", excerpt.Name(d.GroupKey))
	rows(w, indent, "times", "group_wait "+d.GroupWait+", group_interval "+d.GroupInterval+", repeat_interval "+d.RepeatInterval)
	rows(w, indent, "mute", intervals(d.MuteTimeIntervals)...)
	rows(w, indent, "active", intervals(d.ActiveTimeIntervals)...)
	if d.Muted {
		rows(w, indent, "muted", "at "+at.Format(time.RFC3339)+" by the intervals above")
	}
}

func intervals(all []Interval) (out []string) {
	for _, i := range all {
		state := "it is not active"
		if i.Active {
			state = "it is active"
		}
		out = append(out, excerpt.Name(i.Name)+": "+state)
	}
	return out
}

func (i InhibitRule) text(w *strings.Builder) {
	title := i.Path
	if i.Name != "" {
		title += " " + excerpt.Name(i.Name)
	}
	fmt.Fprintf(w, "%s can silence it\n", title)
	rows(w, "  ", "from", i.Origin.String())
	rows(w, "  ", "target", matchers(i.TargetMatchers))
	rows(w, "  ", "source", matchers(i.SourceMatchers))
	for _, label := range slices.Sorted(maps.Keys(i.Equal)) {
		text := fmt.Sprintf("%s=%q", excerpt.Name(label), i.Equal[label])
		if i.Equal[label] == "" {
			text = excerpt.Name(label) + ": this alert has none, so every source without it is equal"
		}
		rows(w, "  ", "equal", text)
	}
	if i.BothSides {
		rows(w, "  ", "but", "this alert matches the source too, so alerts that match both sides do not silence it")
	}
}

func matchers(all []string) string {
	if len(all) == 0 {
		return "every alert"
	}
	return strings.Join(all, ", ")
}

// rows writes values on consecutive lines, the first one after its name.
func rows(w *strings.Builder, indent, name string, values ...string) {
	for _, value := range values {
		fmt.Fprintf(w, "%s%-9s  %s\n", indent, name, value)
		name = ""
	}
}
