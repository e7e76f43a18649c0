package amconfig

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/config/gosyntax"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

var errMatcherWork = errors.New("the regular expressions of the object take too long, because Alertmanager compares every alert with them: " +
	"use fewer repetitions such as (a?){100}, and fewer alternatives after .*")

// checkRegexp rejects expressions that Alertmanager cannot compile or that exceed the budget of the object.
func (c *compiler) checkRegexp(text string) error {
	parsed, err := regexcost.ParseWithin("^(?:", text, ")$")
	if err != nil {
		return fmt.Errorf("%w%s", err, regexcost.Hint(err, "use another matcher, with !~"))
	}
	if err := gosyntax.Regexp(c.target, text); err != nil {
		return err
	}
	if err := c.regexps.Add(parsed); err != nil {
		return err
	}
	if c.matcherWork += regexcost.Work(parsed); c.matcherWork > budget.MatcherWork && !c.isBase {
		return errMatcherWork
	}
	_, err = regexp.Compile("^(?:" + text + ")$")
	return err
}
