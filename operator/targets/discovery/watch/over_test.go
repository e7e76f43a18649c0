package watch

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// Applied objects replace those in the cluster; other groups, and those of the subscription itself,
// do not change.
func TestEachOver(t *testing.T) {
	const app, stage = "__meta_kubernetes_pod_label_app", "__meta_kubernetes_namespace_label_stage"
	bubble(t, func(t *testing.T, a *api) {
		c := a.cluster()
		for _, namespace := range []string{"demo", "shop"} {
			a.Kind("namespaces").Add(object(t, &corev1.Namespace{}, "metadata: {name: %s, labels: {stage: test}}", namespace))
			a.Kind("pods").Add(a.pod(namespace, "web", "10.0.0.1", "web"))
			a.Kind("endpointslices").Add(a.slice(namespace, "web", "10.0.0.1", namespace, "web"))
		}
		relabelled, other := a.pod("demo", "web", "10.0.0.1", "new"), a.pod("shop", "db", "10.0.0.2", "db")
		slice := a.slice("demo", "db", "10.0.0.2", "shop", "db")
		namespace := object(t, &corev1.Namespace{}, "metadata: {name: shop, labels: {stage: live}}")
		there := []string{"endpointslice/demo/web web", "endpointslice/shop/web web"}
		everywhere := targets.KubernetesSD{Role: "endpointslice"}
		staged := targets.KubernetesSD{Role: "pod", AttachMetadata: targets.AttachMetadata{Namespace: true}}
		selected := targets.KubernetesSD{Role: "pod", Selectors: []targets.Selector{{Role: "pod", Label: "app=web"}}}
		for name, tc := range map[string]struct {
			sd    targets.KubernetesSD
			over  []discovery.Object
			label model.LabelName
			want  []string
		}{
			"nothing":                           {everywhere, nil, app, there},
			"another label":                     {everywhere, []discovery.Object{relabelled}, app, []string{"endpointslice/demo/web new", "endpointslice/shop/web web"}},
			"a new object":                      {targets.KubernetesSD{Role: "pod"}, []discovery.Object{other}, app, []string{"pod/demo/web web", "pod/shop/db db", "pod/shop/web web"}},
			"not a pod of another namespace":    {everywhere, []discovery.Object{slice, other}, app, append([]string{"endpointslice/demo/db "}, there...)},
			"what is looked at nowhere":         {inDemo, []discovery.Object{other}, app, there[:1]},
			"a kind that does not matter":       {inDemo, []discovery.Object{namespace}, app, there[:1]},
			"the namespace":                     {staged, []discovery.Object{namespace}, stage, []string{"pod/demo/web test", "pod/shop/web live"}},
			"no longer selected":                {selected, []discovery.Object{relabelled}, app, []string{"pod/shop/web web"}},
			"a selector, and what it lets pass": {selected, []discovery.Object{other}, app, []string{"pod/demo/web web", "pod/shop/web web"}},
		} {
			func() {
				sub := subscribe(t, c, tc.sd)
				defer sub.Close()
				before := sub.found(string(tc.label))
				over := &discovery.Objects{}
				for _, o := range tc.over {
					over.Add(o)
				}
				var got []string
				if err := sub.EachOver(&tc.sd, over, func(g *targetgroup.Group) {
					got = append(got, g.Source+" "+string(g.Targets[0][tc.label]+g.Labels[tc.label]))
				}); err != nil {
					t.Fatal(name, err)
				}
				slices.Sort(got)
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got)\n%s", name, diff)
				}
				again := subscribe(t, c, tc.sd)
				defer again.Close()
				same(t, before, again.found(string(tc.label)))
			}()
		}
	})
}
