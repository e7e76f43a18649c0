package alertmanager

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	serverPort = 9093
	meshPort   = 9094 // port of the cluster, TCP and UDP

	meshTCPName = "mesh-tcp"
	meshUDPName = "mesh-udp"

	// Paths below the route prefix.
	livePath    = "/-/healthy"
	readyPath   = "/-/ready"
	metricsPath = "/metrics"

	// OldestMinor is the minor of the oldest supported version 0.x.
	OldestMinor = 15

	// configKey is the key of the configuration in its Secret.
	configKey = "alertmanager.yaml.gz"
)

// oldest are the supported versions.
var oldest = workload.Versions{Since: fmt.Sprintf("0.%d.0", OldestMinor)}

var kind = workload.Kind{
	Row:    catalog.Alertmanager,
	Prefix: "alertmanager", AppName: "alertmanager", DefaultVersion: wellknown.DefaultAlertmanagerVersion,
	NameLabels: []string{wellknown.LabelAlertmanager},
	Service:    "alertmanager-operated", OperatedLabel: wellknown.LabelAlertmanagerOperated,
	NotReadyAddresses: true, // until members of a cluster have found each other, they send notifications twice
	ServicePorts: []corev1.ServicePort{
		{Port: serverPort, Protocol: corev1.ProtocolTCP},
		{Name: "tcp-mesh", Port: meshPort, TargetPort: intstr.FromString(meshTCPName), Protocol: corev1.ProtocolTCP},
		{Name: "udp-mesh", Port: meshPort, TargetPort: intstr.FromString(meshUDPName), Protocol: corev1.ProtocolUDP},
	},
	Container: "alertmanager", Port: serverPort, Memory: resource.MustParse("200Mi"), GraceSeconds: 120,
	Data:         workload.Data{Suffix: "-db", Dir: "/alertmanager", SubPath: "alertmanager-db"},
	ConfigSecret: workload.ConfigSecret{Suffix: "-generated", Key: configKey, Volume: "config-volume"},
	Web:          workload.Web{Dir: rootDir + "/web_config", In: workload.Versions{Since: "0.22.0"}},
	TLSAssetsDir: rootDir + "/certs", FilesAnnotation: wellknown.AnnotationClusterTLS,
}

// builder builds the objects of an Alertmanager, which it never modifies.
type builder struct {
	*workload.Base
	spec *v1.AlertmanagerSpec
}

func newBuilder(am *v1.Alertmanager, cfg workload.Config) *builder {
	b := &builder{workload.NewBase(kind, &am.ObjectMeta, &am.Spec.WorkloadFields, cfg), &am.Spec}
	if v := b.Version; b.Err == nil && (v.Major() != 0 || !oldest.Has(v)) {
		b.Version, b.Err = nil, faults.At("spec.version", fmt.Errorf("unsupported Alertmanager version %q: only 0.%d.0 and later 0.x are known", b.VersionText(), OldestMinor))
	}
	if web := am.Spec.Web; web != nil {
		b.Web = &web.WebConfigFileFields
	}
	return b
}

// shape returns what runs the pods, and how to reach the reloader and the server of a pod.
func (b *builder) shape() engine.Shape {
	out := engine.ShapeOf(b.Base, workload.ConfigReloaderPort)
	if pod := &out.Reloaders; len(pod.Ports) > 0 {
		pod.ServerPort, pod.Metrics = serverPort, b.Endpoint(metricsPath)
	}
	return out
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (b *builder) Dropped() []gate.Dropped {
	if b.Err != nil {
		return nil
	}
	_, dropped := workload.Fill(args, b.Version, b)
	return slices.Concat(b.LostWeb(), dropped, withClusterLabel.Lost("spec.clusterLabel", b.spec.ClusterLabel != nil, b.Version))
}

// templates returns the files of spec.alertmanagerConfiguration.templates.
func (b *builder) templates() []v1.SecretOrConfigMap {
	if c := b.spec.AlertmanagerConfiguration; c != nil {
		return c.Templates
	}
	return nil
}
