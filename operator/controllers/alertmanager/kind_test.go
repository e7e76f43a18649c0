package alertmanager

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Files are written before the objects that run the pods, and a rejected object does not
// affect the others.
func TestPlan(t *testing.T) {
	w := newFakeCluster(t)
	w.configs = []*v1alpha1.AlertmanagerConfig{broken("demo", "bad"), routed("demo", "good", "hook"), routed("other", "far", "hook")}
	in, plan, err := w.plan(alertmanager(t, selectsAll))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"demo/bad false", "demo/good true"}, results(in)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"put Secret/alertmanager-main-tls-assets-0", "put Secret/alertmanager-main-generated",
		"put Secret/alertmanager-main-web-config", "put Secret/alertmanager-main-cluster-tls-config",
	}, steps(plan.Content)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"put Service/alertmanager-operated", "put StatefulSet/alertmanager-main"}, steps(plan.Workload)); diff != "" {
		t.Error(diff)
	}
	if plan.Delivered.Config == "" || len(plan.Delivered.Dirs) > 0 {
		t.Errorf("delivered %+v", plan.Delivered)
	}
	w.configs[1] = routed("demo", "good", "mail")
	if _, changed, err := w.plan(alertmanager(t, selectsAll)); err != nil || changed.Hash == plan.Hash || changed.Delivered.Config == plan.Delivered.Config {
		t.Errorf("the hash does not follow the configuration: %v", err)
	}
}

// Namespace and object selectors apply to namespaces and objects respectively.
func TestSelectors(t *testing.T) {
	w := newFakeCluster(t)
	if !w.kind.SelectsAtWill {
		t.Error("an Alertmanager with its own Secret alone is reported")
	}
	w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "a", "r"), routed("demo", "b", "r"), routed("other", "a", "r")}
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"nothing is set":       {``, nil},
		"own namespace":        {selectsAll, []string{"demo/a true", "demo/b true"}},
		"labels":               {`alertmanagerConfigSelector: {matchLabels: {name: a}}`, []string{"demo/a true"}},
		"all namespaces":       {`{alertmanagerConfigNamespaceSelector: {}, alertmanagerConfigSelector: {matchLabels: {name: a}}}`, []string{"demo/a true", "other/a true"}},
		"namespaces by labels": {`{alertmanagerConfigNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}, alertmanagerConfigSelector: {}}`, []string{"other/a true"}},
		"but the base":         {`{alertmanagerConfiguration: {name: b}, alertmanagerConfigSelector: {}}`, []string{"demo/a true"}},
		"a base alone":         {`{alertmanagerConfiguration: {name: b}}`, nil},
	} {
		in, _, err := w.plan(alertmanager(t, tc.spec))
		if err != nil {
			t.Fatal(err)
		}
		if got := results(in); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

const defaults = "route:\n  receiver: 'null'\nreceivers:\n- name: 'null'"

// If no AlertmanagerConfigs are selected, the user's Secret is used unchanged, and its
// other keys are copied.
func TestConfigSecret(t *testing.T) {
	for name, tc := range map[string]struct {
		spec    string
		secrets map[string]map[string][]byte
		config  string
		keys    []string
	}{
		"no Secret":      {``, nil, defaults, []string{configKey}},
		"no key":         {``, map[string]map[string][]byte{"alertmanager-main": {"a.tmpl": []byte("a")}}, defaults, []string{"a.tmpl", configKey}},
		"an empty value": {``, map[string]map[string][]byte{"alertmanager-main": {"alertmanager.yaml": {}}}, defaults, []string{configKey}},
		"no valid one":   {``, map[string]map[string][]byte{"alertmanager-main": {"alertmanager.yaml": []byte("{")}}, "{", []string{configKey}},
		"another name":   {`configSecret: own`, map[string]map[string][]byte{"own": {"alertmanager.yaml": []byte("own")}}, "own", []string{configKey}},
		"a key of ours":  {``, map[string]map[string][]byte{"alertmanager-main": {configKey: []byte("x"), "alertmanager.yaml": []byte("mine")}}, "mine", []string{configKey}},
	} {
		w := newFakeCluster(t)
		maps.Copy(w.secrets, tc.secrets)
		am := alertmanager(t, tc.spec)
		if got := w.config(am); got != tc.config {
			t.Errorf("%s: configuration %q", name, got)
		}
		_, plan, _ := w.plan(am)
		if got := slices.Sorted(maps.Keys(plan.Content[1].Object.(*corev1.Secret).Data)); !slices.Equal(got, tc.keys) {
			t.Errorf("%s: keys %q", name, got)
		}
	}
}

// An invalid base is reported as a fault of the Alertmanager. Nothing is written, but the
// selected objects are still checked.
func TestWrongBase(t *testing.T) {
	for name, tc := range map[string]struct {
		spec, secret, want string
	}{
		"no YAML":       {selectsAll, "{", ""},
		"no base":       {`{alertmanagerConfigSelector: {}, alertmanagerConfiguration: {name: missing}}`, "", `spec.alertmanagerConfiguration.name: AlertmanagerConfig "demo/missing" does not exist`},
		"a broken base": {`{alertmanagerConfigSelector: {}, alertmanagerConfiguration: {name: bad}}`, "", "nobody"},
	} {
		w := newFakeCluster(t)
		w.configs = []*v1alpha1.AlertmanagerConfig{broken("demo", "bad"), broken("demo", "worse"), routed("demo", "good", "hook")}
		if tc.secret != "" {
			w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte(tc.secret)}
		}
		in, plan, err := w.plan(alertmanager(t, tc.spec))
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(plan.Content)+len(plan.Workload) > 0 {
			t.Errorf("%s: %v, and the plan %q", name, err, steps(append(plan.Content, plan.Workload...)))
		}
		if got := strings.Join(results(in), " "); !strings.Contains(got, "demo/worse false") || !strings.Contains(got, "demo/good true") {
			t.Errorf("%s: results %s", name, got)
		}
	}
}

// A change of an AlertmanagerConfig that is the base changes the configuration. Its
// routes are not restricted to its namespace, and the Secret is ignored.
func TestBaseByName(t *testing.T) {
	w := newFakeCluster(t)
	w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte("{")}
	w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "base", "hook")}
	am := alertmanager(t, `alertmanagerConfiguration: {name: base, global: {resolveTimeout: 7m}}`)
	if got := w.config(am); !strings.Contains(got, "resolve_timeout: 7m") || !strings.Contains(got, "demo/base/hook") || strings.Contains(got, "namespace=") {
		t.Error(got)
	}
	w.configs[0] = routed("demo", "base", "mail")
	if got := w.config(am); !strings.Contains(got, "demo/base/mail") {
		t.Error(got)
	}
	if got := w.kind.SelectsBy(v1alpha1.AlertmanagerConfigKind).Named(am); !slices.Equal(got, []types.NamespacedName{{Namespace: "demo", Name: "base"}}) {
		t.Errorf("named %v", got)
	}
}

// The matcher strategy determines the namespaces whose alerts an AlertmanagerConfig can
// match.
func TestMatcherStrategy(t *testing.T) {
	for strategy, limited := range map[string]string{"OnNamespace": "demo other", "OnNamespaceExceptForAlertmanagerNamespace": "other", "None": ""} {
		w := newFakeCluster(t)
		w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "a", "r"), routed("other", "a", "r")}
		got := w.config(alertmanager(t, `{alertmanagerConfigNamespaceSelector: {}, alertmanagerConfigSelector: {}, alertmanagerConfigMatcherStrategy: {type: `+strategy+`}}`))
		for _, ns := range []string{"demo", "other"} {
			if strings.Contains(got, `namespace="`+ns+`"`) != strings.Contains(limited, ns) {
				t.Errorf("%s: %s", strategy, got)
			}
		}
	}
}

// If the API server is not available, the configuration does not change and no receivers
// are removed.
func TestNoAnswer(t *testing.T) {
	w := newFakeCluster(t)
	w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "a", "r")}
	am := alertmanager(t, selectsAll)
	before := w.config(am)
	w.broken = true
	in, _, err := w.plan(am)
	if err == nil || !assets.IsTemporary(err) || len(results(in)) > 0 {
		t.Errorf("%v, results %q", err, results(in))
	}
	w.broken = false
	if got := w.config(am); got != before {
		t.Error(got)
	}
}

// Faults of the object are reported before anything is written.
func TestFaultsComeFirst(t *testing.T) {
	for spec, want := range map[string]string{
		`version: latest`:      `spec.version: version "latest"`,
		`version: 0.14.0`:      `spec.version: unsupported Alertmanager version "0.14.0"`,
		`version: 0.15.0-rc.1`: `spec.version: unsupported Alertmanager version "0.15.0-rc.1"`,
		`version: 1.0.0`:       `spec.version: unsupported`,
		`alertmanagerConfigSelector: {matchExpressions: [{key: a, operator: Maybe}]}`: `spec.alertmanagerConfigSelector`,
		`alertmanagerConfiguration: {}`:                                               `spec.alertmanagerConfiguration.name: `,
		`secrets: [a, ""]`:                                                            `spec.secrets[1]: `,
		`configMaps: [""]`:                                                            `spec.configMaps[0]: `,
		`secrets: [a, a]`:                                                             `spec: two volumes`,
		`retention: 1d`:                                                               `spec.retention: `,
		`clusterGossipInterval: 0s`:                                                   `spec.clusterGossipInterval: `,
		`externalUrl: "am.example.org"`:                                               `spec.externalUrl: `,
		`externalUrl: "http://user:secret@host:port"`:                                 `spec.externalUrl: not a valid URL`,
		`routePrefix: "/a*b"`:                                                         `spec.routePrefix: `,
		`limits: {maxPerSilenceBytes: many}`:                                          `spec.limits.maxPerSilenceBytes: `,
		`replicas: 2000000000`:                                                        `spec.replicas: 2000000000 is more than 1000`,
		`limits: {maxSilences: -1}`:                                                   `spec.limits.maxSilences: `,
		`clusterAdvertiseAddress: host`:                                               `spec.clusterAdvertiseAddress: `,
		`additionalPeers: ["a:1", b]`:                                                 `spec.additionalPeers[1]: `,
		`web: {tlsConfig: {}}`:                                                        `spec.web.tlsConfig: `,
		`clusterTLS: {server: {certFile: a, keyFile: b}, client: {}}`:                 `spec.clusterTLS.client: no certificate`,
		`clusterTLS: {server: {}, client: {}}`:                                        `spec.clusterTLS.server: no private key`,
		`additionalArgs: [{name: cluster.listen-address, value: "x"}]`:                `spec.additionalArgs: already managed by the operator: cluster.listen-address`,
		`additionalArgs: [{name: no-cluster.peer}]`:                                   `spec.additionalArgs: `,
		`baseImage: "::"`:                                                             `spec.baseImage: "::": `,
	} {
		w := newFakeCluster(t)
		w.configs = []*v1alpha1.AlertmanagerConfig{routed("demo", "a", "r")}
		_, plan, err := w.plan(alertmanager(t, spec))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the error has the password: %v", spec, err)
		}
		if len(plan.Workload) > 0 && plan.Workload[len(plan.Workload)-1].Object.GetName() == "alertmanager-main" {
			t.Errorf("%s: plan %q", spec, steps(plan.Workload))
		}
	}
}

// The shared Service keeps the ports of peers and has the cluster port twice. A
// StatefulSet with a former name is deleted, one of another workload is not.
func TestPlanAmongOthers(t *testing.T) {
	w := newFakeCluster(t)
	am, peer := alertmanager(t, ``), alertmanager(t, `portName: http`)
	peer.Name, peer.UID = "other", "am-other"
	am.CreationTimestamp = metav1.Unix(1, 0) // the ports of the older one take precedence
	ours, foreign := &appsv1.StatefulSet{}, &appsv1.StatefulSet{}
	ours.Name, ours.OwnerReferences = "alertmanager-old", []metav1.OwnerReference{{UID: am.UID}}
	foreign.Name, foreign.OwnerReferences = "alertmanager-else", []metav1.OwnerReference{{UID: "x"}}
	w.live.Peers = []engine.Peer{{Workload: am}, {Workload: peer}}
	w.live.StatefulSets = map[string]*appsv1.StatefulSet{ours.Name: ours, foreign.Name: foreign}
	_, plan, err := w.plan(am)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		"put Service/alertmanager-operated", "put StatefulSet/alertmanager-main", "remove StatefulSet/alertmanager-old",
	}, steps(plan.Workload)); diff != "" {
		t.Error(diff)
	}
	svc := plan.Workload[0].Object.(*corev1.Service)
	var ports []string
	for _, p := range svc.Spec.Ports {
		ports = append(ports, p.Name)
	}
	if len(svc.OwnerReferences) != 2 || strings.Join(ports, " ") != "http tcp-mesh udp-mesh" {
		t.Errorf("references %v, ports %q", svc.OwnerReferences, ports)
	}
	if !slices.ContainsFunc(faults.Texts(plan.Warnings), func(text string) bool { return strings.Contains(text, "alertmanager-operated") }) {
		t.Errorf("nothing tells of the port that is lost: %q", plan.Warnings)
	}
	_, plan, err = w.plan(alertmanager(t, `serviceName: own`))
	if err != nil || strings.Contains(strings.Join(steps(plan.Workload), " "), "Service/") {
		t.Errorf("with a Service of the user: %q, %v", steps(plan.Workload), err)
	}
}

// Event handlers call Shape for every Alertmanager, even with an invalid version: it must
// not panic, because that would end the operator.
func TestShapeWithoutAVersion(t *testing.T) {
	am := alertmanager(t, `{version: latest, web: {tlsConfig: {certFile: a, keyFile: b}}}`)
	shape := Kind(testConfig()).Shape(am)
	if len(shape.Sets) != 1 || shape.Sets[0].Name != "alertmanager-main" || shape.Reloaders.Scheme != "http" {
		t.Errorf("%+v", shape)
	}
}

// Deprecated fields are reported, and so are fields that the version does not support.
func TestRemarks(t *testing.T) {
	_, plan, err := newFakeCluster(t).plan(alertmanager(t, `{tag: v1, sha: abc, version: 0.27.0, limits: {maxSilences: 1}}`))
	if err != nil || plan.Reason != engine.ReasonDeprecated || plan.Message != "spec.tag is deprecated, use spec.image; spec.sha is deprecated, use spec.image" {
		t.Errorf("%s %q, %v", plan.Reason, plan.Message, err)
	}
	if !slices.Equal(plan.Dropped, []gate.Dropped{{Path: "spec.limits.maxSilences", Need: ">= 0.28.0"}}) {
		t.Errorf("dropped %q", plan.Dropped)
	}
}

// A base that becomes invalid, and valid again, does not recompile AlertmanagerConfigs
// that it does not affect. New ones are checked against the last valid base, which the
// pods use.
func TestAWrongBaseCompilesNothing(t *testing.T) {
	w := newFakeCluster(t)
	good := []byte("global: {smtp_from: a@b, smtp_smarthost: 'c:25'}\nroute: {receiver: r}\nreceivers: [{name: r}]")
	w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": good}
	mail := func(name string) *v1alpha1.AlertmanagerConfig {
		c := routed("demo", name, "r")
		c.Spec.Receivers[0].EmailConfigs = []v1alpha1.EmailConfig{{To: "ada@example.org"}}
		return c
	}
	w.configs = []*v1alpha1.AlertmanagerConfig{broken("demo", "bad"), mail("good")}
	am := alertmanager(t, selectsAll)
	in, _, err := w.plan(am)
	if err != nil {
		t.Fatal(err)
	}
	before := in.(*inputs).configs
	for _, base := range []string{"{", "route: {receiver: nobody}", string(good)} {
		w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte(base)}
		in, _, err := w.plan(am)
		if (err == nil) != (base == string(good)) {
			t.Fatalf("%s: %v", base, err)
		}
		for i, c := range in.(*inputs).configs {
			if c.compiledConfig != before[i].compiledConfig {
				t.Errorf("%s: %s was compiled again", base, c.object.Name)
			}
		}
	}
	w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte("{")}
	w.configs = append(w.configs, mail("new"))
	in, _, _ = w.plan(am)
	if got := results(in); !slices.Equal(got, []string{"demo/bad false", "demo/good true", "demo/new true"}) {
		t.Errorf("with a new one: %q", got)
	}
	w.secrets["alertmanager-main"] = map[string][]byte{"alertmanager.yaml": []byte("route: {receiver: r}\nreceivers: [{name: r}]")}
	in, _, err = w.plan(am)
	if got := results(in); err != nil || !slices.Equal(got, []string{"demo/bad false", "demo/good false", "demo/new false"}) {
		t.Errorf("without global settings: %q, %v", got, err)
	}
}

// A change of one AlertmanagerConfig compiles only that one.
func TestOneChangeCompilesOne(t *testing.T) {
	w := newFakeCluster(t)
	for i := range 50 {
		w.configs = append(w.configs, routed("demo", fmt.Sprintf("c%02d", i), "r"))
	}
	am := alertmanager(t, selectsAll)
	in, _, err := w.plan(am)
	if err != nil {
		t.Fatal(err)
	}
	w.configs[7] = routed("demo", "c07", "other")
	again, _, err := w.plan(am)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i, c := range again.(*inputs).configs {
		if c.compiledConfig != in.(*inputs).configs[i].compiledConfig {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d of 50 were compiled", changed)
	}
}

// A Secret that many objects of a namespace refer to changes: those for which there is no time keep their last value, and
// changes of other namespaces do not wait.
func TestOneSecretOfManyObjects(t *testing.T) {
	w := newFakeCluster(t)
	w.secrets["login"] = map[string][]byte{"url": []byte("http://before")}
	for i := range 20 {
		c := routed("demo", fmt.Sprintf("c%02d", i), "hook")
		c.Spec.Receivers[0].WebhookConfigs = []v1alpha1.WebhookConfig{{URLSecret: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "login"}, Key: "url",
		}}}
		c.ResourceVersion = fmt.Sprint(i)
		w.configs = append(w.configs, c)
	}
	am, left := alertmanager(t, selectsAll+"\nalertmanagerConfigNamespaceSelector: {}"), 5
	w.renew = func(namespace string, bytes int) bool {
		if namespace != "demo" || bytes == 0 {
			t.Errorf("%d bytes of namespace %s", bytes, namespace)
		}
		left--
		return left >= 0
	}
	_ = w.config(am)
	w.secrets["login"] = map[string][]byte{"url": []byte("http://after")}
	w.configs = append(w.configs, routed("other", "new", "hook"))
	for _, want := range []int{5, 10, 15, 20} {
		left = 5
		text := w.config(am)
		if after, before := strings.Count(text, "http://after"), strings.Count(text, "http://before"); after != want || before != 20-want {
			t.Errorf("%d receivers have the new URL and %d the old one, want %d", after, before, want)
		}
		if !strings.Contains(text, "other/new/hook") {
			t.Error("the new object of another namespace is missing")
		}
	}
}
