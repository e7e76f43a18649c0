package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

const explainHelp = "Show, for each workload, whether it uses an object: a monitor, rule or AlertmanagerConfig. If not, give the first reason. " +
	"Reads the cluster of the kubeconfig, as it would be with the manifests of -f, or these alone; of a workload, it explains what is wrong with its manifest. Writes nothing. " +
	"Exits 0 if at least one uses it, 1 if none does (or the workload has errors), 2 on an error."

var explainExample = []string{
	"explain servicemonitor demo/web # in the cluster of your kubeconfig",
	"explain smon web -n demo # the same",
	"explain smon demo/web -f new.yaml # what would use it if that was applied",
	"explain ServiceMonitor/demo/web manifests/ --offline # from manifests alone, without a cluster",
}

// explainOptions are the arguments of the command explain.
type explainOptions struct {
	words             []string // the object and manifests
	namespace         string
	manifests         appliedFiles
	format            string
	kubernetesVersion string
}

func (e *explainOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("object", "What is to be explained: "+spellings+". KIND is servicemonitor, podmonitor, probe, scrapeconfig, prometheusrule or alertmanagerconfig, "+
		"or its plural or short name; with manifests also prometheus, prometheusagent, alertmanager or thanosruler. Further arguments are files, as with -f.").PlaceHolder("OBJECT").StringsVar(&e.words)
	bindContextNamespace(cmd, &e.namespace)
	e.manifests.bind(cmd, "")
	cmd.Flag("format", "Output format: text for people, json for programs.").Default("text").EnumVar(&e.format, explain.Formats...)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").Default(newestKubernetes).StringVar(&e.kubernetesVersion)
}

// validate returns an error for the first invalid argument.
func (e *explainOptions) validate(o *userOptions) error {
	kubernetes, err := parseKubernetes(e.kubernetesVersion)
	if err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", e.kubernetesVersion, err)
	}
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return err
	}
	name, files, err := e.object(o, kinds)
	if err != nil {
		return err
	}
	if name.IsWorkload() && len(files) == 0 {
		return fmt.Errorf("%s is a workload, which explain reads from manifests only (-f); in a cluster ask operator status", name)
	}
	all := appliedFiles{files, e.manifests.offline}
	return all.check()
}

// object parses the arguments into the object and all manifests.
//
// Errors: the arguments do not name an object of a supported kind.
func (e *explainOptions) object(o *userOptions, kinds []*engine.Kind) (name explain.Name, files []string, err error) {
	spelling, files, err := catalog.Spell(e.words, e.namespace)
	if err != nil {
		return name, nil, err
	}
	o.inCluster(&spelling, e.manifests.files, files)
	name, err = explain.ParseAnyName(kinds, spelling.Kind, strings.TrimPrefix(spelling.NamespacedName.String(), "/"))
	return name, append(slices.Clone(e.manifests.files), files...), err
}

// run prints the report and returns the exit code.
func (e *explainOptions) run(ctx context.Context, o *userOptions, s streams) (code int, err error) {
	kubernetes, err := parseKubernetes(e.kubernetesVersion)
	if err != nil {
		return 2, err
	}
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return 2, err
	}
	name, files, err := e.object(o, kinds)
	if err != nil {
		return 2, err
	}
	if name.IsWorkload() {
		return e.workload(o, kubernetes, name, files, s)
	}
	e.manifests.files = files
	q, scopes, err := e.ask(ctx, o, name, s.err)
	if err != nil {
		return 2, err
	}
	report := explain.Explain(q, scopes.For(q.Row))
	if err := report.Write(s.out, e.format); err != nil {
		return 2, err
	}
	switch {
	case report.Accepted() > 0:
		return 0, nil
	case report.Unknown():
		return 2, nil
	}
	return 1, nil
}

// workload prints the report on a workload among manifests and returns the exit code.
func (e *explainOptions) workload(o *userOptions, kubernetes *semver.Version, name explain.Name, files []string, s streams) (code int, err error) {
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return 2, err
	}
	defer o.reading(files...)()
	objects, faults := manifests.LoadAll(files, kinds)
	_, setups, scopes, err := o.setupsOf(objects, kubernetes, s.err)
	if err != nil {
		return 2, err
	}
	objects.Scope = explain.ScopeOf(setups, scopes)
	report, err := explain.Workload(objects, faults, objects.Kinds, name)
	if err != nil {
		return 2, err
	}
	if err := report.Write(s.out, e.format); err != nil {
		return 2, err
	}
	if report.Wrong() {
		return 1, nil
	}
	return 0, nil
}

// ask builds the question from manifests, a cluster, or both.
func (e *explainOptions) ask(ctx context.Context, o *userOptions, name explain.Name, stderr io.Writer) (q explain.Question, scopes engine.Scopes, err error) {
	in, err := e.manifests.open(ctx, o, e.kubernetesVersion, loadAll, stderr)
	if err != nil {
		return q, scopes, err
	}
	if !in.Live() {
		in.Manifests.Promised()
	}
	if q, err = in.Question(ctx, name); err != nil {
		return q, in.Scopes, err
	}
	if in.Live() {
		q.Look = in.look
		return q, in.Scopes, nil
	}
	options, err := in.options.prometheus(in.kubernetes)
	q.Targets = preview.Summaries(ctx, in.Manifests, q, options)
	return q, in.Scopes, err
}
