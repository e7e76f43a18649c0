package thanosruler

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// TestStories builds each golden file twice and modifies the first result deeply. The
// second result must be equal, and the inputs unchanged. Selectors match the pods, and an
// API server accepts the pods.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, err := golden.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newStory(t, c)
			inputs := asJSON(t, []any{s.ruler, s.cfg, s.in})
			sts, err := s.builder().StatefulSet(s.in)
			if err != nil {
				t.Fatal(err)
			}
			checkSelector(t, sts)
			pod := sts.DeepCopy().Spec.Template
			for _, claim := range sts.Spec.VolumeClaimTemplates {
				pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name})
			}
			workloadtest.CheckPod(t, withoutOthers(pod))
			before := asJSON(t, sts)
			workloadtest.Spoil(sts)
			again, err := s.builder().StatefulSet(s.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, again); !bytes.Equal(before, got) {
				t.Errorf("the second result differs:\n%s", golden.Diff(string(before), string(got)))
			}
			if got := asJSON(t, []any{s.ruler, s.cfg, s.in}); !bytes.Equal(inputs, got) {
				t.Errorf("the inputs were changed:\n%s", golden.Diff(string(inputs), string(got)))
			}
		})
	}
}

// withoutOthers removes the user's containers.
func withoutOthers(pod corev1.PodTemplateSpec) corev1.PodTemplateSpec {
	pod.Spec.Containers = slices.DeleteFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == "other" })
	return pod
}

func checkSelector(t *testing.T, sts *appsv1.StatefulSet) {
	t.Helper()
	for key, value := range sts.Spec.Selector.MatchLabels {
		if got := sts.Spec.Template.Labels[key]; got != value {
			t.Errorf("label %s of the pods is %q, selected %q", key, got, value)
		}
	}
	if sts.Labels[wellknown.LabelManagedBy] != wellknown.ManagedBy || sts.Labels[wellknown.LabelAppName] != "thanos-ruler" {
		t.Error("the operator would not find the StatefulSet")
	}
}

// A label of the user is part of the selector, regardless of its name.
func TestVersionInPodMetadata(t *testing.T) {
	sts, err := newBuilder(ruler(t, `podMetadata: {labels: {app.kubernetes.io/version: mine}}`), testConfig()).StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	checkSelector(t, sts)
}

// All files in the arguments exist in the container.
func TestProgram(t *testing.T) {
	tr := ruler(t, `
queryConfig: {name: user, key: query}
alertmanagersConfig: {name: user, key: am}
remoteWrite: [{url: "http://x"}]
web: {tlsConfig: {keySecret: {name: user, key: tls.key}, cert: {secret: {name: user, key: tls.crt}}}}
`)
	o := newBuilder(tr, testConfig())
	sts, err := o.StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	web, err := o.WebConfigSecret()
	if err != nil {
		t.Fatal(err)
	}
	user := o.Secret("user", map[string][]byte{"query": []byte("q"), "am": []byte("a"), "tls.key": []byte("k"), "tls.crt": []byte("c")})
	secrets := append(o.TLSAssetSecrets(map[string][]byte{"asset": []byte("x")}, nil), o.configSecret([]byte("remote_write: []\n")), web, user)
	rules := &corev1.ConfigMap{ObjectMeta: o.RuleConfigMapMeta(wellknown.RuleConfigMapName(o.RuleConfigMapBase(), 0)), Data: map[string]string{"a.yaml": "groups: []"}}
	pod := sts.Spec.Template.Spec
	files, err := workloadtest.Files(pod, pod.Containers[0], secrets, []*corev1.ConfigMap{rules})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		kind.TLSAssetsDir + "/asset", "/etc/thanos/rules/thanos-ruler-main-rulefiles-0/a.yaml", "/etc/thanos/web_config/secret/user-key/tls.key",
	} {
		if _, there := files[want]; !there {
			t.Errorf("%s is missing", want)
		}
	}
	if env := workloadtest.Env(pod.Containers[0], map[string]string{"POD_NAME": "thanos-ruler-main-0"}); env["POD_NAME"] != "thanos-ruler-main-0" {
		t.Errorf("variables %v", env)
	}
	for _, arg := range pod.Containers[0].Args {
		name, file, _ := strings.Cut(arg, "=")
		if strings.HasSuffix(name, "-file") && name != "--rule-file" || name == "--http.config" {
			if _, there := files[file]; !there {
				t.Errorf("%s names a file that is not there", arg)
			}
		}
	}
	if !strings.Contains(files["/etc/thanos/web_config/web-config.yaml"], "/etc/thanos/web_config/secret/user-key/tls.key") {
		t.Errorf("the web configuration does not name the key: %s", files["/etc/thanos/web_config/web-config.yaml"])
	}
}

// In the split layout, a change of the rules that fits into the mounted ConfigMaps does
// not change the hash.
func TestInputHash(t *testing.T) {
	sum := func(layout workload.Layout, spec string, in workload.PodInputs) string {
		cfg := testConfig()
		cfg.Layout = layout
		out, err := newBuilder(ruler(t, spec), cfg).InputHash(nil, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const first, second, fourth = "thanos-ruler-main-rulefiles-0", "thanos-ruler-main-rulefiles-1", "thanos-ruler-main-rulefiles-3"
	one, two := workload.PodInputs{RuleConfigMaps: []string{first}, TLSSecrets: 1}, workload.PodInputs{RuleConfigMaps: []string{second, first}, TLSSecrets: 1}
	if sum(workload.LayoutSplit, ``, one) != sum(workload.LayoutSplit, ``, two) {
		t.Error("a second ConfigMap is a new pod in the split layout")
	}
	if sum(workload.LayoutSingle, ``, one) == sum(workload.LayoutSingle, ``, two) {
		t.Error("a second ConfigMap is no new pod in the single layout")
	}
	for name, other := range map[string]string{
		"a fourth ConfigMap": sum(workload.LayoutSplit, ``, workload.PodInputs{RuleConfigMaps: []string{first, second, "thanos-ruler-main-rulefiles-2", fourth}, TLSSecrets: 1}),
		"a TLS Secret":       sum(workload.LayoutSplit, ``, workload.PodInputs{RuleConfigMaps: one.RuleConfigMaps, TLSSecrets: 2}),
	} {
		if other != sum(workload.LayoutSplit, ``, one) {
			t.Errorf("%s is a new pod in the split layout", name)
		}
	}
	for name, other := range map[string]string{
		"http2":      sum(workload.LayoutSplit, `web: {httpConfig: {http2: false}}`, one),
		"the layout": sum(workload.LayoutSingle, ``, one),
	} {
		if other == sum(workload.LayoutSplit, ``, one) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func TestSharedService(t *testing.T) {
	other := ruler(t, `portName: http`)
	other.Name = "other"
	o := newBuilder(ruler(t, ``), testConfig())
	svc, lost := o.SharedService(o.ServicePorts(), workload.NewServiceUsers([]workload.Peer{workload.PeerOf(newBuilder(other, testConfig()), false)}))
	if len(svc.Spec.Ports) != 2 || len(svc.OwnerReferences) != 2 || len(lost) != 0 {
		t.Errorf("Service %v, lost %v", svc, lost)
	}
	theirs := newBuilder(other, testConfig())
	_, lost = theirs.SharedService(theirs.ServicePorts(), workload.NewServiceUsers([]workload.Peer{workload.PeerOf(o, false)}))
	if len(lost) != 1 || !strings.Contains(lost[0].Reason, `port "http" (10902) is not in Service "thanos-ruler-operated", where ThanosRuler "main"`) {
		t.Errorf("lost %q", lost)
	}
	own := newBuilder(ruler(t, `serviceName: mine`), testConfig())
	if own.ServicePorts() != nil || workload.PeerOf(own, false).Ports != nil || own.ServiceName() != "mine" {
		t.Error("a Service of its own is not used")
	}
	svc.Spec.Selector = map[string]string{wellknown.LabelThanosRuler: "main"}
	if err := workload.CheckService(svc, own.SelectorLabels()); err != nil {
		t.Error(err)
	}
	svc.Spec.Selector = map[string]string{wellknown.LabelThanosRuler: "other"}
	if err := workload.CheckService(svc, own.SelectorLabels()); err == nil {
		t.Error("a Service that selects other pods is taken")
	}
}
