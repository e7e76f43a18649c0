package amconfig

import (
	"errors"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Webex is one entry of webex_configs.
type Webex struct {
	// Notifier holds the common keys; the HTTP client has the token of the bot.
	Notifier `yaml:",inline"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// Message text in Markdown.
	Message string `yaml:"message,omitempty"`
	// RoomID of the room.
	RoomID string `yaml:"room_id"`
}

func checkWebex(in *v1alpha1.WebexConfig) error {
	return errors.Join(
		checkOptionalURL("apiURL", in.APIURL), checkNotEmpty("roomID", in.RoomID), checkHTTP(in.HTTPConfig),
	)
}

func (c *compiler) webex(in *v1alpha1.WebexConfig) (Webex, error) {
	notifier, err := c.notifier(in.SendResolved, in.HTTPConfig)
	if err != nil {
		return Webex{}, err
	}
	// Alertmanager requires it in the receiver, regardless of the global client.
	if !notifier.HTTPConfig.authenticates() {
		return Webex{}, faults.At("httpConfig.authorization", errMissing)
	}
	return Webex{Notifier: notifier, APIURL: in.APIURL, Message: text(in.Message), RoomID: in.RoomID}, nil
}
