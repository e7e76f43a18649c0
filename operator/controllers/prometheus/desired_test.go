package prometheus

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// scene is a workload and its cluster, for one reconciliation.
type scene struct {
	selectable
	p            *v1.Prometheus
	references   assets.Static
	reader       assets.Reader // used instead of references
	configMaps   []*corev1.ConfigMap
	secrets      []*corev1.Secret
	statefulSets []*appsv1.StatefulSet
	disable      bool // sets Options.DisableUnmanaged
}

// newScene returns a workload that selects all objects in its cluster, with one object of
// each kind.
func newScene() *scene {
	s := &scene{p: &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web", UID: "p", Generation: 1}}}
	s.p.Spec.ServiceMonitorSelector, s.p.Spec.PodMonitorSelector, s.p.Spec.RuleSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}, &metav1.LabelSelector{}
	m := serviceMonitors(1)[0]
	m.Namespace, m.Name = "team", "app"
	s.services = []*v1.ServiceMonitor{m}
	s.rules = []*v1.PrometheusRule{ruleOf("r", "up")}
	return s
}

// ownedMeta returns the metadata of an object in the namespace team with this owner
// reference.
func ownedMeta(name string, owner types.UID) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "team", Name: name, OwnerReferences: []metav1.OwnerReference{{UID: owner, Controller: new(true)}}}
}

func ruleOf(name, expr string) *v1.PrometheusRule {
	r := &v1.PrometheusRule{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID("uid-" + name), Generation: 1}}
	r.Spec.Groups = []v1.RuleGroup{{Name: name, Rules: []v1.Rule{{Record: "a:b"}}}}
	r.Spec.Groups[0].Rules[0].Expr.StrVal = expr
	r.Spec.Groups[0].Rules[0].Expr.Type = 1
	return r
}

func (s *scene) gather() (*Inputs, error) {
	return gatherFor(Options{Workload: benchConfig, DisableUnmanaged: s.disable}, forServer(s.p), s.cluster())
}

func (s *scene) cluster() engine.Cluster {
	var reader assets.Reader = &s.references
	if s.reader != nil {
		reader = s.reader
	}
	return engine.Cluster{
		NamespaceLabels: func(name string) (labels.Set, bool) { return labels.Set{"kubernetes.io/metadata.name": name}, true },
		Objects:         s.objects,
		References:      reader,
		Now:             time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Live:            engine.Live{ConfigMaps: s.configMaps, StatefulSets: byName(s.statefulSets), Secrets: byName(s.secrets)},
	}.Offline()
}

func (s *scene) plan(t *testing.T) Plan {
	t.Helper()
	in, err := s.gather()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func secretKey(name, key string) *corev1.SecretKeySelector {
	return &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key}
}

// steps formats steps as "verb Kind name", in order.
func steps(all []apply.Step) (out []string) {
	for _, s := range all {
		out = append(out, fmt.Sprintf("%s %s %s", s.Verb, apply.KindOf(s.Object), s.Object.GetName()))
	}
	return out
}

func TestDesired(t *testing.T) {
	ca := certificate(t) + strings.Repeat("x", 255_000)
	for name, tc := range map[string]struct {
		change            func(*scene)
		content, workload []string
	}{
		"everything once": {func(*scene) {},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"the configuration is the user's": {func(s *scene) { s.p.Spec.ServiceMonitorSelector, s.p.Spec.PodMonitorSelector = nil, nil },
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put-once Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"it is never the user's": {func(s *scene) {
			s.p.Spec.ServiceMonitorSelector, s.p.Spec.PodMonitorSelector, s.disable = nil, nil, true
		},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"large TLS assets take two Secrets": {func(s *scene) {
			data := map[string][]byte{"ca0": []byte(ca), "ca1": []byte(ca), "ca2": []byte(ca), "ca3": []byte(ca)}
			s.references.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "tls"}, Data: data})
			spec := &s.services[0].Spec
			for i := range 4 {
				key := fmt.Sprintf("ca%d", i)
				spec.Endpoints = append(spec.Endpoints, spec.Endpoints[0])
				spec.Endpoints[i].TLSConfig = &v1.TLSConfig{SafeTLSConfig: v1.SafeTLSConfig{CA: v1.SecretOrConfigMap{
					Secret: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "tls"}, Key: key},
				}}}
			}
		},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0", "put Secret prometheus-web-tls-assets-1",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"TLS Secrets that are not needed any more": {func(s *scene) {
			for _, name := range []string{
				"prometheus-web-tls-assets-10", "prometheus-web-tls-assets-1", "prometheus-web-tls-assets-0", "prometheus-web-tls-assets-", "prometheus-web-tls-assets-1a",
				"prometheus-other-tls-assets-1", "prometheus-web", "login",
			} {
				s.secrets = append(s.secrets, &corev1.Secret{ObjectMeta: ownedMeta(name, "p")})
			}
		},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"remove Secret prometheus-web-tls-assets-1", "remove Secret prometheus-web-tls-assets-10",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"rule ConfigMaps that are not needed any more go last": {func(s *scene) {
			s.configMaps = []*corev1.ConfigMap{
				{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-web-rulefiles-1"}, Data: map[string]string{"gone.yaml": "x"}},
				{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-web-rulefiles-0"}, Data: map[string]string{}},
				{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Data: map[string]string{"a.yaml": "x"}},
			}
		},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "remove ConfigMap prometheus-web-rulefiles-1", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web"}},
		"shards, one too many, one that goes already": {func(s *scene) {
			s.p.Spec.Shards = new(int32(2))
			for _, name := range []string{"prometheus-web", "prometheus-web-shard-1", "prometheus-web-shard-2", "prometheus-web-shard-3"} {
				s.statefulSets = append(s.statefulSets, &appsv1.StatefulSet{ObjectMeta: ownedMeta(name, "p")})
			}
			s.statefulSets[3].DeletionTimestamp = new(metav1.Now())
		},
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put Service prometheus-operated", "put StatefulSet prometheus-web", "put StatefulSet prometheus-web-shard-1", "remove StatefulSet prometheus-web-shard-2"}},
		"a Service of the user's": {func(s *scene) { s.p.Spec.ServiceName = "mine" },
			[]string{"put ConfigMap prometheus-web-rulefiles-0", "put Secret prometheus-web", "put Secret prometheus-web-tls-assets-0",
				"put Secret prometheus-web-web-config", "put Secret prometheus-web-thanos-prometheus-http-client-file"},
			[]string{"put StatefulSet prometheus-web"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			tc.change(s)
			plan := s.plan(t)
			if diff := cmp.Diff(tc.content, steps(plan.Content)); diff != "" {
				t.Errorf("content %s", diff)
			}
			if diff := cmp.Diff(tc.workload, steps(plan.Workload)); diff != "" {
				t.Errorf("workload %s", diff)
			}
			for _, step := range append(plan.Content, plan.Workload...) {
				if step.Verb == apply.Put && step.Object.GetNamespace() != "team" {
					t.Errorf("%s is in %q", step.Object.GetName(), step.Object.GetNamespace())
				}
			}
			if again := s.plan(t); again.Hash != plan.Hash || !slices.Equal(steps(again.Workload), steps(plan.Workload)) {
				t.Error("another plan from the same inputs")
			}
		})
	}
}

// certificate returns a self-signed CA as PEM.
func certificate(t *testing.T) string {
	t.Helper()
	text, _ := keyPair(t)
	return text
}

// keyPair returns a self-signed CA and its key as PEM.
func keyPair(t *testing.T) (certificate, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// The hash of the content that pods should have changes if and only if their files
// change.
func TestHashFollowsTheContent(t *testing.T) {
	base := newScene().plan(t).Hash
	seen := map[string]string{base: "nothing"}
	for name, change := range map[string]func(*scene){
		"a monitor": func(s *scene) { s.services[0].Spec.Endpoints[0].Path = "/x" },
		"another monitor": func(s *scene) {
			s.services = append(s.services, serviceMonitors(2)[1])
			s.services[1].Namespace = "team"
		},
		"no monitor":         func(s *scene) { s.services = nil },
		"a rule":             func(s *scene) { s.rules[0] = ruleOf("r", "sum(up)") },
		"another rule":       func(s *scene) { s.rules = append(s.rules, ruleOf("s", "up")) },
		"the owner's labels": func(s *scene) { s.p.Spec.ExternalLabels = map[string]string{"a": "b"} },
		"web configuration": func(s *scene) {
			s.p.Spec.Web = &v1.PrometheusWebSpec{}
			s.p.Spec.Web.HTTPConfig = &v1.WebHTTPConfig{HTTP2: new(true)}
		},
	} {
		s := newScene()
		change(s)
		hash := s.plan(t).Hash
		if other, twice := seen[hash]; twice {
			t.Errorf("%s and %s give one hash", name, other)
		}
		seen[hash] = name
	}
	for name, change := range map[string]func(*scene){
		"nothing":                   func(*scene) {},
		"order of monitors":         func(s *scene) { slices.Reverse(s.services) },
		"replicas":                  func(s *scene) { s.p.Spec.Replicas = new(int32(7)) },
		"resources":                 func(s *scene) { s.p.Spec.Resources.Requests = corev1.ResourceList{} },
		"metadata of a monitor":     func(s *scene) { s.services[0].Annotations = map[string]string{"a": "b"}; s.services[0].Generation = 9 },
		"a monitor that is refused": func(s *scene) { s.pods = append(s.pods, refused()) },
		"a rule that is refused":    func(s *scene) { s.rules = append(s.rules, ruleOf("bad", "sum(")) },
		"where rules are": func(s *scene) {
			in, err := newScene().gather()
			if err != nil {
				t.Fatal(err)
			}
			s.configMaps = []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "prometheus-web-rulefiles-1"}, Data: in.RulePlan.Steps[0].Files}}
		},
	} {
		s := newScene()
		change(s)
		if s.plan(t).Hash != base {
			t.Errorf("%s changes the hash", name)
		}
	}
}

// refused returns a PodMonitor that every workload rejects.
func refused() *v1.PodMonitor {
	m := &v1.PodMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "bad", UID: "bad"}}
	m.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "http", Interval: "10s", ScrapeTimeout: "20s"}}
	return m
}

func TestGatherKeepsRejectedObjectsApart(t *testing.T) {
	s := newScene()
	s.pods = []*v1.PodMonitor{refused()}
	s.rules = append(s.rules, ruleOf("bad", "sum("))
	in, err := s.gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]engine.Selection{"ServiceMonitor": {Selected: 1}, "PodMonitor": {Selected: 1, Rejected: 1}, "PrometheusRule": {Selected: 2, Rejected: 1}}
	for kind, n := range want {
		if in.counts()[kind] != n {
			t.Errorf("%s: %+v, want %+v", kind, in.counts()[kind], n)
		}
	}
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	text := plainConfig(t, plan)
	if !strings.Contains(text, "serviceMonitor/team/app/0") || strings.Contains(text, "podMonitor") {
		t.Errorf("configuration:\n%s", text)
	}
}

func plainConfig(t *testing.T, plan Plan) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(plan.Config.Gzip))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// down is an API server that is not available.
type down struct{}

func (down) Object(assets.Ref) (assets.Object, error) {
	return assets.Object{}, errors.New("connection refused")
}

// A cluster that cannot be read does not remove targets: the reconciliation fails.
func TestGatherFailsWhenTheClusterIsDown(t *testing.T) {
	s := newScene()
	s.reader = down{}
	s.services[0].Spec.Endpoints[0].BasicAuth = &v1.BasicAuth{Username: corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "user",
	}}
	in, err := s.gather()
	if err == nil || !strings.Contains(err.Error(), "ServiceMonitor team/app") || !assets.IsTemporary(err) {
		t.Errorf("err = %v", err)
	}
	want := assets.Ref{Kind: assets.Secret, Namespace: "team", Name: "login"}
	if !slices.Contains(slices.Collect(in.References()), want) {
		t.Errorf("references %v", slices.Collect(in.References()))
	}
	s.reader = nil
	in, err = s.gather() // the Secret does not exist: the object is rejected, and the Secret is watched for its creation
	if err != nil || in.counts()["ServiceMonitor"].Rejected != 1 || !slices.Contains(slices.Collect(in.References()), want) {
		t.Errorf("%v, %+v, %v", err, in.counts(), slices.Collect(in.References()))
	}
}

func TestGatherNamesWhatIsWrongWithTheOwner(t *testing.T) {
	for want, change := range map[string]func(*v1.PrometheusSpec){
		"spec.version":                     func(s *v1.PrometheusSpec) { s.Version = "newest" },
		"spec.serviceMonitorSelector":      func(s *v1.PrometheusSpec) { s.ServiceMonitorSelector = badSelector },
		"spec.podMonitorNamespaceSelector": func(s *v1.PrometheusSpec) { s.PodMonitorNamespaceSelector = badSelector },
		"spec.ruleSelector":                func(s *v1.PrometheusSpec) { s.RuleSelector = badSelector },
		"scrapeTimeout":                    func(s *v1.PrometheusSpec) { s.ScrapeInterval, s.ScrapeTimeout = "10s", "20s" },
		"additionalScrapeConfigs": func(s *v1.PrometheusSpec) {
			s.AdditionalScrapeConfigs = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "gone"}, Key: "x"}
		},
	} {
		s := newScene()
		change(&s.p.Spec)
		if _, err := s.gather(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}

var badSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
