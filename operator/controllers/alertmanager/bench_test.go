package alertmanager

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// sizes are the numbers of AlertmanagerConfigs to measure. The cost of one change must
// not be proportional to them.
var sizes = []int{20, 200, 2000}

// team is a typical AlertmanagerConfig: a receiver with a Secret, a few routes and a
// rule.
const team = `
route:
  receiver: chat
  groupBy: [alertname, job]
  matchers: [{name: team, value: %[1]s, matchType: "="}]
  routes:
  - {receiver: chat, matchers: [{name: severity, value: critical, matchType: "="}], repeatInterval: 1h}
  - {receiver: chat, matchers: [{name: severity, value: warning|info, matchType: "=~"}], groupWait: 5m}
receivers:
- {name: chat, slackConfigs: [{apiURL: {name: chat, key: url}, channel: "#%[1]s", title: "{{ .CommonLabels.alertname }}", text: "{{ .CommonAnnotations.summary }}"}]}
inhibitRules: [{sourceMatch: [{name: severity, value: critical}], targetMatch: [{name: severity, value: warning}], equal: [job]}]
`

// bench is an Alertmanager with the state that the operator keeps between
// reconciliations.
type bench struct {
	gatherer engine.Gatherer
	am       *v1.Alertmanager
	cluster  engine.Cluster
	configs  []*v1alpha1.AlertmanagerConfig // in the order of the store
}

// teams returns AlertmanagerConfigs in 50 namespaces with one Secret each.
func teams(b *testing.B, n int) ([]*v1alpha1.AlertmanagerConfig, *assets.Static) {
	b.Helper()
	out, secrets := make([]*v1alpha1.AlertmanagerConfig, n), &assets.Static{}
	for i := range out {
		c := &v1alpha1.AlertmanagerConfig{}
		if err := yaml.UnmarshalStrict(fmt.Appendf(nil, team, fmt.Sprintf("app-%d", i)), &c.Spec); err != nil {
			b.Fatal(err)
		}
		c.Namespace, c.Name, c.UID, c.Generation = fmt.Sprintf("team-%d", i%50), fmt.Sprintf("app-%d", i), types.UID(fmt.Sprint(i)), 1
		out[i] = c
	}
	for i := range 50 {
		secrets.AddSecret(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("team-%d", i), Name: "chat", ResourceVersion: "1"},
			Data:       map[string][]byte{"url": fmt.Appendf(nil, "https://hooks.example.org/team-%d", i)},
		})
	}
	slices.SortFunc(out, func(a, b *v1alpha1.AlertmanagerConfig) int { return informer.CompareKeys(a, b) })
	return out, secrets
}

func newBench(configs []*v1alpha1.AlertmanagerConfig, secrets *assets.Static) *bench {
	am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "team-0", Name: "main", UID: "am-main", Generation: 1}}
	am.Spec.AlertmanagerConfigSelector, am.Spec.AlertmanagerConfigNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	out := &bench{
		gatherer: Kind(testConfig()).Open(types.NamespacedName{Namespace: "team-0", Name: "main"}), am: am, configs: configs,
	}
	out.cluster = engine.Cluster{
		NamespaceLabels: func(string) (labels.Set, bool) { return nil, true },
		Objects: func(kind string) iter.Seq[catalog.Object] {
			return func(yield func(catalog.Object) bool) {
				for _, c := range out.configs {
					if kind != v1alpha1.AlertmanagerConfigKind || !yield(c) {
						return
					}
				}
			}
		},
		References: secrets,
		Current: func(deps []assets.Dependency) bool {
			for _, d := range deps {
				if obj, err := secrets.Object(d.Ref); obj.Version != d.Version || err != nil && !assets.IsNotFound(err) {
					return false
				}
			}
			return true
		},
		Live: engine.Live{Secrets: map[string]*corev1.Secret{}},
	}
	return out
}

// run runs one reconciliation and returns the hash of the desired state. Later runs find
// the Secrets.
func (b *bench) run(tb testing.TB) string {
	tb.Helper()
	in, err := b.gatherer.Gather(b.am, b.cluster)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := in.Desired()
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range plan.Content {
		if secret, ok := s.Object.(*corev1.Secret); ok && s.Verb == apply.Put {
			b.cluster.Live.Secrets[secret.Name] = apply.DigestSecret(secret)
		}
	}
	return plan.Hash
}

// change replaces an AlertmanagerConfig with its i-th version.
func (b *bench) change(i int) {
	c := b.configs[len(b.configs)/2].DeepCopy()
	c.Generation++
	c.Spec.Receivers[0].SlackConfigs[0].Channel = fmt.Sprintf("#channel-%d", i)
	b.configs[len(b.configs)/2] = c
}

// eachSize runs a benchmark for each number of AlertmanagerConfigs.
func eachSize(b *testing.B, run func(*testing.B, []*v1alpha1.AlertmanagerConfig, *assets.Static)) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("configs=%d", n), func(b *testing.B) {
			configs, secrets := teams(b, n)
			b.ReportAllocs()
			run(b, configs, secrets)
		})
	}
}

// BenchmarkOneChange measures a reconciliation after a change of one AlertmanagerConfig.
func BenchmarkOneChange(b *testing.B) {
	eachSize(b, func(b *testing.B, configs []*v1alpha1.AlertmanagerConfig, secrets *assets.Static) {
		o := newBench(configs, secrets)
		last := o.run(b)
		for i := 0; b.Loop(); i++ {
			o.change(i)
			hash := o.run(b)
			if hash == last {
				b.Fatal("the change made no difference")
			}
			last = hash
		}
	})
}

// BenchmarkNoChange measures a reconciliation without any change.
func BenchmarkNoChange(b *testing.B) {
	eachSize(b, func(b *testing.B, configs []*v1alpha1.AlertmanagerConfig, secrets *assets.Static) {
		o := newBench(configs, secrets)
		last := o.run(b)
		for b.Loop() {
			if o.run(b) != last {
				b.Fatal("something changed")
			}
		}
	})
}

// BenchmarkFirst measures the first reconciliation, which compiles, assembles and
// compresses everything.
func BenchmarkFirst(b *testing.B) {
	eachSize(b, func(b *testing.B, configs []*v1alpha1.AlertmanagerConfig, secrets *assets.Static) {
		for b.Loop() {
			newBench(configs, secrets).run(b)
		}
	})
}
