package thanosruler

import (
	"cmp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Names and ports that other packages need to reach the pods of a ThanosRuler.
const (
	// Container is the container of the server.
	Container = "thanos-ruler"
	// ServerPort is its HTTP port. With spec.listenLocal, it is reachable only inside the
	// pod.
	ServerPort = 10902

	reloadPath   = "/-/reload" // below the route prefix
	grpcPort     = 10901
	grpcPortName = "grpc"
)

var kind = workload.Kind{
	Row:    catalog.ThanosRuler,
	Prefix: "thanos-ruler", AppName: "thanos-ruler",
	NameLabels: []string{wellknown.LabelThanosRuler}, RuleLabel: wellknown.LabelThanosRulerRuleOwner,
	Service: "thanos-ruler-operated", OperatedLabel: wellknown.LabelThanosRulerOperated,
	Container: Container, Port: ServerPort,
	Data:         workload.Data{Suffix: "-data", Dir: "/thanos/data"},
	ConfigSecret: workload.ConfigSecret{Suffix: "-config", Key: RemoteWriteKey},
	RulesDir:     wellknown.ThanosRulerRuleDir,
}

// Owner is a ThanosRuler with the settings of the operator. Its methods build the objects
// of the ThanosRuler and never modify it.
type Owner struct {
	*workload.Base
	spec    *v1.ThanosRulerSpec
	version *semver.Version // nil if err is set
	err     error           // returned by everything that depends on the version
}

// ForRuler returns the [Owner] for a ThanosRuler. Methods that need the version return an
// error if it does not parse. Names and labels do not need it.
func ForRuler(tr *v1.ThanosRuler, cfg workload.Config) *Owner {
	o := &Owner{
		Base: &workload.Base{Kind: kind, Meta: &tr.ObjectMeta, Fields: &tr.Spec.WorkloadFields, Config: cfg},
		spec: &tr.Spec,
	}
	o.version, o.err = workload.ParseVersion("spec.version", o.versionText())
	return o
}

// versionText returns the version as the user wrote it. The image tag has the same form.
func (o *Owner) versionText() string {
	return cmp.Or(strings.TrimSpace(o.spec.Version), wellknown.DefaultThanosVersion)
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (o *Owner) Dropped() []gate.Dropped {
	if o.err != nil {
		return nil
	}
	out := withWebConfig.Lost("spec.web", o.spec.Web != nil, o.version)
	_, dropped := workload.Fill(args, o.version, o)
	return append(out, dropped...)
}

// ReloaderPorts returns the ports of the reloaders in a pod, or none if they listen only
// inside the pod.
func (o *Owner) ReloaderPorts() []int {
	switch {
	case o.spec.ListenLocal:
		return nil
	case o.single():
		return []int{workload.ConfigReloaderPort}
	}
	return []int{workload.RulesReloaderPort}
}

// Scheme returns the scheme of the server and the reloaders, "http" or "https". If the
// version does not parse, it is "http", and there are no pods.
func (o *Owner) Scheme() string { return o.webConfig().Scheme() }

// single reports whether the pod has the containers of the single layout.
func (o *Owner) single() bool { return o.Config.Layout == workload.LayoutSingle }
