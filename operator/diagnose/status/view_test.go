package status_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// now is the time at which the pages are printed.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestView prints the pages of all workloads in a cluster.
//
//	cluster.yaml   objects of the cluster
//	unread         read errors, one per line
//	want/text      the pages; "json" and "overview" likewise
//	want/good      result of Good for each workload
func TestView(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		var out bytes.Buffer
		pages := status.Overview{}
		all := facts(t, c)
		for _, f := range all {
			pages.Workloads = append(pages.Workloads, status.View(f))
		}
		pages.Unselected = status.UnselectedIn(all)
		var err error
		switch name {
		case "text", "json":
			for i, p := range pages.Workloads {
				if i > 0 {
					fmt.Fprintln(&out, "\n---")
				}
				err = errors.Join(err, p.Write(&out, name, now))
			}
		case "overview":
			err = pages.Write(&out, "text", now)
		case "good":
			for _, p := range pages.Workloads {
				fmt.Fprintln(&out, p.Good())
			}
		default:
			err = fmt.Errorf("nothing is called %s", name)
		}
		return out.Bytes(), err
	})
}

// facts returns the facts of each workload in a golden file.
func facts(t *testing.T, c golden.Case) (out []status.Facts) {
	t.Helper()
	text, ok := c.Input("cluster.yaml")
	if !ok {
		t.Fatal("no cluster.yaml")
	}
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	servers, agents := prometheus.Kinds(prometheus.Options{Capabilities: promconfig.Capabilities{AgentDaemonSet: true}}, &rules.Cache{})
	setups := []engine.Setup{{Kind: servers}, {Kind: agents}}
	objects, err := manifests.LoadStored([]string{file}, explain.Kinds(setups))
	if err != nil {
		t.Fatal(err)
	}
	unread, _ := c.Input("unread")
	for _, w := range objects.Workloads() {
		f := status.Facts{
			Objects: map[*catalog.Row][]catalog.Object{}, NamespaceLabels: objects.NamespaceLabels, References: &objects.References,
			Unread: strings.FieldsFunc(string(unread), func(r rune) bool { return r == '\n' }),
		}
		f.PodsUnknown = strings.HasPrefix(string(unread), "pods:")
		if strings.HasPrefix(string(unread), "labels of Namespaces:") {
			f.NamespaceLabels = func(name string) (labels.Set, bool) { return labels.Set{corev1.LabelMetadataName: name}, true }
			f.NamespaceUnknown = func(string) bool { return true }
		}
		for _, s := range setups {
			if s.Kind == w.Kind {
				f.Candidate = explain.Candidate{Setup: s, Object: w.Object}
			}
		}
		for _, s := range w.Kind.Selects {
			f.Objects[s.Row] = objects.All(s.Row)
		}
		for _, doc := range strings.Split(string(text), "\n---\n") {
			var head metav1.TypeMeta
			must(t, yaml.Unmarshal([]byte(doc), &head))
			switch head.Kind {
			case "Pod":
				p := &corev1.Pod{}
				must(t, yaml.Unmarshal([]byte(doc), p))
				if strings.HasPrefix(p.Name, "prometheus-"+w.Object.GetName()+"-") || strings.HasPrefix(p.Name, "prom-agent-"+w.Object.GetName()+"-") {
					f.Pods = append(f.Pods, p)
				}
			case "StatefulSet":
				s := &appsv1.StatefulSet{}
				must(t, yaml.Unmarshal([]byte(doc), s))
				f.StatefulSets = append(f.StatefulSets, s)
			case "DaemonSet":
				f.DaemonSet = &appsv1.DaemonSet{}
				must(t, yaml.Unmarshal([]byte(doc), f.DaemonSet))
			case "Event":
				e := corev1.Event{}
				must(t, yaml.Unmarshal([]byte(doc), &e))
				f.Events = append(f.Events, e)
			}
		}
		out = append(out, f)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
