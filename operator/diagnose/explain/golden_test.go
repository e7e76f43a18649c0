package explain_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// TestManifests explains an object of the manifests of a golden file.
//
//	object         its kind, namespace and name: "smon demo/web"
//	want/<format>  the report in that format
func TestManifests(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, format string) ([]byte, error) {
		dir, files := c.Unpack(t, "object")
		t.Chdir(dir)
		text, _ := c.Input("object")
		kind, name, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		options := controllerstest.Options()
		in := explain.Input{Setups: controllerstest.Setups(options)}
		in.Manifests, in.Faults = manifests.LoadAll(files, explain.Kinds(in.Setups))
		object, err := explain.ParseAnyName(explain.Kinds(in.Setups), kind, name)
		if err != nil {
			return nil, err
		}
		report, err := reportOn(t, in, object, options)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = report.Write(&out, format)
		return out.Bytes(), err
	})
}

type report interface {
	Write(w io.Writer, format string) error
}

func reportOn(t *testing.T, in explain.Input, object explain.Name, options prometheus.Options) (report, error) {
	if object.IsWorkload() {
		return explain.Workload(in.Manifests, in.Faults, explain.Kinds(in.Setups), object)
	}
	in.Manifests.Promised()
	q, err := in.Question(t.Context(), object)
	if err != nil {
		return nil, err
	}
	q.Targets = preview.Summaries(t.Context(), in.Manifests, q, options)
	return explain.Explain(q, in.Scopes.For(q.Row)), nil
}
