package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
)

var subcommands = map[string]subcommand{
	"up": {
		help: "Starts a cluster and leaves it running. A cluster that already runs in the folder is kept;\n" +
			"one that crashed is cleared up first. Afterwards DIR/kubeconfig and DIR/bin/kubectl are there.",
		bind: bindUp,
	},
	"down": {
		help: "Stops the cluster and removes all it made on this machine: processes, containers, mounts,\n" +
			"network interfaces, iptables chains, DIR. Without a cluster it does nothing.",
		bind: plain(down),
	},
	"status": {
		help: "Says whether a cluster runs, and where. Exit status 3: none runs.",
		bind: plain(status),
	},
	"load-image": {
		help: "Builds an image FROM scratch and makes it known to the node. Pods use it with\n" +
			"imagePullPolicy: IfNotPresent.",
		args: "NAME ",
		bind: bindLoadImage,
	},
	"load-programs": {
		help: "Makes an image of programs (see clusterctl programs): static, user 65534, the first is the\n" +
			"entry point. For instance: clusterctl load-programs example.local/prometheus:v3 prometheus promtool",
		args: "IMAGE PROGRAM... ",
		bind: plain(loadPrograms),
	},
	"programs": {
		help: "Prints the path of each program, which is built when it is missing. Known are\n" +
			strings.Join(programs.Names(), ", ") + ".\n\n" +
			"Looked for in KUBEBUILDER_ASSETS, in the cache (FIREKEEPER_CACHE, else .cache/programs below the\n" +
			"source tree), on PATH.",
		args: "NAME... ",
		bind: plain(printPrograms),
	},
}

// errNotRunning selects the exit status of "status".
var errNotRunning = errors.New("no cluster runs")

// plain returns a command without flags.
func plain(do func(context.Context, env) error) func(*flag.FlagSet) func(context.Context, env) error {
	return func(*flag.FlagSet) func(context.Context, env) error { return do }
}

func bindUp(flags *flag.FlagSet) func(context.Context, env) error {
	controlPlaneOnly := flags.Bool("control-plane-only", false,
		"no node: pods are never run, root is not needed, several clusters may run side by side")
	return func(ctx context.Context, e env) error {
		if c, err := cluster.Open(e.dir, e.stderr); err == nil {
			if c.HasNode() == *controlPlaneOnly {
				return fmt.Errorf("a cluster of the other size runs in %s; take it down first", e.dir)
			}
			fmt.Fprintln(e.stdout, "already running")
			return describe(e, c)
		}
		c, err := cluster.Start(ctx, cluster.Options{
			Dir: e.dir, ControllerManager: true, Node: !*controlPlaneOnly, Detach: true, Log: e.stderr,
		})
		if err != nil {
			return err
		}
		return describe(e, c)
	}
}

// describe prints how to use the cluster.
func describe(e env, c *cluster.Cluster) error {
	_, err := fmt.Fprintf(e.stdout, "API server  %s\nkubeconfig  %s\nkubectl     %s\nlogs        %s\n\n  export KUBECONFIG=%s\n",
		c.Host, c.Kubeconfig, filepath.Join(c.Dir, "bin", "kubectl"), c.LogDir(), c.Kubeconfig)
	return err
}

func down(_ context.Context, e env) error {
	return cluster.Down(e.dir, e.stderr)
}

func status(_ context.Context, e env) error {
	c, err := cluster.Open(e.dir, e.stderr)
	if _, none := errors.AsType[*cluster.NotRunningError](err); none {
		return fmt.Errorf("%w in %s", errNotRunning, e.dir)
	}
	if err != nil {
		return err
	}
	if err := describe(e, c); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout)
	processes := c.Processes()
	for _, name := range slices.Sorted(maps.Keys(processes)) {
		fmt.Fprintf(e.stdout, "%-24s process %d\n", name, processes[name])
	}
	return nil
}

func bindLoadImage(flags *flag.FlagSet) func(context.Context, env) error {
	img := cluster.Image{Args: map[string]string{}}
	flags.StringVar(&img.Context, "context", ".", "`folder` that COPY reads")
	flags.StringVar(&img.Dockerfile, "dockerfile", "", "Dockerfile (default Dockerfile in the context)")
	flags.Func("build-arg", "`KEY=VALUE` of an ARG; repeat for more", func(s string) error {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return fmt.Errorf("must be KEY=VALUE, is %q", s)
		}
		img.Args[key] = value
		return nil
	})
	return func(ctx context.Context, e env) error {
		if len(e.args) != 1 {
			return &usageError{"exactly one image name is needed"}
		}
		img.Name = e.args[0]
		c, err := cluster.Open(e.dir, e.stderr)
		if err != nil {
			return err
		}
		if err := c.LoadImage(ctx, img); err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "loaded %s\n", img.Name)
		return err
	}
}

func loadPrograms(ctx context.Context, e env) error {
	if len(e.args) < 2 {
		return &usageError{"an image name and at least one program are needed"}
	}
	c, err := cluster.Open(e.dir, e.stderr)
	if err != nil {
		return err
	}
	if err := c.LoadPrograms(ctx, e.args[0], e.args[1:]...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.stdout, "loaded %s\n", e.args[0])
	return err
}

func printPrograms(ctx context.Context, e env) error {
	if len(e.args) == 0 {
		return &usageError{"at least one program is needed"}
	}
	found, err := programs.Default(e.stderr).Find(ctx, e.args...)
	if err != nil {
		if _, unknown := errors.AsType[*programs.UnknownError](err); unknown {
			return &usageError{err.Error()}
		}
		return err
	}
	for _, name := range e.args {
		fmt.Fprintln(e.stdout, found[name])
	}
	return nil
}
