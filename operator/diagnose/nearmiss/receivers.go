package nearmiss

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// writePath is the path at which a Prometheus accepts remote write.
const writePath = "/api/v1/write"

// server describes a Prometheus server by its arguments.
type server struct {
	is       bool // it is one, and no agent
	receives bool // it accepts remote write
}

// argument evaluates an argument of a container.
func (s *server) argument(arg string) {
	switch name, value, _ := strings.Cut(arg, "="); name {
	case "--storage.tsdb.path":
		s.is = true
	case "--web.enable-remote-write-receiver":
		s.receives = value != "false"
	case "--enable-feature":
		s.receives = s.receives || strings.Contains(value, "remote-write-receiver")
	}
}

// RemoteWrite returns hints about Prometheus servers that refuse the samples of a workload.
func (v *View) RemoteWrite(w v1.Workload) (out []Hint) {
	var all []v1.RemoteWriteSpec
	if ruler, is := w.(*v1.ThanosRuler); is {
		all = ruler.Spec.RemoteWrite
	} else if common := v1alpha1.CommonFields(w); common != nil {
		all = common.RemoteWrite
	}
	for i := range all {
		to, err := url.Parse(all[i].URL)
		if err != nil {
			continue // rejected
		}
		out = append(out, v.sentTo(fmt.Sprintf("spec.remoteWrite[%d].url", i), all[i].URL, w.GetNamespace(), "the pod")...)
		for _, svc := range v.addressed(to.Host, w.GetNamespace()) {
			for _, p := range v.behind(svc) {
				if h, refused := p.refuses(svc, to); refused {
					h.Field = fmt.Sprintf("spec.remoteWrite[%d].url", i)
					out = append(out, h)
				}
			}
		}
	}
	return once(out)
}

// Webhooks returns hints about URLs of an AlertmanagerConfig that lead to no Service. own is the namespace of the
// Alertmanager.
func (v *View) Webhooks(c *v1alpha1.AlertmanagerConfig, own string) (out []Hint) {
	for i := range c.Spec.Receivers {
		for j, hook := range c.Spec.Receivers[i].WebhookConfigs {
			if hook.URL != nil {
				out = append(out, v.sentTo(fmt.Sprintf("spec.receivers[%d].webhookConfigs[%d].url", i, j), string(*hook.URL), own, "the Alertmanager")...)
			}
		}
	}
	return once(out)
}

// addressedBy returns hints about Services that a ScrapeConfig names, as targets or as the source of targets. own is the
// namespace of the workload.
func (v *View) addressedBy(object catalog.Object, own string) (out []Hint) {
	c, is := object.(*v1alpha1.ScrapeConfig)
	if !is {
		return nil
	}
	tls := strings.EqualFold(string(c.Spec.Scheme), "https")
	for i := range c.Spec.StaticConfigs {
		for j, target := range c.Spec.StaticConfigs[i].Targets {
			out = append(out, v.unserved(address{host: string(target), tls: tls, field: fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j), own: own, client: "the Prometheus"})...)
		}
	}
	for i := range c.Spec.HTTPSDConfigs {
		out = append(out, v.sentTo(fmt.Sprintf("spec.httpSDConfigs[%d].url", i), string(c.Spec.HTTPSDConfigs[i].URL), own, "the Prometheus")...)
	}
	return out
}

// sentTo returns a hint if the URL of a field leads to no Service. A bare name is looked up in the namespace own, that
// of the client.
func (v *View) sentTo(field, text, own, client string) []Hint {
	u, err := url.Parse(text)
	if err != nil || u.User != nil {
		return nil
	}
	return v.unserved(address{host: u.Host, tls: u.Scheme == "https", before: u.Scheme + "://", field: field, own: own, client: client})
}

// addressed returns the Service that a host refers to, seen from a namespace; none if it is not in the view.
func (v *View) addressed(text, own string) (out []service) {
	h, ok := v.hostOf(text)
	if !ok {
		return nil
	}
	if h.namespace == "" {
		h.namespace = own
	}
	for _, svc := range v.services {
		if svc.namespace == h.namespace && svc.name == h.name {
			out = append(out, svc)
		}
	}
	return out
}

// refuses reports whether pods behind a Service are a Prometheus that does not accept remote write at a URL.
func (p pods) refuses(svc service, to *url.URL) (h Hint, refused bool) {
	path := strings.TrimSuffix(p.prefix, "/") + writePath
	switch {
	case !p.server.is:
		return Hint{}, false
	case !p.server.receives:
		remedy := "start it with --web.enable-remote-write-receiver"
		if name, is := strings.CutPrefix(p.name, "prometheus-"); is && p.made {
			remedy = fmt.Sprintf("set enableRemoteWriteReceiver: true in Prometheus %s/%s", p.namespace, name)
		}
		return Hint{Code: Remark, Message: fmt.Sprintf("%s behind %s does not accept remote write and answers 404: %s", p, svc, remedy)}, true
	case strings.TrimSuffix(to.Path, "/") != path:
		return Hint{Code: Remark, Message: fmt.Sprintf("%s behind %s accepts remote write at %s only: write %s://%s%s", p, svc, path, to.Scheme, to.Host, path)}, true
	}
	return Hint{}, false
}
