package routing

import (
	"bytes"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// Compiled is the configuration of an Alertmanager as the operator makes it, and what it is made
// of. all are the AlertmanagerConfigs that there are.
//
// Errors: the configuration cannot be written.
func Compiled(am *v1.Alertmanager, all []catalog.Object, verdicts []engine.Verdict, plan engine.Plan) ([]byte, Origins, error) {
	origins := Origins{Alertmanager: am, Configs: map[string]*v1alpha1.AlertmanagerConfig{}}
	for _, o := range all {
		origins.Configs[o.GetNamespace()+"/"+o.GetName()] = o.(*v1alpha1.AlertmanagerConfig)
	}
	for _, v := range verdicts {
		if v.Err != nil {
			key := v.Object.GetNamespace() + "/" + v.Object.GetName()
			delete(origins.Configs, key)
			origins.Rejected = append(origins.Rejected, Rejection{Object: v.Kind + " " + key, Err: v.Err})
		}
	}
	var text bytes.Buffer
	for _, file := range plan.Plain {
		if file.Part == "config" {
			if err := file.Text(&text); err != nil {
				return nil, origins, err
			}
		}
	}
	return text.Bytes(), origins, nil
}
