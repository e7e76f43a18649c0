package commands

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/internal/logging"
)

// Options are the flags of the operator.
type Options struct {
	Version, ShortVersion bool
	Log                   logging.Options
	MemoryRatio           float64
	webOptions
	userOptions
	Kubelet kubeletFlags
	Leader  leaderFlags
	Idle    []*idle
}

// userOptions are the flags that commands for users share: the connection to a cluster, and the
// settings of the operator there.
type userOptions struct {
	connection
	operatorOptions

	// below returns the options with additional arguments for flags that the command line
	// does not have, and the number of arguments used.
	below func(args []string) (*userOptions, int, error)
}

// operatorOptions are the flags that decide what an operator manages and generates.
type operatorOptions struct {
	scopeOptions
	operandOptions
	FeatureGates featureGates
	Workers      int
}

// Bind declares the flags and returns their headings in the help.
func (o *Options) Bind(app *kingpin.Application) *headings {
	help := &headings{of: map[string]string{}}
	o.bindProcess(app)
	o.bindWeb(help.under(webFlags, app))
	o.bindServer(help.under(apiServerFlags, app))
	o.bindScope(help.under(scopeFlags, app))
	o.bindOperands(help.under(objectFlags, app))
	o.Leader.bind(help.under(electionFlags, app))
	o.Kubelet.bind(help.under(kubeletHeading, app))
	o.bindIdle(help.under(ignoredFlags, app))
	return help
}

// bindForPeople declares the flags that change the result of a command of the plugin. All
// others keep their defaults.
func (o *Options) bindForPeople(app *kingpin.Application) *headings {
	defaults := kingpin.New("", "")
	o.Bind(defaults)
	if _, err := defaults.Parse(nil); err != nil {
		panic(err) // a default is invalid
	}
	help := &headings{of: map[string]string{}}
	o.bindVersions(app)
	o.bindGates(app)
	o.bindServer(help.under(apiServerFlags, app))
	o.bindScope(help.under(scopeFlags, app))
	o.bindOperands(help.under(objectFlags, app))
	for _, name := range []string{"manage-crds", "instant-delivery", "expand-volume-claims", "central-discovery-ca-file", "central-discovery-shards-file", "restart-for-reloader-image", "repair-policy-for-statefulsets"} {
		app.GetFlag(name).Hidden() // settings of the operator, accepted so that its arguments can be passed unchanged
	}
	return help
}

func (o *Options) bindVersions(flags flagSet) {
	flags.Flag("version", "Print version and build information and exit.").BoolVar(&o.Version)
	flags.Flag("short-version", "Print only the version and exit.").BoolVar(&o.ShortVersion)
}

func (o *Options) bindGates(flags flagSet) {
	flags.Flag("feature-gates", "Name=true|false, comma-separated, repeatable: "+gateHelp()+".").
		SetValue(&o.FeatureGates)
}

func (o *Options) bindProcess(flags flagSet) {
	o.bindVersions(flags)
	flags.Flag("log-level", "Lowest level to log: "+strings.Join(logging.Levels, ", ")+".").
		Default("info").StringVar(&o.Log.Level)
	flags.Flag("log-format", "Log format: "+strings.Join(logging.Formats, ", ")+".").
		Default("logfmt").StringVar(&o.Log.Format)
	flags.Flag("auto-gomemlimit-ratio", "Fraction of the container's memory limit to set as GOMEMLIMIT, 0 to 1. 0 sets none; the environment variable GOMEMLIMIT takes precedence.").
		Default("0.8").Float64Var(&o.MemoryRatio)
	flags.Flag("workers", "Maximum number of concurrent reconciliations. 0 means the number of CPUs, at least 2.").
		Default("0").IntVar(&o.Workers)
	o.bindGates(flags)
}

// Validate checks the combination of flags. Errors start with the flag.
func (o *Options) Validate() error {
	for _, check := range []func() error{o.validateScope, o.validateOperands, o.validateWeb, o.validateWorkers, o.validateServer} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := errors.Join(o.Kubelet.validate(), o.Leader.validate(), o.validateIdle()); err != nil {
		return err
	}
	_, err := o.workload()
	return err
}

func (o *operatorOptions) validateWorkers() error {
	if o.Workers < 0 {
		return fmt.Errorf("--workers=%d: must not be negative", o.Workers)
	}
	return nil
}

func (o *operatorOptions) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return max(2, runtime.GOMAXPROCS(0))
}
