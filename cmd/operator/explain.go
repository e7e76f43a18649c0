package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/render"
)

const explainHelp = "Show, for each Prometheus and PrometheusAgent, whether it uses a monitor or rule. If not, give the first reason. " +
	"Reads the cluster of the kubeconfig, or manifests with -f; writes nothing. Exits 0 if at least one uses it, 1 if none does, 2 on an error."

// explainOptions are the arguments of the command explain.
type explainOptions struct {
	kind, name        string
	files             []string
	format            string
	kubernetesVersion string
}

func (e *explainOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Arg("kind", "servicemonitor, podmonitor, probe, scrapeconfig or prometheusrule, or their plural or short name.").Required().StringVar(&e.kind)
	cmd.Arg("name", "NAMESPACE/NAME of the object.").Required().StringVar(&e.name)
	cmd.Flag("file", "File or folder of manifests to read instead of a cluster (YAML with several documents, JSON, Lists); - is standard input. Repeatable.").
		Short('f').StringsVar(&e.files)
	cmd.Flag("format", "Output format: text for people, json for programs.").Default("text").EnumVar(&e.format, explain.Formats...)
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").Default("1.36.0").StringVar(&e.kubernetesVersion)
}

// validate reports the first argument that cannot be used.
func (e *explainOptions) validate() error {
	if _, err := parseKubernetes(e.kubernetesVersion); err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", e.kubernetesVersion, err)
	}
	_, err := explain.ParseName(e.kind, e.name)
	return err
}

// run prints the answer and returns the exit code.
func (e *explainOptions) run(ctx context.Context, o Options, stdout io.Writer) (code int, err error) {
	name, err := explain.ParseName(e.kind, e.name)
	if err != nil {
		return 2, err
	}
	q, version, err := e.ask(ctx, o, name)
	if err != nil {
		return 2, err
	}
	kubernetes, err := parseKubernetes(version)
	if err != nil {
		return 2, err
	}
	opts, err := o.prometheus(kubernetes)
	if err != nil {
		return 2, err
	}
	report := explain.Explain(q, opts)
	if err := report.Write(stdout, e.format); err != nil {
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

// ask makes the question, from manifests or a cluster, and returns the version of
// the API server with it.
func (e *explainOptions) ask(ctx context.Context, o Options, name explain.Name) (q explain.Question, version string, err error) {
	if len(e.files) > 0 {
		objects, err := render.Load(e.files)
		if err != nil {
			return q, "", err
		}
		q, err = explain.FromManifests(objects, name)
		return q, e.kubernetesVersion, err
	}
	cfg, err := o.personConfig()
	if err != nil {
		return q, "", err
	}
	kube, err := kubernetes.NewForConfig(compact(cfg))
	if err != nil {
		return q, "", err
	}
	info, err := kube.Discovery().ServerVersion()
	if err != nil {
		return q, "", fmt.Errorf("reach the API server at %s: %w", cfg.Host, err)
	}
	live := explain.Live{Kube: kube}
	if _, live.V1, live.V1alpha1, err = kindClients(cfg); err != nil {
		return q, "", err
	}
	scopes, err := o.scopes()
	if err != nil {
		return q, "", err
	}
	live.Instances = scopes.Instances
	q, err = live.Ask(ctx, name)
	return q, info.GitVersion, err
}

// personConfig is restConfig for a person: outside of a cluster, and told nothing,
// it takes the kubeconfig that kubectl takes.
func (o *Options) personConfig() (*rest.Config, error) {
	cfg, err := o.restConfig()
	if !errors.Is(err, rest.ErrNotInCluster) {
		return cfg, err
	}
	if _, missing := os.Stat(clientcmd.RecommendedHomeFile); missing != nil {
		return nil, fmt.Errorf("find the API server: no --kubeconfig, no environment variable KUBECONFIG and no %s; use -f to read manifests instead", clientcmd.RecommendedHomeFile)
	}
	person := *o
	person.Kubeconfig = clientcmd.RecommendedHomeFile
	return person.restConfig()
}
