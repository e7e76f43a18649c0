package promworkload

import (
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	webPort       = 9090
	webConfigDir  = "/etc/prometheus/web_config"
	webConfigFile = webConfigDir + "/" + "web-config.yaml"

	reloadPath      = "/-/reload"
	runtimeInfoPath = "/api/v1/status/runtimeinfo"
)

func (o *Owner) webConfig() workload.WebConfig {
	w := workload.WebConfig{Dir: webConfigDir, SecretName: o.WebConfigSecretName(), Read: o.err == nil && withWebConfig.Has(o.version)}
	if o.common.Web != nil {
		w.Fields = o.common.Web.WebConfigFileFields
	}
	return w
}

// reloadersServeWeb reports whether the reloaders use the web configuration too.
func (o *Owner) reloadersServeWeb() bool {
	return o.daemonSet || o.common.Web != nil && withWebConfig.Has(o.version)
}

// localURL returns the URL of a server endpoint for other containers of the pod. It has
// the route prefix; the external URL is ignored.
func (o *Owner) localURL(endpoint string) string { return o.LocalURL(o.webConfig().Scheme(), endpoint) }
