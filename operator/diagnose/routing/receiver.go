package routing

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/notify/jira"
	"github.com/prometheus/alertmanager/notify/mattermost"
)

// Receiver is a receiver of notifications.
type Receiver struct {
	Name string `json:"name"`
	// Integrations lists the integrations. It is empty for a receiver that sends no notifications.
	Integrations []Integration `json:"integrations"`
}

// Integration is a notification channel of a receiver.
type Integration struct {
	Type string `json:"type"` // for example "slack"
	// To is the recipient, for example "#alerts". Absent if it is unknown or confidential.
	To           string `json:"to,omitempty"`
	SendResolved bool   `json:"sendResolved"`
}

// String returns a human-readable form: "slack #alerts".
func (i Integration) String() string { return strings.TrimSpace(i.Type + " " + i.To) }

// notified is a receiver and what it adds to the size of a report, besides its name.
type notified struct {
	integrations []Integration
	bytes        int
}

// receiver returns a receiver. All reports of it have the same slice of integrations.
func (w walker) receiver(name string) Receiver {
	one := w.notified[name]
	if one == nil {
		one = &notified{integrations: []Integration{}}
		if r := w.receivers[name]; r != nil {
			one.integrations = integrations(r)
		}
		for _, i := range one.integrations {
			one.bytes += integrationValues*valueBytes + encodedBytes(i.Type) + encodedBytes(i.To)
		}
		w.notified[name] = one
	}
	w.bytes += one.bytes
	w.grow(1)
	return Receiver{Name: name, Integrations: one.integrations}
}

// integrationValues is the number of values of an [Integration].
const integrationValues = 3

// integrations returns the entries of all lists whose keys end in _configs, in the order of the
// loader's type.
func integrations(r *config.Receiver) []Integration {
	out := []Integration{}
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		kind, is := strings.CutSuffix(key, "_configs")
		if !is {
			continue
		}
		for j := range v.Field(i).Len() {
			item := v.Field(i).Index(j).Interface()
			one := Integration{Type: kind, To: to(item)}
			if n, ok := item.(interface{ SendResolved() bool }); ok {
				one.SendResolved = n.SendResolved()
			}
			out = append(out, one)
		}
	}
	return out
}

// to returns the recipient of an integration. URLs are left out, since they are or contain secrets.
func to(integration any) string {
	switch c := integration.(type) {
	case *config.SlackConfig:
		return c.Channel
	case *mattermost.MattermostConfig:
		return c.Channel
	case *config.RocketchatConfig:
		return c.Channel
	case *config.EmailConfig:
		return c.To
	case *config.WebexConfig:
		return c.RoomID
	case *config.SNSConfig:
		return c.TopicARN
	case *jira.JiraConfig:
		return c.Project
	case *config.TelegramConfig:
		if c.ChatID != 0 {
			return strconv.FormatInt(c.ChatID, 10)
		}
	}
	return ""
}
