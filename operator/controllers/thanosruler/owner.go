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

// What others need to find and ask the pods of a ThanosRuler.
const (
	// Container runs the server.
	Container = "thanos-ruler"
	// ServerPort is where it answers HTTP, with spec.listenLocal only inside the pod.
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

// Owner is a ThanosRuler together with the operator's settings. Its methods build
// what belongs to it; they never change the object.
type Owner struct {
	*workload.Base
	spec    *v1.ThanosRulerSpec
	version *semver.Version // nil with err
	err     error           // reported by everything that depends on the version
}

// ForRuler is the owner for a ThanosRuler. A version that does not parse is reported
// by what needs it; names and labels work without.
func ForRuler(tr *v1.ThanosRuler, cfg workload.Config) *Owner {
	o := &Owner{
		Base: &workload.Base{Kind: kind, Meta: &tr.ObjectMeta, Fields: &tr.Spec.WorkloadFields, Config: cfg},
		spec: &tr.Spec,
	}
	o.version, o.err = workload.ParseVersion("spec.version", o.versionText())
	return o
}

// versionText is the version as the user wrote it; the tag of the image has the same
// form.
func (o *Owner) versionText() string {
	return cmp.Or(strings.TrimSpace(o.spec.Version), wellknown.DefaultThanosVersion)
}

// Dropped lists the fields that have no effect on the pods because the version
// is too old for them, sorted as the arguments are.
func (o *Owner) Dropped() []gate.Dropped {
	if o.err != nil {
		return nil
	}
	out := withWebConfig.Lost("spec.web", o.spec.Web != nil, o.version)
	_, dropped := workload.Fill(args, o.version, o)
	return append(out, dropped...)
}

// ReloaderPorts are where the reloaders of a pod answer; none when they only listen
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

// Scheme is how the server and the reloaders answer: "http" or "https". No pod has a
// version that does not parse.
func (o *Owner) Scheme() string { return o.webConfig().Scheme() }

// single reports whether the pod has the containers of the single layout.
func (o *Owner) single() bool { return o.Config.Layout == workload.LayoutSingle }
