package insight_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

// canary returns a recognizable replacement for a value of a Secret, in the same form.
func canary(value string, n int) string {
	switch text := strings.TrimSpace(value); {
	case strings.HasPrefix(text, "-----BEGIN"), strings.ContainsAny(text, "\n{["), text == "":
		return value // a certificate, or a file that is never shown
	case strings.Contains(text, "://"):
		return fmt.Sprintf("https://c4nary.example/c4nary-%d?x=c4nary", n)
	case strings.Contains(text, ":"):
		return fmt.Sprintf("c4nary-%d.example:25", n)
	}
	return fmt.Sprintf("c4nary-%d", n)
}

// configGoldens are the golden files of packages that compile configurations, with all references
// to Secrets, and the minimum number of configurations with redacted values.
var configGoldens = map[string]int{"../../config/promconfig/testdata/*.txtar": 90, "../../config/amconfig/testdata/*/*.txtar": 30}

// Configurations and routes contain no value of a Secret, for every field with a reference to a
// Secret that has a golden file.
func TestNoSecretInAnyConfig(t *testing.T) {
	for pattern, least := range configGoldens {
		hidden := 0
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			c, err := golden.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			s, workloads := canaries(t, c)
			a := answers(t, s, nil)
			for _, o := range workloads {
				config, err := a.Config(t.Context(), everything, o, insight.ConfigQuery{Page: page})
				if bytes.Contains(withoutCanary(t, file, config, err), []byte("<hidden>")) {
					hidden++
				}
				if o.Row == catalog.Alertmanager {
					routes, err := a.Routes(t.Context(), everything, o.NamespacedName, nil)
					withoutCanary(t, file, routes, err)
				}
			}
		}
		if hidden < least {
			t.Errorf("%s: only %d configurations have something that is hidden: the test looks at too little", pattern, hidden)
		}
	}
}

// withoutCanary encodes a response or an error and checks that it contains no canary.
func withoutCanary(t *testing.T, file string, answer any, err error) []byte {
	t.Helper()
	text := []byte(fmt.Sprint(err))
	if err == nil {
		if text, err = encode(answer); err != nil {
			t.Fatal(err)
		}
	}
	if i := bytes.Index(text, []byte("c4nary")); i >= 0 {
		t.Errorf("%s: %s", file, text[max(0, i-200):min(len(text), i+50)])
	}
	return text
}

// canaries returns a cluster with the objects of a golden file and canaries in all Secrets.
func canaries(t *testing.T, c golden.Case) (*store, []insight.Object) {
	t.Helper()
	references := &assets.Static{}
	s := &store{objects: map[schema.GroupVersionResource][]readers.Object{}, references: references}
	n := 0
	for _, name := range c.Inputs() {
		text, _ := c.Input(name)
		for doc := range bytes.SplitSeq(golden.WithCertificates(text), []byte("\n---\n")) {
			var head metav1.TypeMeta
			if yaml.Unmarshal(doc, &head) != nil {
				continue
			}
			n++
			switch row := catalog.Of(head.Kind); {
			case head.Kind == "Secret":
				var secret corev1.Secret
				if err := yaml.Unmarshal(doc, &secret); err != nil {
					t.Fatal(err)
				}
				for key, value := range secret.StringData {
					n++
					secret.StringData[key] = canary(value, n)
				}
				for key, value := range secret.Data {
					n++
					secret.Data[key] = []byte(canary(string(value), n))
				}
				references.AddSecret(&secret)
			case head.Kind == "ConfigMap":
				var m corev1.ConfigMap
				if err := yaml.Unmarshal(doc, &m); err != nil {
					t.Fatal(err)
				}
				references.AddConfigMap(&m)
			case row != nil:
				o := row.New()
				if yaml.Unmarshal(doc, o) == nil {
					o.SetGeneration(int64(n))
					o.SetUID(types.UID(fmt.Sprint(n)))
					o.SetResourceVersion(fmt.Sprint(n))
					s.put(row.GroupVersionResource(), o)
				}
			}
		}
	}
	return s, s.selectEverything()
}

// selectEverything makes the workloads select all objects, and adds workloads if there are none.
func (s *store) selectEverything() (out []insight.Object) {
	all := &metav1.LabelSelector{}
	namespaces := map[string]bool{"default": true}
	for row, empty := range map[*catalog.Row]catalog.Object{catalog.Prometheus: &v1.Prometheus{}, catalog.Alertmanager: &v1.Alertmanager{}} {
		if of := row.GroupVersionResource(); len(s.objects[of]) == 0 {
			empty.SetNamespace("default")
			empty.SetName("test")
			empty.SetGeneration(1)
			s.objects[of] = []readers.Object{empty}
		}
	}
	for of, objects := range s.objects {
		for _, o := range objects {
			namespaces[o.GetNamespace()] = true
			switch w := o.(type) {
			case *v1.Prometheus:
				selectAll(&w.Spec.CommonPrometheusFields, all)
			case *v1alpha1.PrometheusAgent:
				selectAll(&w.Spec.CommonPrometheusFields, all)
			case *v1.Alertmanager:
				w.Spec.AlertmanagerConfigSelector, w.Spec.AlertmanagerConfigNamespaceSelector = all, all
				if base := w.Spec.AlertmanagerConfiguration; base != nil && base.Name != "" {
					s.base(w.Namespace, base.Name)
				}
			case *v1alpha1.AlertmanagerConfig:
				if w.Spec.Route == nil && len(w.Spec.Receivers) > 0 {
					w.Spec.Route = &v1alpha1.Route{Receiver: w.Spec.Receivers[0].Name}
				}
				continue
			default:
				continue
			}
			i := slices.IndexFunc(catalog.All, func(row *catalog.Row) bool { return row.GroupVersionResource() == of })
			out = append(out, insight.Object{Row: catalog.All[i], NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}})
		}
	}
	for name := range namespaces {
		n := &corev1.Namespace{}
		n.Name = name
		s.put(readers.Namespaces, n)
	}
	return out
}

// base adds the AlertmanagerConfig on which an Alertmanager is based, if it does not exist.
func (s *store) base(namespace, name string) {
	of := catalog.AlertmanagerConfig.GroupVersionResource()
	if slices.ContainsFunc(s.objects[of], func(o readers.Object) bool { return o.GetNamespace() == namespace && o.GetName() == name }) {
		return
	}
	s.objects[of] = append(s.objects[of], &v1alpha1.AlertmanagerConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 1},
		Spec:       v1alpha1.AlertmanagerConfigSpec{Route: &v1alpha1.Route{Receiver: "none"}, Receivers: []v1alpha1.Receiver{{Name: "none"}}},
	})
}

func selectAll(f *v1.CommonPrometheusFields, all *metav1.LabelSelector) {
	f.ServiceMonitorSelector, f.ServiceMonitorNamespaceSelector = all, all
	f.PodMonitorSelector, f.PodMonitorNamespaceSelector = all, all
	f.ProbeSelector, f.ProbeNamespaceSelector = all, all
	f.ScrapeConfigSelector, f.ScrapeConfigNamespaceSelector = all, all
}
