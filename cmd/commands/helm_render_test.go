package commands

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

const chartFolder = "../../deploy/chart"

// released renders the chart as the release "firekeeper" in a namespace of the same name. The result is the
// output of each template by name.
func released(t *testing.T, values string) map[string]string {
	t.Helper()
	loaded, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	return rendered(t, loaded, values)
}

func rendered(t *testing.T, c *chart.Chart, values string) map[string]string {
	t.Helper()
	return renderedOn(t, c, values, installed())
}

// installed returns the capabilities of a cluster with our CRDs.
func installed() *chartutil.Capabilities {
	out := chartutil.DefaultCapabilities.Copy()
	out.APIVersions = append(slices.Clip(out.APIVersions), "monitoring.coreos.com/v1/ServiceMonitor")
	return out
}

// renderedOn is like rendered, for a cluster with these capabilities.
func renderedOn(t *testing.T, c *chart.Chart, values string, on *chartutil.Capabilities) map[string]string {
	t.Helper()
	given, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{
		Name: "firekeeper", Namespace: "firekeeper", IsInstall: true,
	}, on)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := engine.Render(c, all)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, text := range texts {
		out[filepath.Base(name)] = text
	}
	return out
}

// objects returns the objects of a YAML stream, by kind and name.
func objects(t *testing.T, text string) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	for _, doc := range strings.Split(text, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(doc), &object); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		if object != nil {
			out[object["kind"].(string)+" "+object["metadata"].(map[string]any)["name"].(string)] = object
		}
	}
	return out
}

func manifestsOf(texts map[string]string) string {
	var out []string
	for name, text := range texts {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n---\n")
}
