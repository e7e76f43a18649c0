package alertmanager

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Names and ports that other packages need to reach the pods of an Alertmanager.
const (
	// Container is the container of the server.
	Container = "alertmanager"
	// ServerPort is its HTTP port. With spec.listenLocal, it is reachable only inside the
	// pod.
	ServerPort = 9093

	meshPort    = 9094 // port of the cluster, TCP and UDP
	meshTCPName = "mesh-tcp"
	meshUDPName = "mesh-udp"

	// Paths below the route prefix.
	reloadPath  = "/-/reload"
	livePath    = "/-/healthy"
	readyPath   = "/-/ready"
	metricsPath = "/metrics"

	oldestMinor = 15 // minor of the oldest supported version 0.x
)

var kind = workload.Kind{
	Row:    catalog.Alertmanager,
	Prefix: "alertmanager", AppName: "alertmanager",
	NameLabels: []string{wellknown.LabelAlertmanager},
	Service:    "alertmanager-operated", OperatedLabel: wellknown.LabelAlertmanagerOperated,
	NotReadyAddresses: true, // until members of a cluster have found each other, they send notifications twice
	Container:         Container, Port: ServerPort,
	Data:         workload.Data{Suffix: "-db", Dir: "/alertmanager", SubPath: "alertmanager-db"},
	ConfigSecret: workload.ConfigSecret{Suffix: "-generated", Key: ConfigKey, Volume: "config-volume"},
}

// Owner is an Alertmanager with the settings of the operator. Its methods build the
// objects of the Alertmanager and never modify it.
type Owner struct {
	*workload.Base
	spec    *v1.AlertmanagerSpec
	version *semver.Version // nil if err is set
	err     error           // returned by everything that depends on the version
}

// ForAlertmanager returns the [Owner] for an Alertmanager. Methods that need the version
// return an error if it does not parse. Names and labels do not need it.
func ForAlertmanager(am *v1.Alertmanager, cfg workload.Config) *Owner {
	o := &Owner{
		Base: &workload.Base{Kind: kind, Meta: &am.ObjectMeta, Fields: &am.Spec.WorkloadFields, Config: cfg},
		spec: &am.Spec,
	}
	o.version, o.err = parseVersion(o.versionText())
	return o
}

// versionText returns the version as the user wrote it. The image tag has the same form.
func (o *Owner) versionText() string {
	return cmp.Or(strings.TrimSpace(o.spec.Version), wellknown.DefaultAlertmanagerVersion)
}

func parseVersion(text string) (*semver.Version, error) {
	v, err := workload.ParseVersion("spec.version", text)
	if err != nil {
		return nil, err
	}
	if v.Major() != 0 || v.Minor() < oldestMinor {
		return nil, fmt.Errorf("spec.version: unsupported Alertmanager version %q: only 0.%d.0 and later 0.x are known", text, oldestMinor)
	}
	return v, nil
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (o *Owner) Dropped() []gate.Dropped {
	if o.err != nil {
		return nil
	}
	web := o.spec.Web
	out := slices.Concat(
		withWebConfig.Lost("spec.web.tlsConfig", web != nil && web.TLSConfig != nil, o.version),
		withWebConfig.Lost("spec.web.httpConfig", web != nil && web.HTTPConfig != nil, o.version),
	)
	_, dropped := workload.Fill(args, o.version, o)
	return append(out, dropped...)
}

// ReloaderPorts returns the ports of the reloaders in a pod, or none if they listen only
// inside the pod.
func (o *Owner) ReloaderPorts() []int {
	if o.spec.ListenLocal {
		return nil
	}
	return []int{workload.ConfigReloaderPort}
}

// Scheme returns the scheme of the server and the reloader, "http" or "https". If the
// version does not parse, it is "http", and there are no pods.
func (o *Owner) Scheme() string { return o.webConfig().Scheme() }

// templates returns the files of spec.alertmanagerConfiguration.templates.
func (o *Owner) templates() []v1.SecretOrConfigMap {
	if c := o.spec.AlertmanagerConfiguration; c != nil {
		return c.Templates
	}
	return nil
}

// single reports whether the pod has exactly the single layout.
func (o *Owner) single() bool { return o.Config.Layout == workload.LayoutSingle }
