package amconfig

import (
	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/templatecost"
)

// checkTemplates rejects templates that exhaust Alertmanager. It checks all strings of a receiver, because the fields
// that Alertmanager expands depend on its version. Errors start with the path below the receiver.
//
// spent: the costs of the other templates of the object.
func checkTemplates(spent *templatecost.Budget, r *v1alpha1.Receiver) error {
	spent.Next(r.Name)
	for path, text := range fields.Strings("", r) {
		if err := spent.Add(text.String()); err != nil {
			return faults.At(path, err)
		}
	}
	return nil
}
