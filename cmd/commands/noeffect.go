package commands

import (
	"fmt"
	"log/slog"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// idle is a flag that is accepted but has no effect, because its feature no longer exists.
// It keeps the arguments of a Deployment valid.
type idle struct {
	name, about string
	toggle      bool // has no value

	text  string
	given bool
}

func newIdle() []*idle {
	return []*idle{
		{name: "with-validation", about: "the CRDs always have schemas", toggle: true},
		{name: "crd-kinds", about: "kinds and CRDs have fixed names"},
		{name: "crd-apigroup", about: "the API group is always " + v1.GroupName},
		{name: "logtostderr", about: "the log always goes to standard output, see --log-level", toggle: true},
	}
}

func (o *Options) bindIdle(flags flagSet) {
	o.Idle = newIdle()
	for _, f := range o.Idle {
		clause := flags.Flag(f.name, "Accepted for compatibility with versions before 0.40; has no effect: "+f.about+".").IsSetByUser(&f.given)
		if f.toggle {
			clause.Bool()
		} else {
			clause.SetValue(f)
		}
	}
}

// validateIdle rejects the one value with which the user's objects would silently be
// ignored: another API group.
func (o *Options) validateIdle() error {
	for _, f := range o.Idle {
		if f.name == "crd-apigroup" && f.given && f.text != v1.GroupName {
			return fmt.Errorf("--crd-apigroup=%s: only %s is possible; objects of other groups are not read", f.text, v1.GroupName)
		}
	}
	return nil
}

// Set implements [kingpin.Value]. A repeated flag adds to the value, as for lists.
func (f *idle) Set(text string) error {
	f.text = text
	return nil
}

func (f *idle) String() string { return f.text }

// IsCumulative reports that the flag may be repeated.
func (f *idle) IsCumulative() bool { return true }

// warnIdle logs one record for the given flags that have no effect, and another one for
// gates.
func (o *Options) warnIdle(log *slog.Logger) {
	var names, reasons []string
	for _, f := range o.Idle {
		if f.given {
			names, reasons = append(names, "--"+f.name), append(reasons, "--"+f.name+": "+f.about)
		}
	}
	if len(names) > 0 {
		log.Warn("these flags have no effect", "flags", strings.Join(names, ", "), "why", strings.Join(reasons, "; "))
	}
	if o.FeatureGates[gateRemoteWriteCRD] {
		log.Warn("this feature gate has no effect", "gate", gateRemoteWriteCRD, "why", "the API has no kind for remote write yet; use spec.remoteWrite of Prometheus and PrometheusAgent")
	}
}
