package routing

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/featurecontrol"
	"github.com/prometheus/alertmanager/matcher/compat"
	"github.com/prometheus/alertmanager/timeinterval"
)

// Config is the configuration of an Alertmanager.
type Config struct {
	loaded    *config.Config
	root      *dispatch.Route
	receivers map[string]*config.Receiver
	intervals *timeinterval.Intervener
}

// matcherMode selects the rules for matchers and label names: those that Alertmanager has
// without flags since 0.27.0. They are global to its packages.
var matcherMode = sync.OnceFunc(func() {
	compat.InitFromFlags(slog.New(slog.DiscardHandler), featurecontrol.NoopFlags{})
})

// Parse loads a configuration file as Alertmanager does.
//
// Errors: what Alertmanager refuses, in its words.
func Parse(text []byte) (*Config, error) {
	matcherMode()
	loaded, err := load(text)
	if err != nil {
		return nil, fmt.Errorf("load the configuration of Alertmanager: %s", withoutValues(err.Error()))
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

// load is Alertmanager's loader, which panics at a null where it expects none.
func load(text []byte) (loaded *config.Config, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the loader panics; look for a null: an empty item of a list, or a key without a value")
		}
	}()
	return config.Load(string(text))
}

// quotedValues are where errors of Alertmanager and of its libraries quote values of
// fields, which can be secrets: URLs, texts of a wrong type, templates.
var quotedValues = regexp.MustCompile("`[^`]*`" + `|(parse |host |address |scheme )"(?:[^"\\]|\\.)*"|(template: ).*`)

func withoutValues(text string) string {
	return quotedValues.ReplaceAllString(text, "${1}${2}<hidden>")
}
