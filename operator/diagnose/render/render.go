package render

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// Rejection is an object that a workload selects and rejects.
type Rejection struct {
	Object catalog.Ref
	Err    error
}

// String returns a human-readable line: `rejected KIND NAMESPACE/NAME: REASON`.
func (r Rejection) String() string { return fmt.Sprintf("rejected %s: %v", r.Object, r.Err) }

// Output is the output of the operator for one workload.
type Output struct {
	Workload catalog.Ref
	Objects  []apply.Object
	Rejected []Rejection
	Dropped  []string // fields that the workload's version does not support
	Warnings []string
	Err      error // not nil if the workload itself cannot be rendered

	plain []engine.Plain
}

// Workloads returns the workloads among the objects, sorted by namespace and name. If only
// is not empty, it returns only the workload "KIND NAMESPACE/NAME".
//
// Errors: no workload was found.
func Workloads(o *manifests.Objects, only string) ([]dryrun.Workload, error) {
	all := o.Workloads()
	if len(all) == 0 && only == "" {
		return nil, fmt.Errorf("nothing to render: the manifests hold %s", noneOf(o.Kinds))
	}
	var out []dryrun.Workload
	for _, w := range all {
		if only == "" || strings.EqualFold(only, w.String()) {
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no %s among the manifests (they hold %s)", only, names(o, all))
	}
	return out, nil
}

// Outputs renders workloads one after another, so that one output is in memory at a time. They share what
// is compiled.
func Outputs(o *manifests.Objects, of []dryrun.Workload) iter.Seq[Output] {
	return func(yield func(Output) bool) {
		defer o.Share()()
		for _, w := range of {
			if !yield(render(o, w)) {
				return
			}
		}
	}
}

// names returns the list of workloads for an error message.
func names(o *manifests.Objects, all []dryrun.Workload) string {
	if len(all) == 0 {
		return noneOf(o.Kinds)
	}
	var names []string
	for _, w := range all {
		names = append(names, w.String())
	}
	return strings.Join(names, ", ")
}

// noneOf returns a text such as "no Prometheus or PrometheusAgent".
func noneOf(kinds []*engine.Kind) string {
	var rows []*catalog.Row
	for _, kind := range kinds {
		rows = append(rows, kind.Row)
	}
	return "no " + catalog.Or(rows)
}

func render(o *manifests.Objects, w dryrun.Workload) Output {
	made := o.Reconcile(w)
	out := Output{
		Workload: w.Ref(), Dropped: w.Kind.AllDropped(w.Object, slices.Values(made.Results), made.Plan.Dropped), Warnings: faults.Texts(made.Plan.Warnings), Err: made.Err,
		plain: made.Plan.Plain,
	}
	if made.Plan.Reason == engine.ReasonConfigUnmanaged {
		out.Warnings = append(out.Warnings, made.Plan.Message)
	}
	if w.Object.GetWorkloadFields().Paused {
		out.Warnings = append(out.Warnings, "spec.paused: while this is true, the operator writes nothing of this")
	}
	for _, v := range made.Results {
		if v.Err != nil {
			out.Rejected = append(out.Rejected, Rejection{catalog.RefOf(v.Kind, v.Object), v.Err})
		}
	}
	for _, s := range slices.Concat(made.Plan.Content, made.Plan.Workload) {
		if s.Verb == apply.Put || s.Verb == apply.PutIfNone {
			out.Objects = append(out.Objects, s.Whole())
		}
	}
	return out
}

// Parts are the parts that [Output.WriteTo] accepts.
var Parts = []string{"objects", "config", "rules"}

// WriteTo writes one part of the output: "objects" as manifests, "config" as the
// plain configuration, or "rules" as the plain rule files, each below a comment
// with its name.
func (out Output) WriteTo(w io.Writer, part string) error {
	for _, object := range out.Objects {
		var err error
		if m, ok := object.(*corev1.ConfigMap); ok && part == "rules" {
			err = writeRules(w, m)
		}
		if part == "objects" {
			err = writeObject(w, object)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", out.Workload, object.GetName(), err)
		}
	}
	for _, file := range out.plain {
		if file.Part != part {
			continue
		}
		if err := writePlain(w, file); err != nil {
			return fmt.Errorf("%s: %w", out.Workload, err)
		}
	}
	return nil
}

// writePlain writes a file. A file with a name is preceded by a comment.
func writePlain(w io.Writer, file engine.Plain) error {
	if file.Name != "" {
		if _, err := fmt.Fprintf(w, "---\n# with the configuration/%s\n", file.Name); err != nil {
			return err
		}
	}
	return file.Text(w)
}

func writeRules(w io.Writer, m *corev1.ConfigMap) error {
	for _, name := range slices.Sorted(maps.Keys(m.Data)) {
		if _, err := fmt.Fprintf(w, "---\n# %s/%s\n%s", m.Name, name, m.Data[name]); err != nil {
			return err
		}
	}
	return nil
}

func writeObject(w io.Writer, object apply.Object) error {
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "---\n%s", withoutStatus(text))
	return err
}

// withoutStatus removes the empty status that marshaling the Go types adds.
func withoutStatus(text []byte) []byte {
	if i := bytes.Index(text, []byte("\nstatus:\n")); i >= 0 {
		return text[:i+1]
	}
	return text
}
