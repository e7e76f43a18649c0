package amconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// newestVersion is the version of the loader.
const newestVersion = "0.33.1"

// goldenInput is the input of a golden file.
type goldenInput struct {
	am      *v1.Alertmanager
	configs []*v1alpha1.AlertmanagerConfig
	objects assets.Static
}

// rendered is the output for one version.
type rendered struct {
	frame     Frame
	fragments map[string]Fragment // by namespace/name
	text      []byte
	rejected  []string
	dropped   []string
	files     []string
}

// TestMerge renders the inputs of testdata/merge for the version in the name of each
// wanted file. The Alertmanager is default/main unless the file has one.
//
//	want/<version>.yaml      the complete document
//	want/<version>/<path>    a part of it: "route.routes.0"
//	want/<version>.dropped   keys that the version does not support
//	want/<version>.rejected  rejected AlertmanagerConfigs, and why
//	want/<version>.error     why nothing is generated
//	want/<version>.warnings, want/<version>.files
func TestMerge(t *testing.T) {
	golden.Run(t, "testdata/merge/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		version, part := golden.CutVersion(name)
		w, err := readInput(c)
		if err != nil {
			return nil, err
		}
		out, err := w.renderAll(version)
		if part == "error" {
			if err == nil {
				return nil, fmt.Errorf("no error")
			}
			return []byte(err.Error() + "\n"), nil
		}
		if err != nil {
			return nil, err
		}
		if out.frame.Raw == nil {
			checkDocument(t, version, out.text)
		}
		switch part {
		case "yaml":
			return out.text, nil
		case "dropped":
			return golden.Lines(out.dropped), nil
		case "rejected":
			return golden.Lines(out.rejected), nil
		case "warnings":
			return golden.Lines(out.frame.Warnings), nil
		case "files":
			return golden.Lines(out.files), nil
		}
		return golden.PartOf(out.text, part)
	})
}

// checkDocument checks that the loader accepts a document for any version.
func checkDocument(t *testing.T, version string, text []byte) {
	t.Helper()
	var strict yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		t.Errorf("%s: not strict YAML: %v\n%s", version, err, text)
	}
	if err := load(text); err != nil {
		t.Errorf("%s: Alertmanager refuses the document: %v\n%s", version, err, text)
	}
}

// readInput reads all inputs, each a list of manifests.
func readInput(c golden.Case) (*goldenInput, error) {
	w := &goldenInput{am: &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "main"}}}
	for _, name := range c.Inputs() {
		text, _ := c.Input(name)
		for doc := range bytes.SplitSeq(golden.WithCertificates(text), []byte("\n---\n")) {
			if err := w.add(doc); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return w, nil
}

func (w *goldenInput) add(doc []byte) error {
	var meta metav1.TypeMeta
	if err := kyaml.Unmarshal(doc, &meta); err != nil {
		return err
	}
	switch meta.Kind {
	case "Alertmanager":
		return manifest.Decode(doc, w.am)
	case "AlertmanagerConfig":
		config := &v1alpha1.AlertmanagerConfig{}
		w.configs = append(w.configs, config)
		return manifest.Decode(doc, config)
	case "Secret":
		var o corev1.Secret
		if err := manifest.Decode(doc, &o); err != nil {
			return err
		}
		w.objects.AddSecret(&o)
	case "ConfigMap":
		var o corev1.ConfigMap
		if err := manifest.Decode(doc, &o); err != nil {
			return err
		}
		w.objects.AddConfigMap(&o)
	default:
		return fmt.Errorf("kind %q is not known here", meta.Kind)
	}
	return nil
}

// base returns the base for the Alertmanager and the remaining selected objects, like the controller does.
func (w *goldenInput) base() (b Base, selected []*v1alpha1.AlertmanagerConfig) {
	spec := &w.am.Spec
	b.AsIs = spec.AlertmanagerConfigSelector == nil && spec.AlertmanagerConfiguration == nil
	for _, config := range w.configs {
		if by := spec.AlertmanagerConfiguration; by != nil && config.Namespace == w.am.Namespace && config.Name == by.Name {
			b.Config = config
			continue
		}
		selected = append(selected, config)
	}
	slices.SortFunc(selected, func(a, b *v1alpha1.AlertmanagerConfig) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return b, selected
}

func keyOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// renderAll renders everything for one Alertmanager, like the operator does.
func (w *goldenInput) renderAll(version string) (out rendered, err error) {
	v := semver.MustParse(version)
	base, selected := w.base()
	if out.frame, err = CompileBase(w.am, v, base, &w.objects); err != nil {
		return out, err
	}
	files := maps.Clone(out.frame.Files)
	if files == nil {
		files = map[string][]byte{}
	}
	out.fragments = map[string]Fragment{}
	items := map[Section][][]byte{}
	s := NewSettings(w.am, v, out.frame.Globals)
	note := func(where string, dropped []gate.Dropped) {
		for _, d := range dropped {
			out.dropped = append(out.dropped, where+d.String())
		}
	}
	for _, config := range selected {
		f := Compile(config, s, &w.objects)
		out.fragments[keyOf(config)] = f
		maps.Copy(files, f.Files)
		if f.Err != nil {
			out.rejected = append(out.rejected, keyOf(config)+": "+f.Err.Error())
			continue
		}
		note(keyOf(config)+": ", f.Dropped)
		for section, text := range f.YAML {
			items[section] = append(items[section], text)
		}
	}
	note("", out.frame.Dropped)
	out.files = slices.Sorted(maps.Keys(files))
	for _, part := range Assemble(&out.frame, func(s Section) [][]byte { return items[s] }) {
		out.text = append(out.text, part.Text...)
		out.text = append(out.text, bytes.Join(part.Items, nil)...)
	}
	return out, nil
}

// copies returns all objects as JSON.
func (w *goldenInput) copies() string {
	text, err := json.Marshal([]any{w.am, w.configs})
	if err != nil {
		panic(err)
	}
	return string(text)
}
