package amconfig

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// maxShown is the maximum number of bytes of an invalid value in an error.
const maxShown = 80

// goDuration formats a duration for keys that Alertmanager parses as Go durations, which
// have no unit above the hour.
//
// text: a Prometheus duration, "1d12h"; empty stays empty. The result has the units h, m,
// s and ms, largest first: "36h".
func goDuration[D ~string](field string, text D) (string, error) {
	if text == "" {
		return "", nil
	}
	parsed, err := model.ParseDuration(string(text))
	if err != nil {
		return "", faults.At(field, fmt.Errorf("%q is not a duration", excerpt.Of(string(text), maxShown)))
	}
	return goUnits(time.Duration(parsed)), nil
}

// goUnits formats d in hours and smaller units, omitting zeros.
func goUnits(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / unit.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + unit.name)
			d -= n * unit.size
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}

// compoundSince is the first version that supports durations with several units, "1h30m".
const compoundSince = "alertmanager=0.22.0"

// promUnits are the units of a Prometheus duration, largest first.
var promUnits = []struct {
	size time.Duration
	name string
}{
	{365 * 24 * time.Hour, "y"}, {7 * 24 * time.Hour, "w"}, {24 * time.Hour, "d"},
	{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"},
}

// promDuration formats a duration for keys that Alertmanager parses as Prometheus
// durations: with a single unit for versions that support no other form, "90m", else with
// the largest units, "1h30m".
func (c *compiler) promDuration(d model.Duration) string {
	if d == 0 || c.target.AtLeast(compoundSince) {
		return d.String()
	}
	for _, unit := range promUnits {
		if time.Duration(d)%unit.size == 0 {
			return strconv.FormatInt(int64(time.Duration(d)/unit.size), 10) + unit.name
		}
	}
	return d.String() // no duration has a unit below the millisecond
}

// checkDuration checks a duration for [goDuration]. It is for stateless checks.
func checkDuration[D ~string](field string, text D) error {
	_, err := goDuration(field, text)
	return err
}
