package promconfig

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// OVHCloudSD is one entry of ovhcloud_sd_configs.
type OVHCloudSD struct {
	// ApplicationKey is the application key of the API; not secret.
	ApplicationKey string `yaml:"application_key"`
	// ApplicationSecret is the application secret of the API.
	ApplicationSecret string `yaml:"application_secret"`
	// ConsumerKey is the consumer key of the API.
	ConsumerKey string `yaml:"consumer_key"`
	// Service is vps or dedicated_server.
	Service string `yaml:"service"`
	// Endpoint is the name of the API's region.
	Endpoint string `yaml:"endpoint,omitempty"`
	// RefreshInterval is the interval between requests.
	RefreshInterval v1.Duration `yaml:"refresh_interval,omitempty"`
}

var ovhServices = map[v1alpha1.OVHService]string{
	v1alpha1.OVHServiceVPS:             "vps",
	v1alpha1.OVHServiceDedicatedServer: "dedicated_server",
}

func (c *compiler) ovhCloudSD(in *v1alpha1.OVHCloudSDConfig) (*OVHCloudSD, error) {
	secret, err := c.needed("applicationSecret", in.ApplicationSecret)
	if err != nil {
		return nil, err
	}
	consumer, err := c.needed("consumerKey", in.ConsumerKey)
	if err != nil {
		return nil, err
	}
	return &OVHCloudSD{
		ApplicationKey: in.ApplicationKey, ApplicationSecret: secret, ConsumerKey: consumer, Service: ovhServices[in.Service],
		Endpoint: in.Endpoint, RefreshInterval: in.RefreshInterval,
	}, checkRefresh(in.RefreshInterval)
}
