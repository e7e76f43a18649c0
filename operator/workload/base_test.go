package workload

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// widget returns a workload of a fictitious kind.
func widget(name string, fields v1.WorkloadFields, cfg Config) *Base {
	return &Base{
		Kind: Kind{
			Row:    &catalog.Row{GroupVersionKind: schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}},
			Prefix: "widget", AppName: "widget-server",
			NameLabels: []string{"widget", "example.org/widget"}, RuleLabel: "widget-name",
			Service: "widget-operated", OperatedLabel: "operated-widget",
			Container: "server", Port: 1234,
			Data: Data{Suffix: "-state", Dir: "/state", SubPath: "db"}, RulesDir: "/rules",
			ConfigSecret: ConfigSecret{Suffix: "-generated", Key: "widget.yaml.gz", Volume: "config-volume"},
		},
		Meta:   &metav1.ObjectMeta{Namespace: "demo", Name: name, UID: "1"},
		Fields: &fields,
		Config: cfg,
	}
}

// The generated objects have the names of the kind.
func TestAnyKind(t *testing.T) {
	b := widget("main", v1.WorkloadFields{RoutePrefix: "/w/", Storage: &v1.StorageSpec{}}, Config{Localhost: "127.0.0.1"})
	match := b.SelectorLabels()
	for what, got := range map[string]string{
		"widget-main":                      b.PrefixedName(),
		"widget-main-generated":            b.ConfigSecretName(),
		"widget-main-config-part-3":        b.ConfigPartName(3),
		"widget-main-web-config":           b.WebConfigSecretName(),
		"widget-main-tls-assets-2":         b.TLSAssetSecretName(2),
		"widget-main-state":                b.dataVolumeName(),
		"{widget-main-state /state db}":    fmt.Sprint(struct{ name, dir, sub string }{b.DataMount().Name, b.DataMount().MountPath, b.DataMount().SubPath}),
		"[/rules/a /rules/b]":              fmt.Sprint(b.RuleDirs([]string{"a", "b"})),
		"http://127.0.0.1:1234/w/-/reload": b.LocalURL("http", "/-/reload"),
		"/w/":                              b.RoutePrefix(),
		"map[app.kubernetes.io/instance:main app.kubernetes.io/managed-by:prometheus-operator app.kubernetes.io/name:widget-server example.org/widget:main widget:main]": fmt.Sprint(match),
	} {
		if got != what {
			t.Errorf("%s, want %s", got, what)
		}
	}
	set := b.newStatefulSet(b.PrefixedName(), match, "", corev1.PodTemplateSpec{})
	if set.Spec.ServiceName != "widget-operated" || len(set.Spec.VolumeClaimTemplates) != 1 || set.Annotations != nil {
		t.Errorf("StatefulSet %+v", set.Spec)
	}
	if _, there := set.Labels["operator.prometheus.io/mode"]; there {
		t.Error("a kind without modes has one")
	}
	if ref := set.OwnerReferences[0]; ref.Kind != "Widget" || ref.APIVersion != "example.org/v1" || !b.Owns(set) {
		t.Errorf("owner %+v", ref)
	}
	if widget("other", v1.WorkloadFields{}, Config{}).Owns(&corev1.Secret{}) {
		t.Error("an object without owners is owned")
	}
}

func TestServiceOfAnyKind(t *testing.T) {
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number}
	}
	older, younger := widget("older", v1.WorkloadFields{}, Config{}), widget("younger", v1.WorkloadFields{}, Config{})
	younger.Meta.CreationTimestamp = metav1.Unix(1, 0)
	users := []Peer{{Base: older, Ports: []corev1.ServicePort{port("web", 1)}}, {Base: widget("own", v1.WorkloadFields{ServiceName: "own"}, Config{})}}
	svc, lost := younger.SharedService([]corev1.ServicePort{port("http", 1), port("grpc", 2)}, NewServiceUsers(users))
	if got := fmt.Sprint(svc.Name, svc.Labels["operated-widget"], svc.Spec.Selector, len(svc.OwnerReferences), len(svc.Spec.Ports)); got != "widget-operatedtruemap[app.kubernetes.io/name:widget-server] 2 2" {
		t.Errorf("Service %s", got)
	}
	if len(lost) != 1 || svc.Spec.Ports[0].Name != "web" {
		t.Errorf("lost %q of %v", lost, svc.Spec.Ports)
	}
}

// Each input changes the hash, but their order does not.
func TestHashOf(t *testing.T) {
	sum := func(b *Base, in hashInputs) string {
		out, err := b.HashOf(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	b := widget("main", v1.WorkloadFields{}, Config{})
	base := sum(b, hashInputs{RuleConfigMaps: []string{"a", "b"}})
	if sum(b, hashInputs{RuleConfigMaps: []string{"b", "a"}}) != base {
		t.Error("the order counts")
	}
	for name, in := range map[string]hashInputs{
		"rules": {RuleConfigMaps: []string{"a"}}, "TLS": {RuleConfigMaps: []string{"a", "b"}, TLSSecrets: minMountedTLSAssets + 1},
		"parts": {RuleConfigMaps: []string{"a", "b"}, ConfigInParts: true}, "http2": {RuleConfigMaps: []string{"a", "b"}, HTTP2: new(false)},
	} {
		if sum(b, in) == base {
			t.Errorf("%s do not count", name)
		}
	}
	if sum(widget("main", v1.WorkloadFields{}, Config{Localhost: "x"}), hashInputs{RuleConfigMaps: []string{"a", "b"}}) == base {
		t.Error("the settings of the operator do not count")
	}
}

func TestCheckNames(t *testing.T) {
	for name, want := range map[string]string{
		"main": "",
		"a.b":  `metadata.name: results in the pod "widget-a.b-0", which the API server rejects`,
	} {
		b := widget(name, v1.WorkloadFields{}, Config{})
		err := b.CheckNames("1.2.3", b.PrefixedName(), nil)
		if got := fmt.Sprint(err); (err == nil) != (want == "") || err != nil && got[:len(want)] != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if err := b.CheckNames("1.2.3", "", nil); err != nil {
			t.Errorf("%s without a StatefulSet: %v", name, err)
		}
	}
	if err := widget("main", v1.WorkloadFields{}, Config{}).CheckNames("1+2", "", nil); err == nil {
		t.Error("a version that is no label value is taken")
	}
}
