package amconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
)

// OpsGenie is one entry of opsgenie_configs.
type OpsGenie struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIKey overrides the global one.
	APIKey string `yaml:"api_key,omitempty"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// Message is the headline.
	Message string `yaml:"message,omitempty"`
	// Description is the long text.
	Description string `yaml:"description,omitempty"`
	// Source of the alert.
	Source string `yaml:"source,omitempty"`
	// Details are additional properties.
	Details map[string]string `yaml:"details,omitempty"`
	// Entity is the affected entity.
	Entity string `yaml:"entity,omitempty" since:"alertmanager=0.24.0"`
	// Responders are notified.
	Responders []OpsGenieResponder `yaml:"responders,omitempty"`
	// Actions is a comma-separated list of available actions.
	Actions string `yaml:"actions,omitempty" since:"alertmanager=0.24.0"`
	// Tags is a comma-separated list.
	Tags string `yaml:"tags,omitempty"`
	// Note of the alert.
	Note string `yaml:"note,omitempty"`
	// Priority is P1 to P5.
	Priority string `yaml:"priority,omitempty"`
	// UpdateAlerts updates message and description of open alerts.
	UpdateAlerts *bool `yaml:"update_alerts,omitempty" since:"alertmanager=0.24.0"`
}

// OpsGenieResponder is an item of responders.
type OpsGenieResponder struct {
	// ID of the responder.
	ID string `yaml:"id,omitempty"`
	// Name of a team, escalation or schedule.
	Name string `yaml:"name,omitempty"`
	// Username of a user.
	Username string `yaml:"username,omitempty"`
	// Type is one of [responderTypes] or a template.
	Type string `yaml:"type,omitempty"`
}

// teams is the type of a responder with a list of teams.
const teams = "teams"

var responderTypes = []string{"team", teams, "user", "escalation", "schedule"}

func checkOpsGenie(in *v1alpha1.OpsGenieConfig) error {
	return errors.Join(faults.Each("responders", in.Responders, checkResponder), checkOptionalURL("apiURL", in.APIURL), checkHTTP(in.HTTPConfig))
}

func checkResponder(r *v1alpha1.OpsGenieConfigResponder) error {
	switch {
	case r.ID == "" && r.Name == "" && r.Username == "":
		return errors.New("one of id, name and username is needed")
	case isTemplate(r.Type):
		return checkLoadedTemplate("type", r.Type)
	case !slices.Contains(responderTypes, strings.ToLower(r.Type)):
		return faults.At("type", fmt.Errorf("%q is none of %s", excerpt.Of(r.Type, maxShown), strings.Join(responderTypes, ", ")))
	}
	return nil
}

func (c *compiler) opsGenie(in *v1alpha1.OpsGenieConfig) (OpsGenie, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	key, keyErr := c.orGlobal("apiKey", in.APIKey, c.globals.OpsGenieKey)
	responders, err := c.responders(in.Responders)
	return OpsGenie{
		Notifier: notifier, APIKey: key, APIURL: in.APIURL, Message: in.Message, Description: in.Description, Source: in.Source,
		Details: keyValues(in.Details), Entity: in.Entity, Responders: responders, Actions: in.Actions, Tags: in.Tags,
		Note: in.Note, Priority: in.Priority, UpdateAlerts: in.UpdateAlerts,
	}, errors.Join(httpErr, keyErr, err)
}

// responders converts the responders and rejects types that the version does not support,
// because alerts would be lost.
func (c *compiler) responders(in []v1alpha1.OpsGenieConfigResponder) ([]OpsGenieResponder, error) {
	out := make([]OpsGenieResponder, 0, len(in))
	err := faults.Each("responders", in, func(r *v1alpha1.OpsGenieConfigResponder) error {
		kind, since := r.Type, ""
		switch {
		case isTemplate(kind):
			since = "alertmanager=0.25.0"
		case strings.EqualFold(kind, teams):
			since = "alertmanager=0.24.0"
		}
		if !isTemplate(kind) {
			kind = strings.ToLower(kind)
		}
		out = append(out, OpsGenieResponder{ID: r.ID, Name: r.Name, Username: r.Username, Type: kind})
		return errors.Join(c.Since("type", since), faults.At("type", gosyntax.Template(c.target, r.Type)))
	})
	return out, err
}
