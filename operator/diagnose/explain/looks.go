package explain

import (
	"slices"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
)

// looks records the discovery of the jobs of an accepted object, its ServiceAccount, and hints
// about probable mistakes. text and own are the values of [fragments.Result.Texts].
//
// Errors: a text cannot be parsed.
func (c Candidate) looks(text, own string, q *Question, v *Result) error {
	searches, err := nearmiss.Read(q.Object, text, own, c.Object.GetNamespace())
	if err != nil {
		return err
	}
	account := nearmiss.AccountOf(c.Object)
	for i := range searches {
		v.LooksFor = appendNew(v.LooksFor, searches[i].String())
		v.FoundBy = appendNew(v.FoundBy, searches[i].Discoverer())
		v.As = appendNew(v.As, searches[i].Account(account))
	}
	if q.Look != nil {
		uses := []nearmiss.Use{{Kind: q.Row.Kind, Object: q.Object, Searches: searches}}
		var view *nearmiss.View
		view, v.Unknown = q.Look(c.Object, uses)
		if q.Findings == nil { // otherwise lint reports them
			v.Hints = append(v.Hints, ofObject(append(view.Hints(uses[0], c.Object.GetNamespace()), view.Blocked(c.Object, uses[0])...))...)
		}
		v.Hints = append(v.Hints, c.ofWorkload(q, slices.Concat(view.Permissions(c.Object, uses), view.ScrapePermissions(c.Object, uses), nearmiss.Tokenless(c.Object, uses)))...)
	}
	return nil
}

// alerts records where the alerts of a PrometheusRule are sent.
func (c Candidate) alerts(q *Question, v *Result) {
	rule, isRule := q.Object.(*v1.PrometheusRule)
	server, isServer := c.Object.(*v1.Prometheus)
	if !isRule || !isServer || !slices.ContainsFunc(rule.Spec.Groups, func(g v1.RuleGroup) bool {
		return slices.ContainsFunc(g.Rules, func(r v1.Rule) bool { return r.Alert != "" })
	}) {
		return
	}
	if c.Unwritten {
		v.Alerts = []string{"not evaluated or sent, unless the configuration that you write names this file and an Alertmanager"}
		return
	}
	searches := nearmiss.Alertmanagers(server)
	for i := range searches {
		v.Alerts = appendNew(v.Alerts, "sent to "+searches[i].String())
	}
	if server.Spec.AdditionalAlertManagerConfigs != nil {
		v.Alerts = append(v.Alerts, "sent to what spec.additionalAlertManagerConfigs says")
	}
	if len(v.Alerts) == 0 {
		v.Alerts = []string{"not sent anywhere: spec.alerting of the Prometheus is not set"}
	}
	if q.Look != nil {
		var view *nearmiss.View
		uses := []nearmiss.Use{{Kind: c.Setup.Row.Kind, Object: server, Searches: searches}}
		view, v.Unknown = q.Look(server, uses)
		if q.Findings == nil { // otherwise lint reports them
			v.Hints = append(v.Hints, c.ofWorkload(q, view.Alerting(server))...)
		}
		v.Hints = append(v.Hints, c.ofWorkload(q, view.Permissions(server, uses))...)
	}
}

// appendNew appends text unless it is empty or already present.
func appendNew(all []string, text string) []string {
	if text == "" || slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}

// hints returns the hints as human-readable lines.
func (v Result) hints() (out []string) {
	for _, h := range v.Hints {
		out = append(out, h.String())
	}
	return out
}
