package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kingpin/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/verify"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
)

const verifyHelp = "Check an installation: wait until the API server serves the CRDs and, on request, the operator has reconciled an object " +
	"and the admission webhook has checked a rule. Reads only. Exits 0 on success, 1 if that takes longer than --timeout, 2 on an error."

var verifyExample = []string{
	"verify # the CRDs",
	"verify --reconciled prometheus/demo/main # and that the operator works",
}

// verifyOptions are the flags of the command verify.
type verifyOptions struct {
	workload, rule string
	timeout        time.Duration
	question       verify.Question // set by validate
}

func (v *verifyOptions) bind(cmd *kingpin.CmdClause) {
	cmd.Flag("reconciled", "KIND/NAMESPACE/NAME of an object that must be reconciled, for example prometheus/demo/main. Default: none.").StringVar(&v.workload)
	cmd.Flag("validated-rule", "NAMESPACE/NAME of a PrometheusRule that must have passed the admission webhook. Default: none.").StringVar(&v.rule)
	cmd.Flag("timeout", "Time limit for the whole command (Go duration).").Default("2m").DurationVar(&v.timeout)
}

// validate parses the names.
func (v *verifyOptions) validate() error {
	if v.workload != "" {
		row, key, err := spelled("reconciled", v.workload, "", managed)
		if err != nil {
			return err
		}
		v.question.Row, v.question.Workload = row, key
	}
	if v.rule != "" {
		key, err := catalog.FullKey(v.rule)
		if err != nil {
			return fmt.Errorf("--validated-rule=%s: %w", v.rule, err)
		}
		v.question.Rule = key
	}
	return nil
}

// run prints one line per step and returns the exit code.
func (v *verifyOptions) run(ctx context.Context, o *connection, stdout io.Writer) (code int, err error) {
	cfg, err := o.personConfig()
	if err != nil {
		return 2, err
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return 2, err
	}
	_, crds, err := kindClients(cfg, client.New)
	if err != nil {
		return 2, err
	}
	within, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	live := verify.Live{Resources: func(version schema.GroupVersion) (*metav1.APIResourceList, error) {
		return client.Within(within, func() (*metav1.APIResourceList, error) {
			return kube.Discovery().ServerResourcesForGroupVersion(version.String())
		})
	}}
	live.Get = func(ctx context.Context, row *catalog.Row, name types.NamespacedName, into catalog.Object) error {
		return crds[row.GroupVersion()].REST().Get().Namespace(name.Namespace).Resource(row.Resource).Name(name.Name).Do(ctx).Into(into)
	}
	failed, err := verify.Run(within, verify.Steps(live, v.question), stdout)
	switch {
	case err != nil:
		return 2, err
	case ctx.Err() != nil:
		return 2, errors.New("interrupted")
	case failed > 0:
		return 1, nil
	}
	return 0, nil
}
