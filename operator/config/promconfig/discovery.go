package promconfig

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Discoveries holds the service discoveries of a ScrapeConfig, in the order of the document.
//
// The reject tag is the field name in the object. If the version is below the since tag,
// the object is rejected rather than losing the key. It is used if a job without the key
// would find other targets than the user asked for.
//
// To add a mechanism, add a file sd_<name>.go, a field here, a row in [mechanisms] and golden files.
type Discoveries struct {
	// Static targets.
	Static []*StaticSD `yaml:"static_configs,omitempty"`
	// File discovery.
	File []*FileSD `yaml:"file_sd_configs,omitempty"`
	// HTTP discovery. With central discovery, that of config-reloader.
	HTTP []*HTTPSD `yaml:"http_sd_configs,omitempty" since:"2.28.0" reject:"httpSDConfigs"`
	// Kubernetes discovery.
	Kubernetes []*KubernetesAnySD `yaml:"kubernetes_sd_configs,omitempty"`
	// Consul discovery.
	Consul []*ConsulSD `yaml:"consul_sd_configs,omitempty"`
	// DNS discovery.
	DNS []*DNSSD `yaml:"dns_sd_configs,omitempty"`
	// EC2 discovery.
	EC2 []*EC2SD `yaml:"ec2_sd_configs,omitempty"`
	// Azure discovery.
	Azure []*AzureSD `yaml:"azure_sd_configs,omitempty"`
	// GCE discovery.
	GCE []*GCESD `yaml:"gce_sd_configs,omitempty"`
	// OpenStack discovery.
	OpenStack []*OpenStackSD `yaml:"openstack_sd_configs,omitempty"`
	// DigitalOcean discovery.
	DigitalOcean []*DigitalOceanSD `yaml:"digitalocean_sd_configs,omitempty" since:"2.20.0" reject:"digitalOceanSDConfigs"`
	// Kuma discovery.
	Kuma []*KumaSD `yaml:"kuma_sd_configs,omitempty" since:"2.29.0" reject:"kumaSDConfigs"`
	// Eureka discovery.
	Eureka []*EurekaSD `yaml:"eureka_sd_configs,omitempty" since:"2.21.0" reject:"eurekaSDConfigs"`
	// Docker discovery.
	Docker []*DockerSD `yaml:"docker_sd_configs,omitempty" since:"2.27.0" reject:"dockerSDConfigs"`
	// Linode discovery.
	Linode []*LinodeSD `yaml:"linode_sd_configs,omitempty" since:"2.28.0" reject:"linodeSDConfigs"`
	// Hetzner discovery.
	Hetzner []*HetznerSD `yaml:"hetzner_sd_configs,omitempty" since:"2.21.0" reject:"hetznerSDConfigs"`
	// Nomad discovery.
	Nomad []*NomadSD `yaml:"nomad_sd_configs,omitempty" since:"2.37.0" reject:"nomadSDConfigs"`
	// DockerSwarm discovery.
	DockerSwarm []*DockerSwarmSD `yaml:"dockerswarm_sd_configs,omitempty" since:"2.20.0" reject:"dockerSwarmSDConfigs"`
	// PuppetDB discovery.
	PuppetDB []*PuppetDBSD `yaml:"puppetdb_sd_configs,omitempty" since:"2.31.0" reject:"puppetDBSDConfigs"`
	// Lightsail discovery.
	Lightsail []*LightsailSD `yaml:"lightsail_sd_configs,omitempty" since:"2.27.0" reject:"lightSailSDConfigs"`
	// OVHCloud discovery.
	OVHCloud []*OVHCloudSD `yaml:"ovhcloud_sd_configs,omitempty" since:"2.40.0" reject:"ovhcloudSDConfigs"`
	// Scaleway discovery.
	Scaleway []*ScalewaySD `yaml:"scaleway_sd_configs,omitempty" since:"2.26.0" reject:"scalewaySDConfigs"`
	// Ionos discovery.
	Ionos []*IonosSD `yaml:"ionos_sd_configs,omitempty" since:"2.36.0" reject:"ionosSDConfigs"`
	// Marathon discovery.
	Marathon []*MarathonSD `yaml:"marathon_sd_configs,omitempty"`
	// Serverset discovery.
	Serverset []*ZooKeeperSD `yaml:"serverset_sd_configs,omitempty"`
	// Nerve discovery.
	Nerve []*ZooKeeperSD `yaml:"nerve_sd_configs,omitempty"`
	// Triton discovery.
	Triton []*TritonSD `yaml:"triton_sd_configs,omitempty"`
	// Uyuni discovery.
	Uyuni []*UyuniSD `yaml:"uyuni_sd_configs,omitempty" since:"2.31.0" reject:"uyuniSDConfigs"`
	// Vultr discovery.
	Vultr []*VultrSD `yaml:"vultr_sd_configs,omitempty" since:"2.36.0" reject:"vultrSDConfigs"`
	// Stackit discovery.
	Stackit []*StackitSD `yaml:"stackit_sd_configs,omitempty" since:"3.5.0" reject:"stackitSDConfigs"`
	// Outscale discovery.
	Outscale []*OutscaleSD `yaml:"outscale_sd_configs,omitempty" since:"3.12.0" reject:"outscaleSDConfigs"`
	// AWS discovery.
	AWS []*AWSSD `yaml:"aws_sd_configs,omitempty" since:"3.8.0" reject:"awsSDConfigs"`
}

type (
	scrapeSpec = v1alpha1.ScrapeConfigSpec
	// mechanism converts the entries of one kind of service discovery.
	mechanism struct {
		field   string // of the spec
		entries func(s *scrapeSpec) int
		read    func(c *compiler, s *scrapeSpec, out *Discoveries) error
	}
)

// mechanisms lists every kind of service discovery: its field in the object, its field in
// the document, and its converter. They are checked in this order.
var mechanisms = []mechanism{
	row("staticConfigs", (*compiler).staticSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.StaticConfig, *[]*StaticSD) {
		return s.StaticConfigs, &d.Static
	}),
	row("fileSDConfigs", (*compiler).fileSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.FileSDConfig, *[]*FileSD) {
		return s.FileSDConfigs, &d.File
	}),
	row("httpSDConfigs", (*compiler).httpSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.HTTPSDConfig, *[]*HTTPSD) {
		return s.HTTPSDConfigs, &d.HTTP
	}),
	row("kubernetesSDConfigs", (*compiler).kubernetesSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.KubernetesSDConfig, *[]*KubernetesAnySD) {
		return s.KubernetesSDConfigs, &d.Kubernetes
	}),
	row("consulSDConfigs", (*compiler).consulSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.ConsulSDConfig, *[]*ConsulSD) {
		return s.ConsulSDConfigs, &d.Consul
	}),
	row("dnsSDConfigs", (*compiler).dnsSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.DNSSDConfig, *[]*DNSSD) { return s.DNSSDConfigs, &d.DNS }),
	row("ec2SDConfigs", (*compiler).ec2SD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.EC2SDConfig, *[]*EC2SD) { return s.EC2SDConfigs, &d.EC2 }),
	row("azureSDConfigs", (*compiler).azureSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.AzureSDConfig, *[]*AzureSD) {
		return s.AzureSDConfigs, &d.Azure
	}),
	row("gceSDConfigs", (*compiler).gceSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.GCESDConfig, *[]*GCESD) { return s.GCESDConfigs, &d.GCE }),
	row("openstackSDConfigs", (*compiler).openStackSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.OpenStackSDConfig, *[]*OpenStackSD) {
		return s.OpenStackSDConfigs, &d.OpenStack
	}),
	row("digitalOceanSDConfigs", (*compiler).digitalOceanSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.DigitalOceanSDConfig, *[]*DigitalOceanSD) {
		return s.DigitalOceanSDConfigs, &d.DigitalOcean
	}),
	row("kumaSDConfigs", (*compiler).kumaSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.KumaSDConfig, *[]*KumaSD) {
		return s.KumaSDConfigs, &d.Kuma
	}),
	row("eurekaSDConfigs", (*compiler).eurekaSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.EurekaSDConfig, *[]*EurekaSD) {
		return s.EurekaSDConfigs, &d.Eureka
	}),
	row("dockerSDConfigs", (*compiler).dockerSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.DockerSDConfig, *[]*DockerSD) {
		return s.DockerSDConfigs, &d.Docker
	}),
	row("linodeSDConfigs", (*compiler).linodeSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.LinodeSDConfig, *[]*LinodeSD) {
		return s.LinodeSDConfigs, &d.Linode
	}),
	row("hetznerSDConfigs", (*compiler).hetznerSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.HetznerSDConfig, *[]*HetznerSD) {
		return s.HetznerSDConfigs, &d.Hetzner
	}),
	row("nomadSDConfigs", (*compiler).nomadSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.NomadSDConfig, *[]*NomadSD) {
		return s.NomadSDConfigs, &d.Nomad
	}),
	row("dockerSwarmSDConfigs", (*compiler).dockerSwarmSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.DockerSwarmSDConfig, *[]*DockerSwarmSD) {
		return s.DockerSwarmSDConfigs, &d.DockerSwarm
	}),
	row("puppetDBSDConfigs", (*compiler).puppetDBSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.PuppetDBSDConfig, *[]*PuppetDBSD) {
		return s.PuppetDBSDConfigs, &d.PuppetDB
	}),
	row("lightSailSDConfigs", (*compiler).lightsailSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.LightSailSDConfig, *[]*LightsailSD) {
		return s.LightSailSDConfigs, &d.Lightsail
	}),
	row("ovhcloudSDConfigs", (*compiler).ovhCloudSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.OVHCloudSDConfig, *[]*OVHCloudSD) {
		return s.OVHCloudSDConfigs, &d.OVHCloud
	}),
	row("scalewaySDConfigs", (*compiler).scalewaySD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.ScalewaySDConfig, *[]*ScalewaySD) {
		return s.ScalewaySDConfigs, &d.Scaleway
	}),
	row("ionosSDConfigs", (*compiler).ionosSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.IonosSDConfig, *[]*IonosSD) {
		return s.IonosSDConfigs, &d.Ionos
	}),
	row("marathonSDConfigs", (*compiler).marathonSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.MarathonSDConfig, *[]*MarathonSD) {
		return s.MarathonSDConfigs, &d.Marathon
	}),
	row("serversetSDConfigs", (*compiler).serversetSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.ServersetSDConfig, *[]*ZooKeeperSD) {
		return s.ServersetSDConfigs, &d.Serverset
	}),
	row("nerveSDConfigs", (*compiler).nerveSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.NerveSDConfig, *[]*ZooKeeperSD) {
		return s.NerveSDConfigs, &d.Nerve
	}),
	row("tritonSDConfigs", (*compiler).tritonSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.TritonSDConfig, *[]*TritonSD) {
		return s.TritonSDConfigs, &d.Triton
	}),
	row("uyuniSDConfigs", (*compiler).uyuniSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.UyuniSDConfig, *[]*UyuniSD) {
		return s.UyuniSDConfigs, &d.Uyuni
	}),
	row("vultrSDConfigs", (*compiler).vultrSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.VultrSDConfig, *[]*VultrSD) {
		return s.VultrSDConfigs, &d.Vultr
	}),
	row("stackitSDConfigs", (*compiler).stackitSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.StackitSDConfig, *[]*StackitSD) {
		return s.StackitSDConfigs, &d.Stackit
	}),
	row("outscaleSDConfigs", (*compiler).outscaleSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.OutscaleSDConfig, *[]*OutscaleSD) {
		return s.OutscaleSDConfigs, &d.Outscale
	}),
	row("awsSDConfigs", (*compiler).awsSD, func(s *scrapeSpec, d *Discoveries) ([]v1alpha1.AWSSDConfig, *[]*AWSSD) { return s.AWSSDConfigs, &d.AWS }),
}

// row returns a mechanism that converts the entries returned by pick, in order.
func row[In, Out any](field string, convert func(*compiler, *In) (*Out, error), pick func(*scrapeSpec, *Discoveries) ([]In, *[]*Out)) mechanism {
	entries := func(s *scrapeSpec) int {
		in, _ := pick(s, &Discoveries{})
		return len(in)
	}
	return mechanism{field: field, entries: entries, read: func(c *compiler, s *scrapeSpec, d *Discoveries) error {
		in, out := pick(s, d)
		for i := range in {
			entry, err := convert(c, &in[i])
			if err == nil {
				err = c.own.Known(entry)
			}
			if err != nil {
				return faults.At(fmt.Sprintf("%s[%d]", field, i), err)
			}
			*out = append(*out, entry)
		}
		return nil
	}}
}

// sinceValue returns an error for a value that the version does not support.
func (c *compiler) sinceValue(field, value, version string) error {
	if c.s.target.AtLeast(version) {
		return nil
	}
	return faults.At(field, fmt.Errorf("%s needs Prometheus >= %s", value, version))
}

// first returns the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPositive rejects invalid durations and 0. A refresh interval of 0 crashes the server.
func checkPositive[D ~string](field string, d D) error {
	if d == "" {
		return nil
	}
	parsed, err := model.ParseDuration(string(d))
	switch {
	case err != nil:
		return faults.At(field, fmt.Errorf("%q is not a duration", d))
	case parsed <= 0:
		return faults.At(field, fmt.Errorf("%q is not more than 0", d))
	}
	return nil
}

// checkRefresh rejects refresh intervals that are invalid, 0 or too short.
func checkRefresh[D ~string](interval D) error {
	const field = "refreshInterval"
	return first(checkPositive(field, interval), checkEvery(field, interval))
}

// checkURL rejects anything but an http or https URL with a host. The message does not
// contain the URL, which may contain a password.
func checkURL(field, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return faults.At(field, errors.New("is not an http or https URL with a host"))
	}
	return nil
}

// checkOptionalURL is checkURL for fields that may be empty.
func checkOptionalURL(field, text string) error {
	if text == "" {
		return nil
	}
	return checkURL(field, text)
}

// value reads an optional Secret key; nil means "".
func (c *compiler) value(field string, sel *corev1.SecretKeySelector) (string, error) {
	text, err := c.own.Secret(sel)
	return text, faults.At(field, err)
}

// needed reads a Secret key and rejects an empty value.
func (c *compiler) needed(field string, sel corev1.SecretKeySelector) (string, error) {
	text, err := c.own.Secret(&sel)
	if err == nil && text == "" {
		err = errors.New("the value is empty")
	}
	return text, faults.At(field, err)
}

// pair reads two Secret keys if both are given. It returns values only if neither is nil,
// because one key alone is useless.
func (c *compiler) pair(access, secret *corev1.SecretKeySelector) (accessKey, secretKey string, err error) {
	if accessKey, err = c.value("accessKey", access); err != nil {
		return "", "", err
	}
	if secretKey, err = c.value("secretKey", secret); err != nil {
		return "", "", err
	}
	if access == nil || secret == nil {
		return "", "", nil
	}
	return accessKey, secretKey, nil
}
