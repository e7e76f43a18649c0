package prometheus

import (
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// Selectors are the parsed selectors of an owner by kind of object, for questions
// about objects that it does not select.
//
// Errors name the field, as in spec.ruleSelector.
func Selectors(o Owner) (selection.Rules, error) { return selectionRules(o) }
