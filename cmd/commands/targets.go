package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/httpsd"
)

const targetsHelp = "Show what Prometheus and PrometheusAgent objects scrape: the targets of each job, on which shard and with which labels, and for targets that are dropped, " +
	"the field that drops them. Without arguments: a line for each monitor. Reads the cluster of the kubeconfig, as it would be with the manifests of -f, or these alone; writes nothing. " +
	"Exits 1 if a condition of --fail-on holds, 2 if something could not be read or on an error, 0 otherwise."

var targetsExample = []string{
	"targets # of everything, a line for each object",
	"targets servicemonitor demo/web # what one object scrapes, and why not more",
	"targets pod demo/web-0 # who scrapes a pod",
	"targets prometheus demo/main --dropped # what is dropped, and whose field drops it",
	"targets prometheus demo/main --shards=3 # what 3 shards would change",
	"targets servicemonitor demo/web -f new.yaml # what it would scrape if that was applied",
	"targets -f manifests/ --offline --fail-on=no-targets # from manifests alone, for a pipeline",
}

// targetsOptions are the arguments of the command targets.
type targetsOptions struct {
	words      []string // the object and manifests
	namespace  string
	kind, name string // set from words by validate; name is NAMESPACE/NAME
	appliedFiles
	job               string
	shard             int
	shardSet          bool
	shards            int
	shardsSet         bool
	dropped           string
	droppedSet        bool
	overlaps          bool
	labels, format    string
	limit             int
	limitSet          bool
	failOn            []string
	httpSD            []string // hosts
	compare           bool
	kubernetesVersion string
}

// anyOrigin is the value of --dropped if it is given without a value.
const anyOrigin = ""

func (t *targetsOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("object", "Whose targets: "+spellings+". KIND is prometheus or prometheusagent: the jobs of one workload; servicemonitor, podmonitor, probe or scrapeconfig: "+
		"those of one object; pod: who scrapes it; or its plural or short name. Further arguments are files, as with -f. Default: everything.").PlaceHolder("OBJECT").StringsVar(&t.words)
	cmd.Flag("namespace", "Namespace of an OBJECT that is named without one. Default: that of the kubeconfig's context; with -f, none. Without OBJECT: only objects of this namespace.").
		Short('n').StringVar(&t.namespace)
	t.appliedFiles.bind(cmd, "; then targets are found in the Services, EndpointSlices, Endpoints, Pods, Nodes and Ingresses among them")
	cmd.Flag("job", "Only the job of this name.").StringVar(&t.job)
	cmd.Flag("shard", "Only what this shard scrapes, counted from 0.").IsSetByUser(&t.shardSet).IntVar(&t.shard)
	cmd.Flag("shards", "For a prometheus or prometheusagent: what would move with this number of shards, and how many series each shard would have, by hash and by weighted placement. Nothing changes.").
		PlaceHolder("NUMBER").IsSetByUser(&t.shardsSet).IntVar(&t.shards)
	cmd.Flag("dropped", "List the targets that are dropped instead of those that are scraped; with =ORIGIN, such as --dropped=spec.endpoints[0].port, those that fields of this name drop.").
		PlaceHolder("ORIGIN").IsSetByUser(&t.droppedSet).StringVar(&t.dropped)
	cmd.Flag("overlaps", "Show the URLs that a workload scrapes more than once.").BoolVar(&t.overlaps)
	cmd.Flag("compare", "Compare with the targets of the running pods, read through the API server, and show the differences.").BoolVar(&t.compare)
	cmd.Flag("show-labels", "Labels to show with each target: before relabeling, after it, both or none. For the formats text and wide.").
		Default("after").EnumVar(&t.labels, preview.Labels...)
	cmd.Flag("format", "Output format: text (targets, and counts of what is dropped) or wide (each target) for people, json or csv for programs.").
		Default("text").EnumVar(&t.format, preview.Formats...)
	cmd.Flag("limit", "Most targets to list; 0 lists all. Counts are of all targets. Default: 50 for text and wide, 0 for json and csv.").IsSetByUser(&t.limitSet).IntVar(&t.limit)
	cmd.Flag("fail-on", "Exit 1 if: a job has no targets or an object is rejected or not used (no-targets), a target is dropped (dropped, with --dropped=ORIGIN by those fields), "+
		"a URL is scraped more than once (overlap), pods have other targets (difference). Repeatable.").PlaceHolder(strings.Join(preview.Conditions, "|")).EnumsVar(&t.failOn, preview.Conditions...)
	cmd.Flag("http-sd", "Host of httpSDConfigs of ScrapeConfigs to query for targets from here, as HOST or HOST:PORT; * permits all. No credentials are sent. Repeatable. "+
		"Default: none is queried, and these targets are unknown.").PlaceHolder("HOST").StringsVar(&t.httpSD)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").Default(newestKubernetes).StringVar(&t.kubernetesVersion)
}

// podWords are the names for the kind Pod.
var podWords = []string{"pod", "pods", "po"}

// row returns the kind of the object, or nil for pods and for everything.
func (t *targetsOptions) row() *catalog.Row {
	if t.kind == "" || slices.Contains(podWords, strings.ToLower(t.kind)) {
		return nil
	}
	return catalog.Word(t.kind)
}

// scrapeRows are the kinds of objects that have targets.
var scrapeRows = preview.Sources

// validate returns an error for the first invalid argument.
func (t *targetsOptions) validate(o *userOptions) error {
	if len(t.words) > 0 {
		object, files, err := catalog.Spell(t.words, t.namespace)
		if err != nil {
			return err
		}
		o.inCluster(&object, t.files, files)
		t.kind, t.name, t.files = object.Kind, strings.TrimPrefix(object.NamespacedName.String(), "/"), append(t.files, files...)
	}
	if _, err := parseKubernetes(t.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", t.kubernetesVersion, err)
	}
	row := t.row()
	pod := t.kind != "" && row == nil && slices.Contains(podWords, strings.ToLower(t.kind))
	switch {
	case t.kind != "" && !pod && !slices.Contains(append(preview.Kinds, scrapeRows...), row):
		return fmt.Errorf("%q is not a kind that has targets: known are %s and pod", t.kind, knownKinds(append(preview.Kinds, scrapeRows...)))
	case t.shardSet && t.shard < 0:
		return fmt.Errorf("--shard=%d: want 0 or more", t.shard)
	case t.limit < 0:
		return fmt.Errorf("--limit=%d: want 0 or more", t.limit)
	case t.compares() && t.offline:
		return errors.New("--compare: asks pods in a cluster, which --offline does not read")
	case t.compares() && pod:
		return fmt.Errorf("--compare: compares the targets of a workload or an object, and %s is a pod", t.name)
	case t.overlaps && t.droppedSet:
		return errors.New("--dropped: has no effect with --overlaps, which is about targets that are scraped")
	}
	if t.kind != "" {
		if _, err := catalog.Key(t.name, ""); err != nil {
			return fmt.Errorf("%q: %w", t.name, err)
		}
	}
	if err := t.validateShards(); err != nil {
		return err
	}
	return t.check()
}

// validateShards returns an error for the first argument that is invalid with --shards.
func (t *targetsOptions) validateShards() error {
	if !t.shardsSet {
		return nil
	}
	with := func(flag string) error { return fmt.Errorf("--shards=%d: cannot be used with %s", t.shards, flag) }
	switch row := t.row(); {
	case t.shards < 1 || t.shards > v1.MaxShards:
		return fmt.Errorf("--shards=%d: want 1 to %d", t.shards, v1.MaxShards)
	case row == nil || !row.IsWorkload():
		return fmt.Errorf("--shards=%d: is about one workload: name a prometheus or prometheusagent", t.shards)
	case t.job != "":
		return with("--job, because all jobs fill the shards")
	case t.shardSet:
		return with("--shard")
	case t.droppedSet:
		return with("--dropped")
	case t.overlaps:
		return with("--overlaps")
	case t.compares():
		return with("--compare")
	case t.format == "csv":
		return with("--format=csv")
	}
	return nil
}

func knownKinds(rows []*catalog.Row) string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s (%s)", strings.ToLower(r.Kind), r.Short))
	}
	return strings.Join(out, ", ")
}

// compares reports whether the targets are compared with those of the running pods.
func (t *targetsOptions) compares() bool { return t.compare || slices.Contains(t.failOn, "difference") }

// run prints the targets and returns the exit code.
func (t *targetsOptions) run(ctx context.Context, o *userOptions, s streams) (code int, err error) {
	report, err := t.report(ctx, o, s.err)
	if err != nil {
		return 2, err
	}
	if err := report.Print(s.out, preview.Style{Format: t.format, Labels: t.labels}); err != nil {
		return 2, err
	}
	switch {
	case report.Fails(t.failOn):
		return 1, nil
	case report.Undecided(t.failOn):
		return 2, nil
	}
	return 0, nil
}

// report computes the report for the arguments.
func (t *targetsOptions) report(ctx context.Context, o *userOptions, stderr io.Writer) (report preview.Report, err error) {
	if t.compares() && !t.readsCluster(&o.connection) {
		return report, errors.New("--compare: asks pods, and no cluster is configured; name one with --kubeconfig or --context")
	}
	in, err := t.open(ctx, o, t.kubernetesVersion, loadSound, stderr)
	if err != nil {
		return report, err
	}
	q, err := t.query()
	if err != nil {
		return report, err
	}
	source := preview.Input{Input: in.Input, Finder: preview.WithHTTP{Finder: t.finder(in, q.Brief()), Client: httpsd.New(t.httpSD)}}
	if source.Options, err = in.options.prometheus(in.kubernetes); err != nil {
		return report, err
	}
	if t.wantsHints(in.Live()) {
		q.Look = in.look
	}
	if t.compares() {
		if q.Servers, err = o.servers(); err != nil {
			return report, err
		}
	}
	if row := t.row(); row == nil || row.IsWorkload() {
		return source.Run(ctx, q)
	}
	name, err := explain.ParseName(explain.Kinds(in.Setups), t.kind, t.name)
	if err != nil {
		return report, err
	}
	return source.RunAbout(ctx, name, q)
}

// finder returns a finder of all targets except those of HTTP service discovery. If brief is true, dropped targets have only
// a few labels.
func (t *targetsOptions) finder(in input, brief bool) preview.Finder {
	switch {
	case !in.Live():
		return preview.AmongManifests(in.Manifests.Native())
	case in.Manifests == nil:
		return preview.Live{Kube: in.kube, Brief: brief}
	}
	return preview.Live{Kube: in.kube, Applied: discovery.Of(in.Manifests.Native()), Brief: brief}
}

// query returns the query for the arguments.
func (t *targetsOptions) query() (q preview.Query, err error) {
	q = preview.Query{
		Job: t.job, Shard: preview.AllShards, States: t.states(), Origin: t.dropped, Limit: t.limit, Overlaps: t.overlaps || slices.Contains(t.failOn, "overlap"),
		OverlapsOnly: t.overlaps,
	}
	if t.shardSet {
		q.Shard = t.shard
	}
	if t.shardsSet {
		q.Shards, q.States = t.shards, []targets.State{}
	}
	if programs := t.format == "json" || t.format == "csv"; !t.limitSet && !programs {
		q.Limit = 50
	}
	if t.kind == "" {
		q.Namespace = t.namespace
		return q, nil
	}
	key, err := catalog.Key(t.name, "")
	switch row := t.row(); {
	case row == nil:
		q.Pod = key
	case row.IsWorkload():
		q.Workload = catalog.Ref{Kind: row.Kind, Namespace: key.Namespace, Name: key.Name}
	}
	return q, err
}

// wantsHints reports whether the report includes hints. In a cluster they require lists for
// each job without targets, so a query about everything has none.
func (t *targetsOptions) wantsHints(cluster bool) bool {
	asked := t.kind != "" || t.job != ""
	return t.format != "csv" && !t.overlaps && (asked || !cluster && t.format != "text")
}

// states returns the states of the targets to list, or nil for all.
func (t *targetsOptions) states() []targets.State {
	switch asked := t.kind != "" || t.job != "" || t.shardSet; {
	case t.overlaps:
		return []targets.State{}
	case t.droppedSet:
		return []targets.State{targets.Dropped}
	case t.format != "text":
		return nil
	case !asked:
		return []targets.State{}
	}
	return []targets.State{targets.Kept}
}
