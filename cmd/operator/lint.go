package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/lint"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/wellknown"
)

const lintHelp = "Check manifests without a cluster, using the same code as the operator. Each finding names file, line, object and field. " +
	"Errors: unreadable files, unknown fields, invalid values, rejected objects. Warnings: fields that the version of the workload does not support, " +
	"values that have no effect. Notes: objects that nothing selects. Exits 1 if there are errors, 2 for a wrong command line, 0 otherwise."

// lintOptions are the flags of the command lint.
type lintOptions struct {
	files             []string
	format            string
	prometheusVersion string
	kubernetesVersion string
	missingReferences bool
}

func (l *lintOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Flag("file", "File or folder of manifests (YAML with several documents, JSON, Lists); - is standard input. Repeatable.").
		Short('f').Required().StringsVar(&l.files)
	cmd.Flag("format", "Output format: text for people, json for programs, sarif (2.1.0) for code scanning, github for annotations in GitHub Actions.").
		Default("text").EnumVar(&l.format, lint.Formats...)
	cmd.Flag("prometheus-version", "Prometheus version to assume for monitors and rules that no workload among the manifests can select; lint checks them against a Prometheus that selects everything.").
		Default(wellknown.DefaultPrometheusVersion).StringVar(&l.prometheusVersion)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").
		Default(newestKubernetes).StringVar(&l.kubernetesVersion)
	cmd.Flag("allow-missing-references", "Report references to Secrets and ConfigMaps that are not among the manifests as warnings instead of errors.").
		BoolVar(&l.missingReferences)
}

// validate reports the first flag that cannot be used.
func (l *lintOptions) validate() error {
	if _, err := parseKubernetes(l.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", l.kubernetesVersion, err)
	}
	if _, err := promconfig.ParseVersion(l.prometheusVersion); err != nil {
		return fmt.Errorf("--prometheus-version=%s: must be a version of Prometheus 2 or 3", l.prometheusVersion)
	}
	return nil
}

// run prints what is found and returns the exit code.
func (l *lintOptions) run(o Options, stdout io.Writer) (code int, err error) {
	kubernetes, err := parseKubernetes(l.kubernetesVersion)
	if err != nil {
		return 2, err
	}
	kinds, err := o.kinds(kubernetes)
	if err != nil {
		return 2, err
	}
	report := lint.Run(l.files, kinds, lint.Options{Version: l.prometheusVersion, MissingReferences: l.missingReferences})
	if err := report.Write(stdout, l.format); err != nil {
		return 1, err
	}
	if report.Count(lint.SeverityError) > 0 {
		return 1, nil
	}
	return 0, nil
}
