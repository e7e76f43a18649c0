package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
)

// leaderFlags are the flags for several replicas.
type leaderFlags struct {
	Elect            bool
	Namespace, Lease string
}

func (l *leaderFlags) bind(flags flagSet) {
	flags.Flag("leader-elect", "Let one of several replicas reconcile, the one that holds a Lease; the others take over within seconds.").BoolVar(&l.Elect)
	flags.Flag("leader-elect-namespace", "Namespace of the Lease. Default: that of the pod.").StringVar(&l.Namespace)
	flags.Flag("leader-elect-lease-name", "Name of the Lease. Operators that divide the work need one each.").Default(program).StringVar(&l.Lease)
}

// validate checks each flag. Errors start with the flag.
func (l *leaderFlags) validate() error {
	if l.Namespace != "" {
		if wrong := validation.IsDNS1123Label(l.Namespace); len(wrong) > 0 {
			return fmt.Errorf("--leader-elect-namespace=%s: %s", l.Namespace, wrong[0])
		}
	}
	if wrong := validation.IsDNS1123Subdomain(l.Lease); len(wrong) > 0 {
		return fmt.Errorf("--leader-elect-lease-name=%s: %s", l.Lease, wrong[0])
	}
	return nil
}

// leader returns the leader, which decides whether this operator may write. With several
// replicas, it wraps the transport of cfg.
//
// Errors: the namespace of the Lease is unknown; the Lease cannot be read.
func (l *leaderFlags) leader(ctx context.Context, cfg *rest.Config, log *slog.Logger) (*startup.Leader, error) {
	if !l.Elect {
		return startup.Alone(), nil
	}
	namespace := l.Namespace
	if namespace == "" {
		var err error
		if namespace, err = podNamespace(); errors.Is(err, os.ErrNotExist) {
			return nil, errors.New("--leader-elect-namespace: required outside of a pod")
		}
		if err != nil {
			return nil, fmt.Errorf("--leader-elect-namespace: %w", err)
		}
	}
	out, err := startup.Elected(ctx, cfg, namespace, l.Lease, log)
	if err != nil {
		return nil, fmt.Errorf("--leader-elect: %w", err)
	}
	return out, nil
}

// lead runs do while this operator competes for the lead. It installs the CRDs before it
// runs do. With leader election, only the leader installs them, concurrently with do,
// which must wait for the CRDs it needs.
func (o *Options) lead(ctx context.Context, leader *startup.Leader, cfg *rest.Config, log *slog.Logger, do func(context.Context) error) error {
	if o.ManageCRDs && !o.Leader.Elect {
		if err := o.manageCRDs(ctx, cfg, log); err != nil {
			return err
		}
	}
	return leader.While(ctx, func(ctx context.Context) error {
		g, ctx := errgroup.WithContext(ctx)
		if o.ManageCRDs && o.Leader.Elect {
			g.Go(func() error {
				if !leader.Await(ctx) {
					return nil
				}
				return o.manageCRDs(ctx, cfg, log)
			})
		}
		g.Go(func() error { return do(ctx) })
		return g.Wait()
	})
}
