package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/routing"
)

const routeHelp = "Show the way of an alert through the routing tree of an Alertmanager: the routes that match and the objects they come from, the receivers it notifies, " +
	"its group, time intervals, and inhibition rules that could silence it. Reads the cluster of the kubeconfig, as it would be with the manifests of -f, or these alone, or a " +
	"configuration of Alertmanager with --config.file; writes nothing. Exits 0 if a receiver is notified, 1 if none is or an expected receiver is not reached, 2 on an error."

var routeExample = []string{
	"route namespace=demo severity=critical # in the cluster of your kubeconfig",
	"route namespace=demo severity=critical -f new.yaml # after that was applied",
	"route namespace=demo severity=critical manifests/ --offline # from manifests alone, without a cluster",
	"route --rule demo/web --alert WebDown # the alert of a PrometheusRule",
}

// routeOptions are the arguments of the command route.
type routeOptions struct {
	words     []string // labels and manifests
	labels    []string // the labels among words, set by validate
	namespace string
	appliedFiles
	configFile        string
	alertmanager      string
	rule, alert       string
	at                string
	all               bool
	expect            []string
	format            string
	kubernetesVersion string
}

func (r *routeOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("labels", "Labels of the alert: NAME=VALUE, several. An argument without = that is a path is a file, as with -f.").PlaceHolder("LABEL").StringsVar(&r.words)
	bindNamespace(cmd, &r.namespace)
	r.appliedFiles.bind(cmd, "")
	cmd.Flag("config.file", "Configuration of Alertmanager to read instead of that of an Alertmanager object, plain or compressed with gzip; - is standard input.").
		StringVar(&r.configFile)
	cmd.Flag("alertmanager", "NAMESPACE/NAME of the Alertmanager, or NAME with -n. Default: the only one.").StringVar(&r.alertmanager)
	cmd.Flag("rule", "NAMESPACE/NAME of a PrometheusRule, or NAME with -n, with the alert of --alert, whose labels are added to those given.").StringVar(&r.rule)
	cmd.Flag("alert", "Name of an alert in the PrometheusRule of --rule.").StringVar(&r.alert)
	cmd.Flag("at", "Time for time intervals, as RFC 3339. If given, receivers that are muted at that time do not count as notified. Default: now.").StringVar(&r.at)
	cmd.Flag("all", "Show the routes that do not match too, each with the first matcher that fails.").BoolVar(&r.all)
	cmd.Flag("expect-receiver", "Receiver that the alert must reach, as NAMESPACE/NAME/RECEIVER for one of an AlertmanagerConfig, or as RECEIVER. Then nothing else decides about "+
		"the exit code. Repeatable.").StringsVar(&r.expect)
	cmd.Flag("format", "Output format: text for people, json for programs.").Short('o').Default("text").EnumVar(&r.format, routing.Formats...)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").Default(newestKubernetes).StringVar(&r.kubernetesVersion)
}

// validate returns an error for the first invalid argument.
func (r *routeOptions) validate() error {
	if _, err := parseKubernetes(r.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", r.kubernetesVersion, err)
	}
	for flag, value := range map[string]*string{"alertmanager": &r.alertmanager, "rule": &r.rule} {
		if *value == "" {
			continue
		}
		key, err := catalog.Key(*value, r.namespace)
		if err != nil {
			return fmt.Errorf("--%s=%s: %w", flag, *value, err)
		}
		*value = key.String()
	}
	r.labels = nil
	for _, word := range r.words {
		if isPath(word) {
			r.files = append(r.files, word)
		} else {
			r.labels = append(r.labels, word)
		}
	}
	given, err := routing.ParseLabels(r.labels)
	switch {
	case err != nil:
		return err
	case r.configFile != "" && r.alertmanager != "":
		return errors.New("--alertmanager: has no effect with --config.file")
	case standardInput(r.configFile) && slices.ContainsFunc(r.files, standardInput):
		return errors.New("--config.file=-: standard input is read by -f already")
	case (r.rule == "") != (r.alert == ""):
		return errors.New("--rule and --alert: need each other")
	case r.rule == "" && len(given) == 0:
		return errors.New("no alert: give its labels as NAME=VALUE, or --rule and --alert")
	}
	if _, err = r.time(); err != nil {
		return err
	}
	return r.check()
}

// isPath reports whether an argument is a path to manifests, and not a label.
func isPath(word string) bool {
	if strings.Contains(word, "=") {
		return false
	}
	_, err := os.Stat(word)
	return err == nil || standardInput(word) || strings.Contains(word, "/") || slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(word))
}

func (r *routeOptions) time() (time.Time, error) {
	if r.at == "" {
		return time.Now(), nil
	}
	at, err := time.Parse(time.RFC3339, r.at)
	if err != nil {
		return at, fmt.Errorf("--at=%s: want RFC 3339, such as 2026-01-31T22:00:00Z", r.at)
	}
	return at, nil
}

// run prints the route and returns the exit code.
func (r *routeOptions) run(ctx context.Context, o *userOptions, s streams) (code int, err error) {
	report, err := r.report(ctx, o, s.err)
	if err != nil {
		return 2, err
	}
	for _, name := range r.expect {
		if !report.Reaches(name) {
			report.NotReached = append(report.NotReached, name)
		}
	}
	if err := report.Write(s.out, r.format); err != nil {
		return 2, err
	}
	failed := len(report.NotReached) > 0
	if len(r.expect) == 0 {
		reached := report.Reached()
		if r.at != "" {
			reached = report.Notified()
		}
		failed = len(reached) == 0
	}
	if failed {
		return 1, nil
	}
	return 0, nil
}

// routeLimits are the limits of a report about manifests of others: about a minute of matching, and 256 MiB.
var routeLimits = routing.Limits{Matching: 3_000_000_000, Bytes: 256 << 20}

func (r *routeOptions) report(ctx context.Context, o *userOptions, stderr io.Writer) (report routing.Report, err error) {
	files := r.appliedFiles
	files.offline = files.offline || r.configFile != "" && r.rule == "" // nothing else is in the cluster
	in, err := files.open(ctx, o, r.kubernetesVersion, loadSound, stderr)
	if err != nil {
		return report, err
	}
	source := routing.Source{Input: in.Input}
	text, origins, err := r.config(ctx, o, source)
	if err != nil {
		return report, source.Located(origins, err)
	}
	config, err := routing.Parse(text)
	if err != nil {
		return report, source.Located(origins, fmt.Errorf("%s: %w", origins.Source(), err))
	}
	q := routing.Question{All: r.all}
	if q.At, err = r.time(); err != nil {
		return report, err
	}
	if q.Labels, err = routing.ParseLabels(r.labels); err != nil {
		return report, err
	}
	var notes []string
	if r.rule != "" {
		if q.Labels, notes, err = source.Alert(ctx, r.rule, r.alert, q.Labels); err != nil {
			return report, err
		}
	}
	if report, err = config.RouteWithin(routeLimits, q, origins); err != nil {
		return report, fmt.Errorf("%s: %w", origins.Source(), err)
	}
	report.Notes = append(notes, report.Notes...)
	report.Hints = source.Hints(report)
	return report, nil
}

// config returns the configuration and its origins.
func (r *routeOptions) config(ctx context.Context, o *userOptions, source routing.Source) (text []byte, origins routing.Origins, err error) {
	if r.configFile == "" {
		return source.Config(ctx, r.alertmanager)
	}
	origins = routing.Origins{File: r.configFile, Configs: source.Configs()}
	in := os.Stdin
	if standardInput(r.configFile) {
		origins.File = "standard input"
	} else {
		if in, err = os.Open(r.configFile); err != nil {
			return nil, origins, err
		}
		defer in.Close()
	}
	defer o.reading(r.configFile)()
	if text, err = routing.ReadConfig(in); err != nil {
		err = fmt.Errorf("%s: %w", r.configFile, err)
	}
	return text, origins, err
}
