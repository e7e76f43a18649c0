package commands

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/render"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

const renderHelp = "Read manifests and print what the operator would write, without a cluster. Invalid objects are skipped and reported. " +
	"Exits 1 if a workload cannot be rendered or a manifest cannot be read, 2 for a wrong command line, 0 otherwise."

var renderExample = []string{
	"render manifests/ # all generated objects",
	"render manifests/ --only config # the plain configuration",
	"render manifests/ --for Prometheus/demo/main # one of several workloads",
}

// renderOptions are the flags of the command render.
type renderOptions struct {
	files             []string
	workload, part    string
	namespace         string
	kubernetesVersion string
	check             bool
}

func (r *renderOptions) bind(cmd *kingpin.CmdClause) {
	bindFiles(cmd, &r.files)
	cmd.Flag("for", "Render only this workload: KIND/NAMESPACE/NAME, or KIND/NAME with -n.").StringVar(&r.workload)
	bindNamespace(cmd, &r.namespace)
	cmd.Flag("only", "What to print: objects (manifests), config (the plain configuration) or rules (the plain rule files).").
		Default("objects").EnumVar(&r.part, render.Parts...)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").
		Default(newestKubernetes).StringVar(&r.kubernetesVersion)
	cmd.Flag("validate", "Reject what the API server would reject (default). --no-validate accepts objects that a cluster stored under older, less strict CRDs.").
		Default("true").BoolVar(&r.check)
}

// validate checks the flags. Errors start with the flag.
func (r *renderOptions) validate() error {
	if _, err := parseKubernetes(r.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", r.kubernetesVersion, err)
	}
	if r.workload != "" {
		row, name, err := spelled("for", r.workload, r.namespace, managed)
		if err != nil {
			return err
		}
		r.workload = row.Kind + " " + name.String()
	}
	return needFiles("render", r.files)
}

// run prints the objects that the operator would write. Rejected objects are reported on
// stderr and are not an error; a workload that cannot be rendered is.
func (r *renderOptions) run(o *userOptions, stdout, stderr io.Writer) error {
	kubernetes, err := parseKubernetes(r.kubernetesVersion)
	if err != nil {
		return err
	}
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return err
	}
	defer o.reading(r.files...)()
	objects, wrong := manifests.LoadSound(r.files, kinds, !r.check)
	_, setups, scopes, err := o.setupsOf(objects, kubernetes, stderr)
	if err != nil {
		return err
	}
	objects.Scope = explain.ScopeOf(setups, scopes)
	failed := lint.Unsound(objects, wrong)
	if !ofWorkload(wrong) { // an invalid workload might select them
		for _, line := range lint.NotSelected(objects) {
			fmt.Fprintln(stderr, line)
		}
	}
	workloads, err := render.Workloads(objects, r.workload)
	if err != nil && ofWorkload(wrong) && r.workload == "" {
		return failed // which explains why there is none
	}
	if err != nil {
		return errors.Join(failed, err)
	}
	lines := lint.NewLines(objects)
	first := true
	for out := range render.Outputs(objects, workloads) {
		for _, rej := range out.Rejected {
			rej.Err = lines.Of(rej.Object, rej.Err)
			fmt.Fprintln(stderr, rej)
		}
		for _, w := range slices.Concat(out.Dropped, out.Warnings) {
			fmt.Fprintf(stderr, "warning for %s: %s\n", out.Workload, w)
		}
		if out.Err != nil {
			failed = errors.Join(failed, fmt.Errorf("cannot render %s: %w", out.Workload, lines.Of(out.Workload, out.Err)))
			continue
		}
		if r.part == "config" && len(workloads) > 1 {
			if !first {
				fmt.Fprintln(stdout, "---")
			}
			first = false
			fmt.Fprintf(stdout, "# %s\n", out.Workload)
		}
		if err := out.WriteTo(stdout, r.part); err != nil {
			return err
		}
	}
	return failed
}

// ofWorkload reports whether a workload is skipped because of a fault.
func ofWorkload(all []manifests.Fault) bool {
	return slices.ContainsFunc(all, func(f manifests.Fault) bool {
		return slices.ContainsFunc(managed, func(row *catalog.Row) bool { return row.Kind == f.Kind })
	})
}
