package promworkload

const (
	webPort         = 9090
	runtimeInfoPath = "/api/v1/status/runtimeinfo"
)

// reloadersServeWeb reports whether the reloaders use the web configuration too.
func (b *Builder) reloadersServeWeb() bool {
	return b.daemonSet || b.common.Web != nil && serverWeb.In.Has(b.Version)
}

// localURL returns the URL of a server endpoint for other containers of the pod. It has
// the route prefix; the external URL is ignored.
func (b *Builder) localURL(endpoint string) string { return b.LocalURL(b.Scheme(), endpoint) }
