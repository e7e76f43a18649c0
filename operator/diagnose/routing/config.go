package routing

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/matcher/compat"
	"github.com/prometheus/alertmanager/timeinterval"

	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
)

// Config is the configuration of an Alertmanager.
type Config struct {
	loaded    *config.Config
	root      *dispatch.Route
	receivers map[string]*config.Receiver
	intervals *timeinterval.Intervener
}

// matcherMode selects the default parser of Alertmanager since 0.27.0 for matchers and label names.
// The mode is global to Alertmanager's packages.
var matcherMode = sync.OnceFunc(func() {
	compat.InitFromFlags(slog.New(slog.DiscardHandler), featurecontrol.NoopFlags{})
})

// Parse loads a configuration file as Alertmanager does.
//
// Errors: those of Alertmanager, with values redacted.
func Parse(text []byte) (*Config, error) {
	matcherMode()
	loaded, err := load(text)
	if err != nil {
		return nil, fmt.Errorf("load the configuration of Alertmanager: %s", redact.AlertmanagerError(err.Error()))
	}
	if deep(loaded.Route, mostLevels) {
		return nil, fmt.Errorf("load the configuration of Alertmanager: routes are nested deeper than %d levels", mostLevels)
	}
	c := &Config{loaded: loaded, root: dispatch.NewRoute(loaded.Route, nil), receivers: map[string]*config.Receiver{}}
	for i := range loaded.Receivers {
		c.receivers[loaded.Receivers[i].Name] = &loaded.Receivers[i]
	}
	intervals := map[string][]timeinterval.TimeInterval{}
	for _, i := range loaded.MuteTimeIntervals {
		intervals[i.Name] = i.TimeIntervals
	}
	for _, i := range loaded.TimeIntervals {
		intervals[i.Name] = i.TimeIntervals
	}
	c.intervals = timeinterval.NewIntervener(intervals)
	return c, nil
}

// mostLevels is the maximum depth of the routes. The paths of all routes are as long as they are deep.
const mostLevels = 200

// deep reports whether routes are nested deeper than a number of levels.
func deep(r *config.Route, levels int) bool {
	return levels < 0 || slices.ContainsFunc(r.Routes, func(below *config.Route) bool { return deep(below, levels-1) })
}

// load calls Alertmanager's loader, which panics on an unexpected null.
func load(text []byte) (loaded *config.Config, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the loader panics; look for a null: an empty item of a list, or a key without a value")
		}
	}()
	return config.Load(string(text))
}
