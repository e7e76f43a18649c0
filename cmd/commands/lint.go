package commands

import (
	"fmt"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/explain"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

const lintHelp = "Check manifests without a cluster, using the same code as the operator. Each finding names file, line, object and field. " +
	"Errors: unreadable files, unknown fields, invalid values, rejected objects. Warnings: fields that the version of the workload does not support, " +
	"values that have no effect. Notes: objects that nothing selects. Exits 1 if there are errors (or what --fail-on says), 2 for a wrong command line, 0 otherwise."

var lintExample = []string{
	"lint manifests/ # a folder with its subfolders",
	"lint web.yaml --format github # annotations in GitHub Actions",
	"lint - --fail-on warning # standard input, as of kustomize build",
}

// lintOptions are the flags of the command lint.
type lintOptions struct {
	files             []string
	format            string
	prometheusVersion string
	kubernetesVersion string
	missingReferences bool
	failOn            string
}

func (l *lintOptions) bind(cmd *kingpin.CmdClause) {
	bindFiles(cmd, &l.files)
	cmd.Flag("format", "Output format: text for people, json for programs, sarif (2.1.0) for code scanning, github for annotations in GitHub Actions.").
		Default("text").EnumVar(&l.format, lint.Formats...)
	cmd.Flag("fail-on", "Least severity of a finding with which to exit with 1: error, warning or note.").
		Default(string(lint.SeverityError)).EnumVar(&l.failOn, string(lint.SeverityError), string(lint.SeverityWarning), string(lint.SeverityNote))
	cmd.Flag("prometheus-version", "Prometheus version to assume for monitors and rules that no workload among the manifests can select; lint checks them against a Prometheus that selects everything.").
		Default(wellknown.DefaultPrometheusVersion).StringVar(&l.prometheusVersion)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").
		Default(newestKubernetes).StringVar(&l.kubernetesVersion)
	cmd.Flag("allow-missing-references", "Report references to Secrets and ConfigMaps that are not among the manifests as warnings instead of errors.").
		BoolVar(&l.missingReferences)
}

// validate returns an error for the first invalid flag.
func (l *lintOptions) validate() error {
	if _, err := parseKubernetes(l.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", l.kubernetesVersion, err)
	}
	if _, err := promconfig.ParseVersion(l.prometheusVersion); err != nil {
		return fmt.Errorf("--prometheus-version=%s: must be a version of Prometheus 2 or 3", l.prometheusVersion)
	}
	return needFiles("lint", l.files)
}

// run prints the findings and returns the exit code.
func (l *lintOptions) run(o *userOptions, s streams) (code int, err error) {
	kubernetes, err := parseKubernetes(l.kubernetesVersion)
	if err != nil {
		return 2, err
	}
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return 2, err
	}
	defer o.reading(l.files...)()
	objects, faults := manifests.LoadAll(l.files, kinds)
	_, setups, scopes, err := o.setupsOf(objects, kubernetes, s.err)
	if err != nil {
		return 2, err
	}
	objects.Scope = explain.ScopeOf(setups, scopes)
	report := lint.Check(objects, faults, lint.Options{Version: l.prometheusVersion, MissingReferences: l.missingReferences})
	if err := report.Write(s.out, l.format); err != nil {
		return 1, err
	}
	for _, severity := range []lint.Severity{lint.SeverityError, lint.SeverityWarning, lint.SeverityNote} {
		if report.Count(severity) > 0 {
			return 1, nil
		}
		if string(severity) == l.failOn {
			break
		}
	}
	return 0, nil
}
