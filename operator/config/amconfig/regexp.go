package amconfig

import (
	"regexp"

	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// checkRegexp rejects expressions that Alertmanager cannot compile or that exceed the budget of the object.
func (c *compiler) checkRegexp(text string) error {
	parsed, err := regexcost.ParseWithin("^(?:", text, ")$")
	if err != nil {
		return err
	}
	if err := c.knownSyntax(text, parsed); err != nil {
		return err
	}
	if err := c.regexps.Add(parsed); err != nil {
		return err
	}
	_, err = regexp.Compile("^(?:" + text + ")$")
	return err
}
