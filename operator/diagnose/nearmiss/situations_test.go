package nearmiss_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// TestSituations looks at typical manifests. In a golden file, "want/NAME" lists the hints about
// the manifests NAME.yaml. Without a workload, a Prometheus that selects everything is assumed.
func TestSituations(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		text, ok := c.Input(name + ".yaml")
		if !ok {
			return nil, fmt.Errorf("no %s.yaml", name)
		}
		found, err := situation(text)
		var out bytes.Buffer
		for _, f := range found {
			if f.Hint.Counterpart {
				continue
			}
			fmt.Fprintf(&out, "%s %s: %s\n  %s\n", f.Hint.Code, f, f.Hint.Field, f.Hint.Message)
			if f.Hint.Note {
				fmt.Fprintln(&out, "  (a note)")
			}
		}
		return out.Bytes(), err
	})
}

// Any of the files of a widely used set of manifests can be missing without warnings about the
// others.
func TestEachFileLeftOut(t *testing.T) {
	dir := os.Getenv("FIREKEEPER_SHARED")
	if dir == "" {
		dir = "../../../../shared"
	}
	files, err := filepath.Glob(filepath.Join(dir, "real/kube-prometheus/*.yaml"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.Contains(strings.ToLower(name), "prometheusrule") }) // long, and not about targets
	if err != nil || len(files) == 0 {
		t.Skip("the manifests of kube-prometheus are not there")
	}
	for without := range files {
		var text bytes.Buffer
		for i, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if i != without {
				fmt.Fprintf(&text, "%s\n---\n", content)
			}
		}
		found, err := situation(text.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !f.Hint.Note {
				t.Errorf("without %s: %s: %s", filepath.Base(files[without]), f, f.Hint)
			}
		}
	}
}

// situation reads manifests without validation, which is slow, and looks at them as lint does.
func situation(text []byte) (out []nearmiss.Found, err error) {
	s, err := situated(text)
	if err != nil {
		return nil, err
	}
	view := nearmiss.NewView(s.theirs, s.own, append(s.ours.All(catalog.ServiceMonitor), s.ours.All(catalog.PodMonitor)...))
	if s.assumed {
		return view.Assumed(s.uses[0]), nil
	}
	for i, w := range s.workloads {
		out = append(out, view.Workload(w.Kind.Kind, w.Object, s.uses[i])...)
	}
	return out, nil
}

// circumstances are the manifests with the objects that the operator creates.
type circumstances struct {
	*objects
	own       []nearmiss.Object // created by the operator
	workloads []dryrun.Workload
	uses      [][]nearmiss.Use // of each workload
	assumed   bool             // the workload is not among the manifests
}

// situated reads manifests and reconciles their workloads.
func situated(text []byte) (out circumstances, err error) {
	kinds := controllerstest.Kinds(controllerstest.Options())
	servers, agents := kinds[0], kinds[1]
	everything := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "assumed"}}
	if err := manifest.Decode([]byte(`spec: {serviceMonitorSelector: {}, serviceMonitorNamespaceSelector: {}, podMonitorSelector: {},
		podMonitorNamespaceSelector: {}, scrapeConfigSelector: {}, scrapeConfigNamespaceSelector: {}, probeSelector: {}, probeNamespaceSelector: {}}`), everything); err != nil {
		return out, err
	}
	if out.objects, err = read(text, servers, agents); err != nil {
		return out, err
	}
	out.workloads = out.ours.Workloads()
	out.assumed = len(out.workloads) == 0
	if out.assumed {
		out.workloads = []dryrun.Workload{{Kind: servers, Object: everything}}
	}
	for _, w := range out.workloads {
		made := out.ours.Reconcile(w)
		out.uses = append(out.uses, new(static.Reader).Uses(w, made))
		for _, step := range made.Plan.Workload {
			if !out.assumed {
				out.own = append(out.own, step.Object)
			}
		}
	}
	return out, nil
}

// objects are the decoded manifests.
type objects struct {
	ours   *manifests.Objects
	theirs []nearmiss.Object
}

// read decodes documents.
func read(text []byte, kinds ...*engine.Kind) (*objects, error) {
	out := &objects{ours: manifests.Only(catalog.PrometheusRule, &v1.PrometheusRule{})}
	out.ours.Kinds = kinds
	docs := utilyaml.NewYAMLToJSONDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		if err := docs.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		var head metav1.TypeMeta
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, err
		}
		row := catalog.Of(head.Kind)
		if row != nil {
			object := row.New()
			if err := manifest.Decode(raw, object); err != nil {
				return nil, err
			}
			out.ours.Add(row, object)
			continue
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", head.Kind, err)
		}
		items := []runtime.Object{object}
		if meta.IsListType(object) {
			if items, err = meta.ExtractList(object); err != nil {
				return nil, err
			}
		}
		for _, item := range items {
			out.theirs = append(out.theirs, item.(nearmiss.Object))
		}
	}
}
