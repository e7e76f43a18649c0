package thanosruler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	serverPort   = 10902
	grpcPort     = 10901
	grpcPortName = "grpc"
	// remoteWriteKey is the key of the configuration Secret.
	remoteWriteKey = "remote-write.yaml"
)

var kind = workload.Kind{
	Row:    catalog.ThanosRuler,
	Prefix: "thanos-ruler", AppName: "thanos-ruler", DefaultVersion: wellknown.DefaultThanosVersion,
	NameLabels: []string{wellknown.LabelThanosRuler}, RuleLabel: wellknown.LabelThanosRulerRuleOwner,
	Service: "thanos-ruler-operated", OperatedLabel: wellknown.LabelThanosRulerOperated,
	ServicePorts: []corev1.ServicePort{
		{Port: serverPort}, {Name: grpcPortName, Port: grpcPort, TargetPort: intstr.FromString(grpcPortName)},
	},
	Container: "thanos-ruler", Port: serverPort, Memory: resource.MustParse("200Mi"), GraceSeconds: 120,
	Data:         workload.Data{Suffix: "-data", Dir: "/thanos/data"},
	ConfigSecret: workload.ConfigSecret{Suffix: "-config", Key: remoteWriteKey},
	Web:          workload.Web{Dir: "/etc/thanos/web_config", In: workload.Versions{Since: "0.21.0"}},
	TLSAssetsDir: promconfig.ThanosAssetDir, FilesAnnotation: wellknown.AnnotationRemoteWrite,
	RulesDir: wellknown.ThanosRulerRuleDir,
}

// builder builds the objects of a ThanosRuler, which it never modifies.
type builder struct {
	*workload.Base
	spec *v1.ThanosRulerSpec
}

func newBuilder(tr *v1.ThanosRuler, cfg workload.Config) *builder {
	b := &builder{workload.NewBase(kind, &tr.ObjectMeta, &tr.Spec.WorkloadFields, cfg), &tr.Spec}
	if web := tr.Spec.Web; web != nil {
		b.Web = &web.WebConfigFileFields
	}
	return b
}

// shape returns what runs the pods. Their only reloader watches the rules.
func (b *builder) shape() engine.Shape {
	if b.Single() {
		return engine.ShapeOf(b.Base, workload.ConfigReloaderPort)
	}
	return engine.ShapeOf(b.Base, workload.RulesReloaderPort)
}

// Dropped returns the fields that have no effect on the pods because the version does not
// support them, in the order of the arguments.
func (b *builder) Dropped() []gate.Dropped {
	if b.Err != nil {
		return nil
	}
	_, dropped := workload.Fill(args, b.Version, b)
	return append(b.LostWeb(), dropped...)
}

// configSecret returns the Secret with the remote-write configuration. It exists for every
// ThanosRuler, because every pod mounts it.
func (b *builder) configSecret(remoteWrite []byte) *corev1.Secret {
	s := b.Secret(b.ConfigSecretName(), map[string][]byte{remoteWriteKey: remoteWrite})
	s.OwnerReferences = []metav1.OwnerReference{b.PlainReference()}
	return s
}
