package livetargets

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// made returns the results of a workload's jobs for some groups.
func made(w preview.Workload) (out []string) {
	pods := &targetgroup.Group{Source: "pod/demo/a", Labels: model.LabelSet{"__meta_kubernetes_namespace": "demo", "__meta_kubernetes_pod_label_app": "web", "__meta_kubernetes_pod_labelpresent_app": "true"}}
	for i := range 4 {
		pods.Targets = append(pods.Targets, model.LabelSet{"__address__": model.LabelValue(fmt.Sprintf("10.0.0.%d:80", i)), "__meta_kubernetes_pod_container_port_name": "http"})
	}
	out = append(out, w.Error)
	for _, source := range w.Sources() {
		out = append(out, fmt.Sprintf("%s %s %s %s", source.Ref, source.Field, source.State, source.Error))
		for i := range source.Compiled {
			for _, t := range source.Compiled[i].Evaluate(targets.Found{Groups: []*targetgroup.Group{pods}}).Targets() {
				out = append(out, fmt.Sprintf("%s %s %s %v %v %+v %s", t.Job, t.State, t.URL, t.Shards, t.Discovered, t.Labels, t.Message))
			}
		}
	}
	return out
}

// Recompiling with a warm compiler gives the same result as compiling from scratch after any
// change.
func TestCompiledAgain(t *testing.T) {
	b := newFixture(t)
	jobs := func(text string) {
		b.cluster.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "more"}, Data: map[string][]byte{"jobs": []byte(text)}})
	}
	jobs("[]")
	set := func(of *catalog.Row, o readers.Object) { b.cluster.set(of.GroupVersionResource(), o) }
	main := func(more string) {
		set(catalog.Prometheus, read[v1.Prometheus](t, strings.TrimSuffix(prometheusText, "}")+", "+more+"}"))
	}
	additional := "additionalScrapeConfigs: {name: more, key: jobs}"
	var compiler preview.Compiler
	compiler.Options = b.Options
	defer compiler.Close()
	for i, change := range []func(){
		func() {},
		func() { main("scrapeInterval: 7s") },
		func() { main(additional) },
		func() { jobs("[{job_name: own, static_configs: [{targets: [a]}]}]") },
		func() { jobs("[{job_name: own, static_configs: [{targets: [b]}]}]") },
		func() {
			set(catalog.PodMonitor, read[v1.PodMonitor](t, strings.Replace(monitorText, "name: web", "name: more", 1)))
		},
		func() {
			set(catalog.PodMonitor, read[v1.PodMonitor](t, strings.Replace(monitorText, "app: web", "app: db", 1)))
		},
		func() {
			set(catalog.PodMonitor, read[v1.PodMonitor](t, strings.Replace(monitorText, "port: http", "port: http, authorization: {credentials: {name: token, key: t}}", 1)))
		},
		func() {
			b.cluster.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "token"}, Data: map[string][]byte{"t": []byte("x")}})
		},
		func() { main(additional + ", version: v2.40.0") },
		func() { main(additional + ", externalLabels: {a: b}") },
		func() { main(additional + ", scrapeInterval: nonsense") },
		func() { main("scrapeInterval: 7s") },
		func() {
			set(catalog.Prometheus, read[v1.Prometheus](t, strings.Replace(prometheusText, "podMonitorSelector: {}", "podMonitorSelector: {matchLabels: {none: none}}", 1)))
		},
		func() { main(additional) },
	} {
		change()
		c, err := b.candidate(t.Context(), ofMain.Ref())
		if err != nil {
			t.Fatal(err)
		}
		again := made(compiler.Read(c, b.read(t.Context(), "monitoring").cluster))
		anew := made(preview.Read(c, b.read(t.Context(), "monitoring").cluster.Offline(), b.Options))
		if diff := cmp.Diff(anew, again); diff != "" {
			t.Errorf("change %d: anew (-), again (+)\n%s", i, diff)
		}
	}
}

// Responses do not modify cached objects.
func TestNobodyChangesObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.cluster.secrets.AddSecret(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "token"}, Data: map[string][]byte{"t": []byte("x")}})
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, strings.NewReplacer("name: web", "name: bad", "port: http", "port: http, interval: x").Replace(monitorText)))
		b.cluster.set(readers.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "prometheus-main-0"}})
		b.api.Kind("pods").Add(pod("demo", "web-0", "web", 1))
		before := map[schema.GroupVersionResource][]runtime.Object{}
		for of, all := range b.cluster.objects {
			for _, o := range all {
				before[of] = append(before[of], o.DeepCopyObject())
			}
		}
		fresh := func() ([]engine.Setup, error) {
			servers, agents := prometheus.Kinds(b.Options, &rules.Cache{})
			return []engine.Setup{{Kind: servers}, {Kind: agents}}, nil
		}
		answers := insight.New(insight.Parts{Reader: b.cluster, Setups: b.Setups, Scopes: b.Scopes, Fresh: fresh, Options: b.Options, Targets: b.Source})
		page := insight.Page{Limit: 100}
		for range 2 {
			settled(aMinute)
			targets := b.request(t, everything{}, all(ofMain))
			for name, ask := range map[string]func() (any, error){
				"overview": func() (any, error) {
					return answers.Overview(t.Context(), everything{}, insight.OverviewQuery{Page: page})
				},
				"workload": func() (any, error) { return answers.Workload(t.Context(), everything{}, ofMain) },
				"sources": func() (any, error) {
					return answers.Sources(t.Context(), everything{}, ofMain, insight.SourceQuery{Page: page})
				},
				"rollout": func() (any, error) { return answers.Rollout(t.Context(), everything{}, ofMain, page) },
				"config": func() (any, error) {
					return answers.Config(t.Context(), everything{}, ofMain, insight.ConfigQuery{Page: page})
				},
				"explain": func() (any, error) { return answers.Explain(t.Context(), everything{}, ofWeb) },
				"targets": func() (any, error) { return answers.Targets(t.Context(), everything{}, all(ofWeb)) },
				"target": func() (any, error) {
					if len(targets.Items) == 0 || targets.Items[0].ID == "" {
						return nil, nil
					}
					return answers.Target(t.Context(), everything{}, ofMain, targets.Items[0].Job, targets.Items[0].ID, "")
				},
			} {
				if _, err := ask(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		for of, all := range b.cluster.objects {
			for i, o := range all {
				if diff := cmp.Diff(before[of][i], runtime.Object(o)); diff != "" {
					t.Errorf("%s %s was changed:\n%s", of.Resource, o.GetName(), diff)
				}
			}
		}
	})
}

// Requests for names that do not exist leave no state behind, and existing ones are found.
func TestNamesThatDoNotExist(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		ask := func(name string) error {
			of := ofMain
			of.Name = name
			_, err := b.Targets(t.Context(), everything{}, insight.TargetQuery{Of: of})
			return err
		}
		for i := range 100 {
			if err := ask(fmt.Sprint("none-", i)); !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		}
		if n, _, _ := b.size(); n != 0 {
			t.Errorf("%d workloads are kept", n)
		}
		if err := ask(ofMain.Name); err != nil {
			t.Error(err)
		}
		if n, _, _ := b.size(); n != 1 {
			t.Errorf("%d workloads are kept", n)
		}
	})
}

// Too long jobs of an object and too large regular expressions of a namespace are rejected. Others
// are accepted.
func TestWhatIsFollowedIsBounded(t *testing.T) {
	b := newFixture(t)
	set := func(name, steps string) {
		text := strings.Replace(monitorText, "name: web", "name: "+name, 1)
		text = strings.Replace(text, "port: http", "port: http, relabelings: ["+steps+"]", 1)
		b.cluster.set(catalog.PodMonitor.GroupVersionResource(), read[v1.PodMonitor](t, text))
	}
	set("long", "{targetLabel: a, replacement: "+strings.Repeat("x", 600<<10)+"}")
	const many = 16
	for i := range many {
		set(fmt.Sprintf("r%02d", i), strings.Repeat("{sourceLabels: [a], regex: '(abcdefghij|klmnopqrst){900}', action: keep}, ", 20)+"{sourceLabels: [a], action: keep}")
	}
	compiler := preview.Compiler{Options: b.Options}
	defer compiler.Close()
	for range 2 { // the second time with a warm cache
		c, err := b.candidate(t.Context(), ofMain.Ref())
		if err != nil {
			t.Fatal(err)
		}
		w := compiler.Read(c, b.read(t.Context(), "monitoring").cluster)
		counts := map[string]int{}
		for _, s := range w.Sources() {
			switch {
			case strings.Contains(s.Error, "its jobs have 601 KiB: too much to be looked at here; operator targets shows its targets"):
				counts["long"]++
			case strings.Contains(s.Error, "the regular expressions of the namespace compile to"):
				counts["expensive"]++
			case s.Error == "" && len(s.Compiled) > 0:
				counts["read"]++
			default:
				t.Errorf("%s: %.200s", s.Object.Name, s.Error)
			}
		}
		if counts["long"] != 1 || counts["expensive"] == 0 || counts["read"] < 2 {
			t.Errorf("%v", counts)
		}
	}
}

// TestFollowedWorkloadsFit: beyond the memory limit, idle workloads are evicted, and others are
// refused until then.
func TestFollowedWorkloadsFit(t *testing.T) {
	inBubble(t, func(t *testing.T, b *fixture) {
		b.Most = 1
		ask := func(name string) string {
			of := ofMain
			of.Name = name
			out, err := b.Targets(t.Context(), everything{}, insight.TargetQuery{Of: of})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(out.Notes, "\n")
		}
		second := read[v1.Prometheus](t, strings.Replace(prometheusText, "name: main", "name: second", 1))
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), second)
		const refused = "its targets are not followed now"
		if unread := ask("main"); strings.Contains(unread, refused) {
			t.Error(unread)
		}
		if unread := ask("second"); !strings.Contains(unread, refused) {
			t.Errorf("a second workload is followed: %q", unread)
		}
		time.Sleep(lately + aMinute/2)
		b.cluster.set(catalog.Prometheus.GroupVersionResource(), second)
		if unread := ask("second"); strings.Contains(unread, refused) {
			t.Error(unread)
		}
		synctest.Wait()
		if n, _, _ := b.size(); n != 1 {
			t.Errorf("%d workloads are followed", n)
		}
		if unread := ask("main"); !strings.Contains(unread, refused) {
			t.Errorf("a workload that was ended is followed beside another: %q", unread)
		}
	})
}
