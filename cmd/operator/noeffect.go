package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/labels"
)

// idle is a flag that is taken so that the arguments of a Deployment can stay as
// they are, and that has no effect: what it is for is not part of this operator
// yet, or not any more.
type idle struct {
	name, about string
	fallback    string
	toggle      bool                    // takes no value
	check       func(text string) error // nil: any text

	text  string
	given bool
}

// Errors of values are those that will count when the flag has an effect.
func newIdle() []*idle {
	const kubelet, alertmanager, ruler, old = "kubelet endpoints", "Alertmanager objects", "ThanosRuler objects", "CRD management before 0.39"
	return []*idle{
		{name: "kubelet-service", about: kubelet, check: namespaceAndName},
		{name: "kubelet-selector", about: kubelet, check: labelSelector},
		{name: "kubelet-node-address-priority", about: kubelet, fallback: "internal", check: oneOf("internal", "external")},
		{name: "kubelet-endpoints", about: kubelet, fallback: "true", toggle: true},
		{name: "kubelet-endpointslice", about: kubelet, toggle: true},
		{name: "kubelet-sync-period", about: kubelet, fallback: "3m", check: duration},
		{name: "kubelet-http-metrics", about: kubelet, fallback: "true", toggle: true},
		{name: "alertmanager-default-base-image", about: alertmanager, fallback: "quay.io/prometheus/alertmanager"},
		{name: "alertmanager-instance-namespaces", about: alertmanager},
		{name: "alertmanager-config-namespaces", about: alertmanager},
		{name: "alertmanager-instance-selector", about: alertmanager, check: labelSelector},
		{name: "thanos-ruler-instance-namespaces", about: ruler},
		{name: "thanos-ruler-instance-selector", about: ruler, check: labelSelector},
		{name: "with-validation", about: old, toggle: true},
		{name: "crd-kinds", about: old},
		{name: "crd-apigroup", about: old},
		{name: "logtostderr", about: "logging before 0.30", toggle: true},
	}
}

func (o *Options) bindIdle(app *kingpin.Application) {
	o.Idle = newIdle()
	for _, f := range o.Idle {
		clause := app.Flag(f.name, idleHelp+" ("+f.about+").").IsSetByUser(&f.given)
		if f.fallback != "" {
			clause = clause.Default(f.fallback)
		}
		if f.toggle {
			clause.Bool()
		} else {
			clause.SetValue(f)
		}
	}
}

// Set implements kingpin.Value. Repeating adds, as it does for lists.
func (f *idle) Set(text string) error {
	if f.check != nil && text != "" {
		if err := f.check(text); err != nil {
			return err
		}
	}
	f.text = text
	return nil
}

func (f *idle) String() string { return f.text }

// IsCumulative lets the flag be repeated.
func (f *idle) IsCumulative() bool { return true }

// warnIdle says in one record which of the given flags have no effect.
func (o *Options) warnIdle(log *slog.Logger) {
	var names []string
	for _, f := range o.Idle {
		if f.given {
			names = append(names, "--"+f.name)
		}
	}
	if len(names) > 0 {
		log.Warn("these flags have no effect", "flags", strings.Join(names, ", "))
	}
}

func namespaceAndName(text string) error {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
		return fmt.Errorf("want NAMESPACE/NAME, got %q", text)
	}
	return nil
}

func labelSelector(text string) error {
	_, err := labels.Parse(text)
	return err
}

func oneOf(values ...string) func(string) error {
	return func(text string) error {
		for _, v := range values {
			if v == text {
				return nil
			}
		}
		return fmt.Errorf("want one of %s, got %q", strings.Join(values, ", "), text)
	}
}

func duration(text string) error {
	_, err := time.ParseDuration(text)
	return err
}
