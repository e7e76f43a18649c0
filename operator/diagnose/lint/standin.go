package lint

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// selected returns the rows of the kinds that the workloads can select.
func selected(workloads []dryrun.Workload) []*catalog.Row {
	var kinds []*engine.Kind
	for _, w := range workloads {
		kinds = append(kinds, w.Kind)
	}
	return manifests.Selectable(kinds)
}

// standIn returns a Prometheus that selects all objects of the kinds that no workload can select;
// needed is false if the workloads can select all kinds that a Prometheus can.
func standIn(kinds []*engine.Kind, workloads []dryrun.Workload, version string) (w dryrun.Workload, needed bool) {
	i := slices.IndexFunc(kinds, func(k *engine.Kind) bool { return k.Row == catalog.Prometheus })
	if i < 0 {
		return w, false
	}
	others := selected(workloads)
	all := map[string]metav1.LabelSelector{}
	for _, s := range kinds[i].Selects {
		if !slices.Contains(others, s.Row) {
			all[s.Field+"Selector"], all[s.Field+"NamespaceSelector"] = metav1.LabelSelector{}, metav1.LabelSelector{}
		}
	}
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "lint"}}
	if text, err := json.Marshal(all); err == nil {
		_ = json.Unmarshal(text, &p.Spec) // a test checks that these are all selectors
	}
	p.Spec.Version = version
	return dryrun.Workload{Kind: kinds[i], Object: p}, len(all) > 0
}

// standsIn reports whether a workload, given by name, is not among the manifests.
func (l *linter) standsIn(name string) bool { return slices.Contains(l.standIns, name) }

// anyGlobals is the configuration of an Alertmanager with all settings that receivers may omit, because
// those of the cluster are unknown.
const anyGlobals = `global:
  smtp_from: a@b.c
  smtp_smarthost: a:25
  slack_api_url: https://a
  opsgenie_api_key: a
  victorops_api_key: a
  wechat_api_secret: a
  wechat_api_corp_id: a
  telegram_bot_token: a
  mattermost_webhook_url: https://a
  rocketchat_token: a
  rocketchat_token_id: a
  jira_api_url: https://a
route: {receiver: a}
receivers: [{name: a}]
`

// managerStandIn returns an Alertmanager that selects all AlertmanagerConfigs; needed is false if there is
// none, or an Alertmanager among the manifests.
func managerStandIn(kinds []*engine.Kind, o *manifests.Objects) (w dryrun.Workload, needed bool) {
	i := slices.IndexFunc(kinds, func(k *engine.Kind) bool { return k.Row == catalog.Alertmanager })
	if i < 0 || len(o.All(catalog.Alertmanager)) > 0 || len(o.All(catalog.AlertmanagerConfig)) == 0 {
		return w, false
	}
	am := &v1.Alertmanager{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "lint"}}
	am.Spec.AlertmanagerConfigSelector, am.Spec.AlertmanagerConfigNamespaceSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	am.Spec.ConfigSecret = "lint"
	before, own := o.References.Otherwise, assets.Ref{Kind: assets.Secret, Namespace: am.Namespace, Name: am.Spec.ConfigSecret}
	o.References.Otherwise = func(ref assets.Ref) (assets.Object, bool) {
		switch {
		case ref == own:
			return assets.Object{Version: "assumed", Values: map[string][]byte{v1.AlertmanagerConfigKey: []byte(anyGlobals)}}, true
		case before != nil:
			return before(ref)
		}
		return assets.Object{}, false
	}
	return dryrun.Workload{Kind: kinds[i], Object: am}, true
}
