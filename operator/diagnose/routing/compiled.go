package routing

import (
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/fragments"
)

// OriginsOf returns the origins of an Alertmanager configuration. all are the existing
// AlertmanagerConfigs, results the results of compiling them.
func OriginsOf(am *v1.Alertmanager, all []catalog.Object, results []fragments.Result) Origins {
	origins := Origins{Alertmanager: am, Configs: map[string]*v1alpha1.AlertmanagerConfig{}}
	for _, o := range all {
		origins.Configs[o.GetNamespace()+"/"+o.GetName()] = manifest.Whole(o).(*v1alpha1.AlertmanagerConfig)
	}
	for _, v := range results {
		if v.Err != nil {
			key := v.Object.GetNamespace() + "/" + v.Object.GetName()
			delete(origins.Configs, key)
			origins.Rejected = append(origins.Rejected, Rejection{Object: v.Kind + " " + key, Err: v.Err})
		}
	}
	return origins
}
