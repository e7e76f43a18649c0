package amconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// VictorOps is one entry of victorops_configs.
type VictorOps struct {
	// Notifier holds the common keys.
	Notifier `yaml:",inline"`
	// APIKey overrides the global one.
	APIKey string `yaml:"api_key,omitempty"`
	// APIURL overrides the global one.
	APIURL string `yaml:"api_url,omitempty"`
	// RoutingKey selects the team.
	RoutingKey string `yaml:"routing_key"`
	// MessageType of a firing alert.
	MessageType string `yaml:"message_type,omitempty"`
	// EntityDisplayName is the summary.
	EntityDisplayName string `yaml:"entity_display_name,omitempty"`
	// StateMessage is the long text.
	StateMessage string `yaml:"state_message,omitempty"`
	// MonitoringTool is the monitoring system.
	MonitoringTool string `yaml:"monitoring_tool,omitempty"`
	// CustomFields of the request.
	CustomFields map[string]string `yaml:"custom_fields,omitempty"`
}

// victorOpsFields are always part of the request.
var victorOpsFields = []string{
	"routing_key", "message_type", "state_message", "entity_display_name", "monitoring_tool", "entity_id", "entity_state",
}

func checkVictorOps(in *v1alpha1.VictorOpsConfig) error {
	return errors.Join(
		faults.Each("customFields", in.CustomFields, func(f *v1alpha1.KeyValue) error {
			if slices.Contains(victorOpsFields, f.Key) {
				return faults.At("key", fmt.Errorf("%q is reserved", f.Key))
			}
			return nil
		}),
		checkNotEmpty("routingKey", in.RoutingKey), checkOptionalURL("apiUrl", in.APIURL), checkHTTP(in.HTTPConfig),
	)
}

func (c *compiler) victorOps(in *v1alpha1.VictorOpsConfig) (VictorOps, error) {
	notifier, httpErr := c.notifier(in.SendResolved, in.HTTPConfig)
	key, err := c.orGlobal("apiKey", in.APIKey, c.globals.VictorOpsKey)
	return VictorOps{
		Notifier: notifier, APIKey: key, APIURL: in.APIURL, RoutingKey: in.RoutingKey, MessageType: in.MessageType,
		EntityDisplayName: in.EntityDisplayName, StateMessage: in.StateMessage, MonitoringTool: in.MonitoringTool,
		CustomFields: keyValues(in.CustomFields),
	}, errors.Join(httpErr, err)
}
