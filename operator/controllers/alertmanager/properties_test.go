package alertmanager

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Masterminds/semver/v3"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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
			inputs := asJSON(t, []any{s.am, s.cfg, s.in})
			sts, err := s.builder().StatefulSet(s.in)
			if err != nil {
				t.Fatal(err)
			}
			checkSelector(t, sts)
			workloadtest.CheckPod(t, withClaims(sts.DeepCopy()))
			before := asJSON(t, sts)
			workloadtest.Spoil(sts)
			again, err := s.builder().StatefulSet(s.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := asJSON(t, again); !bytes.Equal(before, got) {
				t.Errorf("the second result differs:\n%s", golden.Diff(string(before), string(got)))
			}
			if got := asJSON(t, []any{s.am, s.cfg, s.in}); !bytes.Equal(inputs, got) {
				t.Errorf("the inputs were changed:\n%s", golden.Diff(string(inputs), string(got)))
			}
		})
	}
}

// withClaims returns the pod with the volumes that the StatefulSet controller adds, and
// without the user's containers.
func withClaims(sts *appsv1.StatefulSet) corev1.PodTemplateSpec {
	pod := sts.Spec.Template
	for _, claim := range sts.Spec.VolumeClaimTemplates {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	others := func(c corev1.Container) bool { return c.Name == "other" || c.Name == "first" }
	pod.Spec.Containers = slices.DeleteFunc(pod.Spec.Containers, others)
	pod.Spec.InitContainers = slices.DeleteFunc(pod.Spec.InitContainers, others)
	return pod
}

func checkSelector(t *testing.T, sts *appsv1.StatefulSet) {
	t.Helper()
	for key, value := range sts.Spec.Selector.MatchLabels {
		if got := sts.Spec.Template.Labels[key]; got != value {
			t.Errorf("label %s of the pods is %q, selected %q", key, got, value)
		}
	}
	if sts.Labels[wellknown.LabelAppManagedBy] != wellknown.ManagedBy || sts.Labels[wellknown.LabelAppName] != "alertmanager" {
		t.Error("the operator would not find the StatefulSet")
	}
}

// FuzzOwner generates random Alertmanagers that the CRD allows. Each one is either
// rejected with a reason or results in pods: deterministically, without changing the
// object, and without content that an API server would reject, unless the user wrote it.
func FuzzOwner(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(seed*13), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent uint8, single bool) {
		am := randomAlertmanager(t, seed, float64(percent%101)/100)
		cfg := testConfig()
		cfg.EnableReloaderProbes = seed%2 == 0
		if single {
			cfg.Layout = workload.LayoutSingle
		}
		before := asJSON(t, am)
		sts, err := newBuilder(am, cfg).StatefulSet(testInputs())
		if err != nil {
			return
		}
		again, err := newBuilder(am, cfg).StatefulSet(testInputs())
		if err != nil || !bytes.Equal(asJSON(t, sts), asJSON(t, again)) {
			t.Errorf("two runs differ: %v", err)
		}
		if !bytes.Equal(before, asJSON(t, am)) {
			t.Error("the object was changed")
		}
		workloadtest.CheckPod(t, withClaims(sts))
		o := newBuilder(am, cfg)
		for _, name := range []string{o.PrefixedName(), o.ConfigSecretName(), o.WebConfigSecretName(), o.clusterTLS().SecretName, o.TLSAssetSecretName(3), o.ServiceName()} {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				t.Errorf("an object is called %q", name)
			}
		}
		o.Dropped()
		o.SharedService(o.ServicePorts(), nil)
		if _, err := o.InputHash(nil, workload.PodInputs{TLSSecrets: 1}); err != nil {
			t.Error(err)
		}
	})
}

// TestRandomOwnersHavePods guards against a fuzz test in which every object is rejected.
func TestRandomOwnersHavePods(t *testing.T) {
	built := 0
	for seed := range uint64(40) {
		if _, err := newBuilder(randomAlertmanager(t, seed, 0.3), testConfig()).StatefulSet(testInputs()); err == nil {
			built++
		} else {
			t.Log(err)
		}
	}
	if built < 15 {
		t.Errorf("of 40 random objects only %d have pods", built)
	}
}

var samples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.AlertmanagerKind: v1.Version})
})

// randomAlertmanager returns a random Alertmanager without the user's additions to pods,
// since only an API server can validate them.
func randomAlertmanager(t *testing.T, seed uint64, density float64) *v1.Alertmanager {
	t.Helper()
	generators, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	object, err := generators[v1.AlertmanagerKind].Object(rng, density)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	for _, field := range []string{"containers", "initContainers", "volumes", "volumeMounts", "storage", "podMetadata", "hostAliases", "imagePullSecrets", "secrets", "configMaps", "baseImage", "tag", "sha", "clusterAdvertiseAddress", "additionalPeers"} {
		delete(spec, field)
	}
	spec["version"] = []string{"v0.33.1", "v0.30.0", "0.27.0", "0.22.2", "0.16.0", "nonsense"}[rng.IntN(6)]
	if rng.IntN(8) > 0 {
		for _, field := range []string{"web", "clusterTLS", "alertmanagerConfiguration", "externalUrl", "clusterGossipInterval", "clusterPushpullInterval", "limits"} {
			delete(spec, field)
		}
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "demo", "name": "main"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	am := &v1.Alertmanager{}
	if err := json.Unmarshal(text, am); err != nil {
		t.Fatal(err)
	}
	return am
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// All versions in the table parse. Otherwise the table would panic only when the row is
// used.
func TestEveryRowParses(t *testing.T) {
	for _, row := range args {
		for _, v := range []string{row.In.Since, row.In.Until} {
			if _, err := semver.StrictNewVersion(v); v != "" && err != nil {
				t.Errorf("%s: %q: %v", row.Name, v, err)
			}
		}
		if row.Field != "" && row.In.Since == "" {
			t.Errorf("%s: %s can never be reported", row.Name, row.Field)
		}
		if (row.Value == nil) == (row.Each == nil) {
			t.Errorf("%s: not one of Value and Each", row.Name)
		}
	}
}

// Each gated argument is present or absent in the versions next to its limit.
func TestArgumentGates(t *testing.T) {
	for _, tc := range []struct {
		spec, arg string
		versions  string // "-" in front: must be absent
		field     string // reported if the argument is absent
	}{
		{`enableFeatures: [a, b]`, "--enable-feature=a,b", "-0.26.0 -0.27.0-rc.0 0.27.0", "spec.enableFeatures"},
		{`web: {getConcurrency: 0}`, "--web.get-concurrency=0", "-0.16.2 0.17.0", "spec.web.getConcurrency"},
		{`web: {timeout: 5}`, "--web.timeout=5s", "-0.16.2 0.17.0", "spec.web.timeout"},
		{`limits: {maxSilences: 0}`, "--silences.max-silences=0", "-0.27.0 0.28.0", "spec.limits.maxSilences"},
		{`limits: {maxPerSilenceBytes: "0"}`, "--silences.max-silence-size-bytes=0", "-0.27.0 0.28.0", "spec.limits.maxPerSilenceBytes"},
		{`limits: {maxPerSilenceBytes: 1.5MB}`, "--silences.max-silence-size-bytes=1572864", "0.28.0", ""},
		{`minReadySeconds: 0`, "--dispatch.start-delay=0s", "-0.29.0 0.30.0", ""},
		{`logFormat: json`, "--log.format=json", "-0.15.3 0.16.0", "spec.logFormat"},
		{`logFormat: logfmt`, "--log.format=logfmt", "-0.33.1", ""},
		{`logLevel: info`, "--log.level=info", "-0.33.1", ""},
		{`{}`, "--cluster.peer-name=$(POD_NAME)", "-0.29.0 0.30.0", ""},
		{`{}`, "--cluster.label=demo/main", "-0.25.0 0.26.0", ""},
		{`{}`, "--web.config.file=/etc/alertmanager/web_config/web-config.yaml", "-0.21.0 0.22.0", ""},
		{`clusterTLS: {server: {certFile: a, keyFile: b}, client: {cert: {secret: {name: c, key: d}}, keySecret: {name: c, key: e}}}`,
			"--cluster.tls-config=/etc/alertmanager/cluster_tls_config/cluster-tls-config.yaml", "-0.23.0 0.24.0", "spec.clusterTLS"},
		{`replicas: 1`, "--cluster.listen-address=", "0.15.0 0.33.1", ""},
		{`replicas: 2`, "--cluster.listen-address=[$(POD_IP)]:9094", "0.15.0 0.33.1", ""},
		{`listenLocal: true`, "--web.listen-address=127.0.0.1:9093", "0.33.1", ""},
	} {
		for version := range strings.FieldsSeq(tc.versions) {
			version, absent := strings.CutPrefix(version, "-")
			am := alertmanager(t, tc.spec)
			am.Spec.Version = version
			o := newBuilder(am, testConfig())
			sts, err := o.StatefulSet(testInputs())
			if err != nil {
				t.Fatalf("%s: %v", tc.spec, err)
			}
			if args := sts.Spec.Template.Spec.Containers[0].Args; slices.Contains(args, tc.arg) == absent {
				t.Errorf("%s at %s: %s: want absent=%t\n%s", tc.spec, version, tc.arg, absent, strings.Join(args, "\n"))
			}
			var dropped strings.Builder
			for _, d := range o.Dropped() {
				dropped.WriteString(d.String() + "\n")
			}
			if reported := tc.field != "" && strings.Contains(dropped.String(), tc.field+" "); reported != (absent && tc.field != "") {
				t.Errorf("%s at %s: dropped %s", tc.spec, version, dropped.String())
			}
		}
	}
}

// A name that results in an invalid pod name is rejected.
func TestLongName(t *testing.T) {
	am := alertmanager(t, ``)
	am.Name = strings.Repeat("a", 52)
	if _, err := newBuilder(am, testConfig()).StatefulSet(testInputs()); err == nil || !strings.HasPrefix(err.Error(), "metadata.name: ") {
		t.Error(err)
	}
}
