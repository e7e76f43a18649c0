package prometheus

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/selection"
)

// Selectors are the parsed selectors of p by kind of object, for questions about
// objects that p does not select.
//
// Errors name the field, as in spec.ruleSelector.
func Selectors(p *v1.Prometheus) (selection.Rules, error) { return selectionRules(p) }
