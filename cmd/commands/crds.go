package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/definitions"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
	"github.com/firekeeper-dev/firekeeper/operator/kube/startup"
)

// crdsTimeout limits --manage-crds as a whole: reading, writing and waiting.
const crdsTimeout = 5 * time.Minute

// crdsCommand holds the flags of the command crds and its subcommands.
type crdsCommand struct {
	full, force bool
	timeout     time.Duration
	// NAMESPACE/NAME; if empty, the conversion is not changed
	conversion, injectCAFrom string
	service                  types.NamespacedName // conversion as parsed by validate
}

func (c *crdsCommand) bind(cmd *kingpin.CmdClause) {
	cmd.Flag("full", "Use the CRDs with descriptions and all versions; AlertmanagerConfig v1beta1 needs the conversion webhook.").
		BoolVar(&c.full)
}

func (c *crdsCommand) bindApply(cmd *kingpin.CmdClause) {
	cmd.Flag("force", "Also replace CRDs that are newer than those of this operator. Fields that only the newer ones have are lost.").
		BoolVar(&c.force)
	cmd.Flag("timeout", "Time limit for the whole command (Go duration).").Default("1m").DurationVar(&c.timeout)
	cmd.Flag("conversion-webhook", "NAMESPACE/NAME of the Service of the admission webhook, to serve AlertmanagerConfig v1beta1 too. "+
		"Default: the conversion stays as it is in the cluster.").StringVar(&c.conversion)
	cmd.Flag("conversion-inject-ca-from", "NAMESPACE/NAME of the cert-manager Certificate whose CA belongs to --conversion-webhook. Default: none.").
		StringVar(&c.injectCAFrom)
}

// validate returns an error for the first invalid name.
func (c *crdsCommand) validate() error {
	if c.injectCAFrom != "" && c.conversion == "" {
		return fmt.Errorf("--conversion-inject-ca-from=%s: needs --conversion-webhook", c.injectCAFrom)
	}
	var err error
	if c.conversion != "" {
		if c.service, err = catalog.FullKey(c.conversion); err != nil {
			return fmt.Errorf("--conversion-webhook=%s: %w", c.conversion, err)
		}
	}
	if c.injectCAFrom != "" {
		if _, err := catalog.FullKey(c.injectCAFrom); err != nil {
			return fmt.Errorf("--conversion-inject-ca-from=%s: %w", c.injectCAFrom, err)
		}
	}
	return nil
}

func (c *crdsCommand) options() install.Options {
	out := install.Options{Version: version.Version, Full: c.full, Force: c.force}
	if c.conversion != "" {
		out.Conversion = &install.Conversion{Service: c.service, InjectCAFrom: c.injectCAFrom}
	}
	return out
}

// install applies the CRDs and prints the result for each.
func (c *crdsCommand) install(ctx context.Context, o *connection, s streams) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("timed out (--timeout=%s)", c.timeout))
	defer cancel()
	api, err := o.crdClient()
	if err != nil {
		return err
	}
	steps, err := install.Plan(ctx, api, c.options())
	if _, refused := errors.AsType[*install.RefusedError](err); refused {
		return fmt.Errorf("nothing was changed; use --force to apply anyway:\n%w", err)
	}
	if err != nil {
		return err
	}
	return install.Apply(ctx, api, steps, install.Progress{
		Applied: func(name string, outcome install.Outcome) { fmt.Fprintf(s.out, "%s %s\n", name, outcome) },
		Waiting: func(names []string) {
			fmt.Fprintf(s.err, "waiting for %d of %d: %s\n", len(names), len(steps), strings.Join(names, ", "))
		},
	})
}

// compare prints the changes that apply would make. The exit code is 0 if there are none,
// 1 if there are some, and 2 on an error.
func (c *crdsCommand) compare(ctx context.Context, o *connection, s streams) (exit int, err error) {
	api, err := o.crdClient()
	if err != nil {
		return 2, err
	}
	steps, err := install.Plan(ctx, api, c.options())
	if _, refused := errors.AsType[*install.RefusedError](err); refused {
		fmt.Fprintf(s.err, "apply would refuse this without --force:\n%v\n", err)
	} else if err != nil {
		return 2, err
	}
	for _, step := range steps {
		lines := step.Diff()
		if len(lines) == 0 {
			continue
		}
		exit = 1
		fmt.Fprintf(s.out, "%s\n  %s\n", step.Want.Name, strings.Join(lines, "\n  "))
	}
	return exit, nil
}

// crdClient returns the client for CustomResourceDefinitions.
func (o *connection) crdClient() (definitions.Interface, error) {
	cfg, err := o.restConfig()
	if err != nil {
		return nil, err
	}
	if o.progress != nil {
		cfg.Wrap(telling(o.progress))
	}
	return definitions.New(cfg)
}

// manageCRDs installs the CRDs, before anything watches their objects.
func (o *Options) manageCRDs(ctx context.Context, cfg *rest.Config, log *slog.Logger) error {
	ctx, cancel := context.WithTimeoutCause(ctx, crdsTimeout, fmt.Errorf("timed out after %s", crdsTimeout))
	defer cancel()
	api, err := definitions.New(cfg)
	if err != nil {
		return err
	}
	_, err = startup.Insist(ctx, &startup.Patience{Log: log}, func() (steps []install.Step, err error) {
		if steps, err = install.Plan(ctx, api, install.Options{Version: version.Version, Labels: o.Labels}); err != nil {
			return nil, err
		}
		return steps, install.Apply(ctx, api, steps, install.Progress{
			Applied: func(name string, outcome install.Outcome) {
				log.Info("applied CRD", "name", name, "outcome", string(outcome))
			},
			Waiting: func(names []string) { log.Info("waiting for CRDs to be established", "names", names) },
		})
	})
	if err != nil {
		return fmt.Errorf("--manage-crds: %w", err)
	}
	return nil
}

func printCRDs(w io.Writer, full bool) error {
	load := crds.Standard
	if full {
		load = crds.Full
	}
	all, err := load(version.Version)
	if err != nil {
		return err
	}
	return crds.Write(w, all)
}
