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

	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/explain"
	"github.com/firekeeper-dev/firekeeper/operator/offline"
)

const explainHelp = "Show, for each workload, whether it uses a monitor or rule. If not, give the first reason. " +
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
	cmd.Flag("kubernetes-version", "Kubernetes version that the manifests are for.").Default(newestKubernetes).StringVar(&e.kubernetesVersion)
}

// validate reports the first argument that cannot be used.
func (e *explainOptions) validate(o *Options) error {
	kubernetes, err := parseKubernetes(e.kubernetesVersion)
	if err != nil {
		return fmt.Errorf("--kubernetes-version=%s: %w", e.kubernetesVersion, err)
	}
	kinds, err := o.kinds(kubernetes)
	if err == nil {
		_, err = explain.ParseName(kinds, e.kind, e.name)
	}
	return err
}

// run prints the answer and returns the exit code.
func (e *explainOptions) run(ctx context.Context, o Options, stdout io.Writer) (code int, err error) {
	q, scopes, err := e.ask(ctx, o)
	if err != nil {
		return 2, err
	}
	report := explain.Explain(q, scopes.For(q.Row))
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

// ask makes the question, from manifests or a cluster.
func (e *explainOptions) ask(ctx context.Context, o Options) (q explain.Question, scopes engine.Scopes, err error) {
	var live explain.Live
	version := e.kubernetesVersion
	if len(e.files) == 0 {
		if live, version, err = o.connect(); err != nil {
			return q, scopes, err
		}
	}
	kubernetes, err := parseKubernetes(version)
	if err != nil {
		return q, scopes, err
	}
	setups, scopes, err := o.setups(kubernetes)
	if err != nil {
		return q, scopes, err
	}
	kinds := explain.Kinds(setups)
	name, err := explain.ParseName(kinds, e.kind, e.name)
	if err != nil {
		return q, scopes, err
	}
	if len(e.files) == 0 {
		q, err = live.Ask(ctx, setups, name)
		return q, scopes, err
	}
	objects, faults := offline.LoadAll(e.files, kinds)
	q, err = explain.FromManifests(objects, faults, setups, name)
	return q, scopes, err
}

// connect reaches the cluster of a person, and returns the version of its API server.
func (o *Options) connect() (live explain.Live, version string, err error) {
	cfg, err := o.personConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		err = fmt.Errorf("%w; use -f to read manifests instead", err)
	}
	if err != nil {
		return live, "", err
	}
	if live.Kube, err = kubernetes.NewForConfig(compact(cfg)); err != nil {
		return live, "", err
	}
	info, err := live.Kube.Discovery().ServerVersion()
	if err != nil {
		return live, "", fmt.Errorf("reach the API server at %s: %w", cfg.Host, err)
	}
	_, live.CRDs, err = kindClients(cfg)
	return live, info.GitVersion, err
}

// personConfig is restConfig for a person: outside of a cluster, and told nothing,
// it takes the kubeconfig that kubectl takes.
func (o *Options) personConfig() (*rest.Config, error) {
	cfg, err := o.restConfig()
	if !errors.Is(err, rest.ErrNotInCluster) {
		return cfg, err
	}
	if _, missing := os.Stat(clientcmd.RecommendedHomeFile); missing != nil {
		return nil, fmt.Errorf("find the API server: no --kubeconfig, no environment variable KUBECONFIG and no %s: %w", clientcmd.RecommendedHomeFile, err)
	}
	person := *o
	person.Kubeconfig = clientcmd.RecommendedHomeFile
	return person.restConfig()
}
