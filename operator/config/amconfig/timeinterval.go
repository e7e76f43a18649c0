package amconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// MuteInterval is a named set of times.
type MuteInterval struct {
	// Name is the prefixed name.
	Name string `yaml:"name"`
	// TimeIntervals are alternatives; empty means never.
	TimeIntervals []TimePeriod `yaml:"time_intervals"`
}

// TimePeriod matches times for which all of its fields match; an empty field always matches.
type TimePeriod struct {
	// Times of the day.
	Times []TimeRange `yaml:"times,omitempty"`
	// Weekdays are names or ranges of names: "monday:friday".
	Weekdays []string `yaml:"weekdays,omitempty"`
	// DaysOfMonth are numbers or ranges; negative ones count from the end: "-3:-1".
	DaysOfMonth []string `yaml:"days_of_month,omitempty"`
	// Months are numbers or ranges: "1:3".
	Months []string `yaml:"months,omitempty"`
	// Years are numbers or ranges: "2030:2032".
	Years []string `yaml:"years,omitempty"`
}

// TimeRange is a part of a day, in UTC.
type TimeRange struct {
	// StartTime is "HH:MM".
	StartTime string `yaml:"start_time"`
	// EndTime is "HH:MM", at most "24:00", exclusive.
	EndTime string `yaml:"end_time"`
}

// muteInterval validates and converts an interval without adding the prefix to its name.
// Errors start with the path below the interval.
func muteInterval(in *v1alpha1.MuteTimeInterval) (MuteInterval, error) {
	out := MuteInterval{Name: in.Name, TimeIntervals: []TimePeriod{}}
	var errs faults.List
	if in.Name == "" {
		errs.Add("name", errors.New("is empty"))
	}
	out.TimeIntervals = append(out.TimeIntervals, each(&errs, "timeIntervals", in.TimeIntervals, timePeriod)...)
	return out, errs.Err()
}

func timePeriod(in v1alpha1.TimeInterval) (out TimePeriod, err error) {
	var errs faults.List
	out.Times = each(&errs, "times", in.Times, timeRange)
	out.Weekdays = each(&errs, "weekdays", in.Weekdays, rangeOf(weekday, weekdayName, cycle{"a week", 0, 6}))
	out.DaysOfMonth = each(&errs, "daysOfMonth", in.DaysOfMonth, daysOfMonth)
	out.Months = each(&errs, "months", in.Months, rangeOf(month, strconv.Itoa, cycle{"a year", 1, 12}))
	out.Years = each(&errs, "years", in.Years, rangeOf(year, strconv.Itoa, cycle{}))
	return out, errs.Err()
}

// each converts the elements of a field.
func each[In, Out any](errs *faults.List, field string, in []In, convert func(In) (Out, error)) []Out {
	out, err := faults.Convert(field, in, func(v *In) (Out, error) { return convert(*v) })
	errs.Add("", err)
	return out
}

var timeOfDay = lazyregexp.New(`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`)

func timeRange(in v1alpha1.TimeRange) (TimeRange, error) {
	for _, t := range []struct{ field, value string }{{"startTime", in.StartTime}, {"endTime", in.EndTime}} {
		if t.value == "" {
			return TimeRange{}, faults.At(t.field, errEmpty)
		}
		if !timeOfDay.MatchString(t.value) {
			return TimeRange{}, faults.At(t.field, fmt.Errorf("%q is not a time of the form HH:MM", t.value))
		}
	}
	if in.StartTime >= in.EndTime { // both have the same length, so they sort by time
		remedy := ""
		if in.EndTime != in.StartTime {
			remedy = fmt.Sprintf("; a range over midnight is two items: from %s to 24:00, and from 00:00 to %s", in.StartTime, in.EndTime)
		}
		return TimeRange{}, faults.At("endTime", fmt.Errorf("%q is not after startTime %q%s", in.EndTime, in.StartTime, remedy))
	}
	return TimeRange{StartTime: in.StartTime, EndTime: in.EndTime}, nil
}

const maxDay = 31

func daysOfMonth(in v1alpha1.DayOfMonthRange) (string, error) {
	for _, d := range []struct {
		field string
		value int
	}{{"start", in.Start}, {"end", in.End}} {
		if d.value == 0 || d.value < -maxDay || d.value > maxDay {
			return "", faults.At(d.field, fmt.Errorf("%d is not a day of the month: 1 to 31, or -31 to -1 from its end", d.value))
		}
	}
	if in.Start < 0 && in.End > 0 {
		return "", faults.At("end", errors.New("must be negative because start is"))
	}
	if inShortMonth(in.Start) > inShortMonth(in.End) {
		return "", faults.At("end", fmt.Errorf("%d is before start %d", in.End, in.Start))
	}
	return rangeText(in.Start, in.End, strconv.Itoa), nil
}

// inShortMonth returns the position of a day in a month of 28 days.
func inShortMonth(day int) int {
	if day < 0 {
		return 28 + day
	}
	return day
}

// cycle is a repeating sequence of numbered elements, such as the days of a week.
type cycle struct {
	name        string // empty if there is none
	first, last int
}

// rangeOf returns a converter for "a" or "a:b" with elements that parse accepts.
func rangeOf(parse func(string) (int, error), text func(int) string, of cycle) func(string) (string, error) {
	return func(in string) (string, error) {
		first, last, isRange := strings.Cut(in, ":")
		start, err := parse(first)
		if err != nil {
			return "", err
		}
		end := start
		if isRange {
			if end, err = parse(last); err != nil {
				return "", err
			}
		}
		switch {
		case start > end && of.name != "":
			return "", fmt.Errorf("the range %q ends before it starts; %s begins with %s: write %q and %q", in, of.name, text(of.first),
				rangeText(start, of.last, text), rangeText(of.first, end, text))
		case start > end:
			return "", fmt.Errorf("the range %q ends before it starts", in)
		}
		return rangeText(start, end, text), nil
	}
}

func rangeText(start, end int, text func(int) string) string {
	if start == end {
		return text(start)
	}
	return text(start) + ":" + text(end)
}

func weekdayName(day int) string { return strings.ToLower(time.Weekday(day).String()) }

// weekday parses a name or 0 to 6, where 0 is Sunday.
func weekday(in string) (int, error) {
	for day := range 7 {
		if strings.EqualFold(in, weekdayName(day)) || in == strconv.Itoa(day) {
			return day, nil
		}
	}
	return 0, fmt.Errorf("%q is not a day of the week", in)
}

// month parses a name or 1 to 12.
func month(in string) (int, error) {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(in, m.String()) || in == strconv.Itoa(int(m)) {
			return int(m), nil
		}
	}
	return 0, fmt.Errorf("%q is not a month", in)
}

func year(in string) (int, error) {
	y, err := strconv.Atoi(in)
	if err != nil {
		return 0, fmt.Errorf("%q is not a year", in)
	}
	return y, nil
}
