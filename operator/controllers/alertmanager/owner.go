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

// What others need to find and ask the pods of an Alertmanager.
const (
	// Container runs the server.
	Container = "alertmanager"
	// ServerPort is where it answers HTTP, with spec.listenLocal only inside the pod.
	ServerPort = 9093

	meshPort    = 9094 // of the cluster, TCP and UDP
	meshTCPName = "mesh-tcp"
	meshUDPName = "mesh-udp"

	// These are below the route prefix.
	reloadPath  = "/-/reload"
	livePath    = "/-/healthy"
	readyPath   = "/-/ready"
	metricsPath = "/metrics"

	oldestMinor = 15 // of the versions 0.x
)

var kind = workload.Kind{
	Row:    catalog.Alertmanager,
	Prefix: "alertmanager", AppName: "alertmanager",
	NameLabels: []string{wellknown.LabelAlertmanager},
	Service:    "alertmanager-operated", OperatedLabel: wellknown.LabelAlertmanagerOperated,
	NotReadyAddresses: true, // members of a cluster notify twice until they have found each other
	Container:         Container, Port: ServerPort,
	Data:         workload.Data{Suffix: "-db", Dir: "/alertmanager", SubPath: "alertmanager-db"},
	ConfigSecret: workload.ConfigSecret{Suffix: "-generated", Key: ConfigKey, Volume: "config-volume"},
}

// Owner is an Alertmanager together with the operator's settings. Its methods build
// what belongs to it; they never change the object.
type Owner struct {
	*workload.Base
	spec    *v1.AlertmanagerSpec
	version *semver.Version // nil with err
	err     error           // reported by everything that depends on the version
}

// ForAlertmanager is the owner for an Alertmanager. A version that does not parse is
// reported by what needs it; names and labels work without.
func ForAlertmanager(am *v1.Alertmanager, cfg workload.Config) *Owner {
	o := &Owner{
		Base: &workload.Base{Kind: kind, Meta: &am.ObjectMeta, Fields: &am.Spec.WorkloadFields, Config: cfg},
		spec: &am.Spec,
	}
	o.version, o.err = parseVersion(o.versionText())
	return o
}

// versionText is the version as the user wrote it; the tag of the image has the same
// form.
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

// Dropped lists the fields that have no effect on the pods because the version
// is too old for them, sorted as the arguments are.
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

// ReloaderPorts are where the reloaders of a pod answer; none when they only listen
// inside the pod.
func (o *Owner) ReloaderPorts() []int {
	if o.spec.ListenLocal {
		return nil
	}
	return []int{workload.ConfigReloaderPort}
}

// Scheme is how the server and the reloader answer: "http" or "https". No pod has a
// version that does not parse.
func (o *Owner) Scheme() string { return o.webConfig().Scheme() }

// templates are the files of spec.alertmanagerConfiguration.templates.
func (o *Owner) templates() []v1.SecretOrConfigMap {
	if c := o.spec.AlertmanagerConfiguration; c != nil {
		return c.Templates
	}
	return nil
}

// single reports whether the pod is exactly that of the single layout.
func (o *Owner) single() bool { return o.Config.Layout == workload.LayoutSingle }
