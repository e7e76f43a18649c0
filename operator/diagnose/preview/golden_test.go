package preview_test

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/controllerstest"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss/static"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/httpsd"
)

// TestManifests computes the targets among the manifests of a golden file, or of cluster.yaml if it
// has none.
//
//	object         whose targets, and the labels to show: "smon demo/web --show-labels=none"; absent for everything.
//	               Or a workload and --shards=N.
//	want/<format>  the report in that format
func TestManifests(t *testing.T) {
	cluster, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, format string) ([]byte, error) {
		dir, files := c.Unpack(t, "object")
		t.Chdir(dir)
		if len(files) == 0 {
			files = []string{"cluster.yaml"}
			if err := os.WriteFile(files[0], cluster, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, _ := c.Input("object")
		style := preview.Style{Format: format, Labels: "after"}
		shards := 0
		words := slices.DeleteFunc(strings.Fields(string(text)), func(word string) bool {
			if n, is := strings.CutPrefix(word, "--shards="); is {
				shards, _ = strconv.Atoi(n)
				return true
			}
			labels, is := strings.CutPrefix(word, "--show-labels=")
			if is {
				style.Labels = labels
			}
			return is
		})
		report, err := reportOn(t, files, words, format, shards)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = report.Print(&out, style)
		return out.Bytes(), err
	})
}

// reportOn runs the query of the command for an object (kind, and namespace and name) or everything.
func reportOn(t *testing.T, files, object []string, format string, shards int) (preview.Report, error) {
	in := preview.Input{Options: controllerstest.Options()}
	in.Setups = controllerstest.Setups(in.Options)
	in.Manifests, in.Faults = manifests.LoadAll(files, explain.Kinds(in.Setups))
	if len(in.Faults) > 0 {
		t.Fatal(in.Faults)
	}
	in.Finder = preview.WithHTTP{Finder: preview.AmongManifests(in.Manifests.Native()), Client: httpsd.New(nil)}
	q := preview.Query{Shard: preview.AllShards, Shards: shards}
	if format == "text" || format == "wide" {
		q.Limit = 50
	}
	if format == "text" {
		q.States = []targets.State{}
	}
	if len(object) == 0 {
		if format == "json" || format == "wide" {
			q.Look = static.Look(in.Manifests)
		}
		return in.Run(t.Context(), q)
	}
	if format == "text" {
		q.States = []targets.State{targets.Kept}
	}
	if shards > 0 {
		q.States = []targets.State{}
	}
	if format != "csv" {
		q.Look = static.Look(in.Manifests)
	}
	key, err := catalog.Key(object[1], "")
	if err != nil {
		return preview.Report{}, err
	}
	switch row := catalog.Word(object[0]); {
	case row == nil:
		q.Pod = key
	case row.IsWorkload():
		q.Workload = catalog.Ref{Kind: row.Kind, Namespace: key.Namespace, Name: key.Name}
	default:
		name, err := explain.ParseName(explain.Kinds(in.Setups), row.Kind, object[1])
		if err != nil {
			return preview.Report{}, err
		}
		return in.RunAbout(t.Context(), name, q)
	}
	return in.Run(t.Context(), q)
}
