package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	client "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/internal/version"
	"github.com/firekeeper-dev/firekeeper/operator/crds"
	"github.com/firekeeper-dev/firekeeper/operator/crds/install"
)

// crdsTimeout bounds --manage-crds: reading, writing and waiting together.
const crdsTimeout = 5 * time.Minute

// errDiffers is the outcome of a diff that found something.
var errDiffers = errors.New("CRDs differ")

// crdsCommand is the command crds with its sub-commands.
type crdsCommand struct {
	full, force bool
	timeout     time.Duration

	print, apply, diff *kingpin.CmdClause
}

func (c *crdsCommand) bind(app *kingpin.Application) {
	cmd := app.Command("crds", "Print, install or compare the CustomResourceDefinitions (CRDs).")
	cmd.Flag("full", "Use the CRDs with descriptions and all versions; AlertmanagerConfig v1beta1 needs the conversion webhook.").
		BoolVar(&c.full)
	c.print = cmd.Command("print", "Print the CRDs as YAML (default). Without --full they are small enough for kubectl apply.").Default()
	c.apply = cmd.Command("apply", "Install the CRDs into the cluster and wait until they are established.")
	c.apply.Flag("force", "Also replace CRDs that are newer than those of this operator. Fields that only the newer ones have are lost.").
		BoolVar(&c.force)
	c.apply.Flag("timeout", "Time limit for the whole command (Go duration).").Default("1m").DurationVar(&c.timeout)
	c.diff = cmd.Command("diff", "Show what apply would change. Exits 0 if nothing, 1 if something, 2 on an error.")
}

// run runs one of the sub-commands and returns the exit code; ours is false for
// a command that is not one of them.
func (c *crdsCommand) run(ctx context.Context, o Options, command string, stdout, stderr io.Writer) (code int, ours bool) {
	var err error
	failed := 1
	switch command {
	case c.print.FullCommand():
		err = printCRDs(stdout, c.full)
	case c.apply.FullCommand():
		err = c.install(ctx, o, stdout, stderr)
	case c.diff.FullCommand():
		failed = 2
		err = c.compare(ctx, o, stdout, stderr)
	default:
		return 0, false
	}
	switch {
	case err == nil:
		return 0, true
	case errors.Is(err, errDiffers):
		return 1, true
	}
	fmt.Fprintf(stderr, "operator: %v\n", err)
	return failed, true
}

func (c *crdsCommand) options() install.Options {
	return install.Options{Version: version.Version, Full: c.full, Force: c.force}
}

// install applies the CRDs and tells on stdout what became of each.
func (c *crdsCommand) install(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("timed out (--timeout=%s)", c.timeout))
	defer cancel()
	api, err := o.definitions()
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
		Applied: func(name string, outcome install.Outcome) { fmt.Fprintf(stdout, "%s %s\n", name, outcome) },
		Waiting: func(names []string) {
			fmt.Fprintf(stderr, "waiting for %d of %d: %s\n", len(names), len(steps), strings.Join(names, ", "))
		},
	})
}

// compare prints what apply would change.
func (c *crdsCommand) compare(ctx context.Context, o Options, stdout, stderr io.Writer) error {
	api, err := o.definitions()
	if err != nil {
		return err
	}
	steps, err := install.Plan(ctx, api, c.options())
	if _, refused := errors.AsType[*install.RefusedError](err); refused {
		fmt.Fprintf(stderr, "apply would refuse this without --force:\n%v\n", err)
	} else if err != nil {
		return err
	}
	differs := false
	for _, step := range steps {
		lines := step.Diff()
		if len(lines) == 0 {
			continue
		}
		differs = true
		fmt.Fprintf(stdout, "%s\n  %s\n", step.Want.Name, strings.Join(lines, "\n  "))
	}
	if differs {
		return errDiffers
	}
	return nil
}

// definitions returns the API of CustomResourceDefinitions.
func (o *Options) definitions() (client.CustomResourceDefinitionInterface, error) {
	cfg, err := o.restConfig()
	if err != nil {
		return nil, err
	}
	return definitions(cfg)
}

func definitions(cfg *rest.Config) (client.CustomResourceDefinitionInterface, error) {
	c, err := client.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return c.CustomResourceDefinitions(), nil
}

// manageCRDs installs the CRDs before anything watches them.
func (o *Options) manageCRDs(ctx context.Context, cfg *rest.Config, log *slog.Logger) error {
	ctx, cancel := context.WithTimeoutCause(ctx, crdsTimeout, fmt.Errorf("timed out after %s", crdsTimeout))
	defer cancel()
	api, err := definitions(cfg)
	if err != nil {
		return err
	}
	steps, err := install.Plan(ctx, api, install.Options{Version: version.Version, Labels: o.Labels})
	if err != nil {
		return fmt.Errorf("--manage-crds: %w", err)
	}
	err = install.Apply(ctx, api, steps, install.Progress{
		Applied: func(name string, outcome install.Outcome) {
			log.Info("applied CRD", "name", name, "outcome", string(outcome))
		},
		Waiting: func(names []string) { log.Info("waiting for CRDs to be established", "names", names) },
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
