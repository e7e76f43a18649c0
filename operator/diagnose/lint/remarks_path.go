package lint

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
)

// externalPath reports an external URL whose path is not the one under which the server answers. Links of its pages and
// alerts are dead then, unless a proxy rewrites paths.
func (l *linter) externalPath(self Finding, w dryrun.Workload) {
	external := ""
	if common := v1alpha1.CommonFields(w.Object); common != nil {
		external = common.ExternalURL
	} else if a, is := w.Object.(*v1.Alertmanager); is {
		external = a.Spec.ExternalURL
	}
	at, err := url.Parse(external)
	if err != nil || at.Host == "" { // none, or reported as wrong
		return
	}
	public, own := slashed(at.Path), slashed(w.Object.GetWorkloadFields().RoutePrefix)
	if public == own {
		return
	}
	self.Severity, self.Code = SeverityNote, CodeRemark
	if own == "/" {
		self.Field = "spec.externalUrl"
		self.Message = fmt.Sprintf("has the path %s, but the server answers under /, so it needs a proxy that removes the path; if yours does not, write routePrefix: %s", public, public)
	} else {
		self.Field = "spec.routePrefix"
		self.Message = fmt.Sprintf("the server answers under %s, but its links begin with %s; unless a proxy rewrites paths, write externalUrl: %s://%s%s", own, external, at.Scheme, at.Host, own)
	}
	l.add(self, "")
}

// slashed returns a path with one slash before it and none after it, "/" for none.
func slashed(path string) string { return "/" + strings.Trim(cmp.Or(path, "/"), "/") }
