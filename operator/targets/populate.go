package targets

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
)

// Labels with which a target overrides a setting of its job about histograms.
const (
	convertHistogramsLabel = "__convert_classic_histograms_to_nhcb__"
	classicHistogramsLabel = "__always_scrape_classic_histograms__"
	nativeHistogramsLabel  = "__scrape_native_histograms__"
)

// manyLabels is the number of labels above which they are sorted: a builder compares each label that is set, or
// deleted, with all that were set before.
const manyLabels = 200

// populate sets the labels of a target before relabeling: those of the target, else those of its
// group, else the settings of the job.
func populate(lb *labels.Builder, c *config.ScrapeConfig, own, shared model.LabelSet) {
	if len(own)+len(shared) > manyLabels {
		lb.Reset(sorted(own, shared))
	} else {
		lb.Reset(labels.EmptyLabels())
		for name, value := range shared {
			lb.Set(string(name), string(value))
		}
		for name, value := range own { // an empty value hides that of the group
			lb.Set(string(name), string(value))
		}
	}
	byDefault := func(name, value string) {
		if lb.Get(name) == "" {
			lb.Set(name, value)
		}
	}
	byDefault(model.JobLabel, c.JobName)
	byDefault(model.ScrapeIntervalLabel, c.ScrapeInterval.String())
	byDefault(model.ScrapeTimeoutLabel, c.ScrapeTimeout.String())
	byDefault(model.MetricsPathLabel, c.MetricsPath)
	byDefault(model.SchemeLabel, c.Scheme)
	byDefault(convertHistogramsLabel, strconv.FormatBool(c.ConvertClassicHistogramsToNHCBEnabled()))
	byDefault(classicHistogramsLabel, strconv.FormatBool(c.AlwaysScrapeClassicHistogramsEnabled()))
	byDefault(nativeHistogramsLabel, strconv.FormatBool(c.ScrapeNativeHistogramsEnabled()))
	for name, values := range c.Params {
		if len(values) > 0 {
			byDefault(model.ParamLabelPrefix+name, values[0])
		}
	}
}

// sorted returns the labels of a target and its group.
func sorted(own, shared model.LabelSet) labels.Labels {
	b := labels.NewScratchBuilder(len(own) + len(shared))
	for name, value := range shared {
		if _, hidden := own[name]; !hidden && value != "" {
			b.Add(string(name), string(value))
		}
	}
	for name, value := range own {
		if value != "" {
			b.Add(string(name), string(value))
		}
	}
	b.Sort()
	return b.Labels()
}

// finish validates the labels that relabeling has left in the builder and returns those of the
// target. The builder keeps them.
//
// Errors: Prometheus cannot scrape a target with these labels.
func finish(lb *labels.Builder) (labels.Labels, error) {
	address := lb.Get(model.AddressLabel)
	if address == "" {
		return labels.EmptyLabels(), errors.New("no address")
	}
	if err := config.CheckTargetAddress(model.LabelValue(address)); err != nil {
		return labels.EmptyLabels(), err
	}
	if err := checkTimes(lb.Get(model.ScrapeIntervalLabel), lb.Get(model.ScrapeTimeoutLabel)); err != nil {
		return labels.EmptyLabels(), err
	}
	for _, name := range []string{convertHistogramsLabel, classicHistogramsLabel, nativeHistogramsLabel} {
		if value := lb.Get(name); value != "" {
			if _, err := strconv.ParseBool(value); err != nil {
				return labels.EmptyLabels(), fmt.Errorf("%s is %q, which is neither true nor false", name, value)
			}
		}
	}
	lb.Range(func(l labels.Label) {
		if strings.HasPrefix(l.Name, model.MetaLabelPrefix) {
			lb.Del(l.Name)
		}
	})
	if lb.Get(model.InstanceLabel) == "" {
		lb.Set(model.InstanceLabel, address)
	}
	out := lb.Labels()
	return out, out.Validate(func(l labels.Label) error {
		if !model.LabelValue(l.Value).IsValid() {
			return fmt.Errorf("invalid label value for %q: %q", l.Name, l.Value)
		}
		return nil
	})
}

// checkTimes validates the interval and the timeout of a target.
//
// Errors: one is no duration or 0, the timeout is longer than the interval.
func checkTimes(interval, timeout string) error {
	var parsed [2]time.Duration
	for i, setting := range []struct{ name, value string }{{"interval", interval}, {"timeout", timeout}} {
		d, err := model.ParseDuration(setting.value)
		if err != nil {
			return fmt.Errorf("error parsing scrape %s: %w", setting.name, err)
		}
		if d == 0 {
			return fmt.Errorf("scrape %s cannot be 0", setting.name)
		}
		parsed[i] = time.Duration(d)
	}
	if parsed[1] > parsed[0] {
		return fmt.Errorf("scrape timeout cannot be greater than scrape interval (%q > %q)", timeout, interval)
	}
	return nil
}

// relabeled populates, relabels and validates a target. The labels are empty for a dropped one.
func relabeled(lb *labels.Builder, c *config.ScrapeConfig, own, shared model.LabelSet) (labels.Labels, error) {
	populate(lb, c, own, shared)
	if !relabel.ProcessBuilder(lb, c.RelabelConfigs...) {
		return labels.EmptyLabels(), nil
	}
	return finish(lb)
}

// urlOf returns the URL at which a target with these labels is scraped, empty without an address. A
// label __param_NAME replaces the first value of the job's parameter.
func urlOf(l labels.Labels, c *config.ScrapeConfig) string {
	if l.Get(model.AddressLabel) == "" {
		return ""
	}
	params := maps.Clone(c.Params)
	if params == nil {
		params = url.Values{}
	}
	l.Range(func(l labels.Label) {
		name, isParam := strings.CutPrefix(l.Name, model.ParamLabelPrefix)
		if !isParam {
			return
		}
		values := []string{l.Value}
		if given := params[name]; len(given) > 1 {
			values = append(values, given[1:]...)
		}
		params[name] = values
	})
	u := url.URL{
		Scheme: l.Get(model.SchemeLabel), Host: l.Get(model.AddressLabel),
		Path: l.Get(model.MetricsPathLabel), RawQuery: params.Encode(),
	}
	return u.String()
}
