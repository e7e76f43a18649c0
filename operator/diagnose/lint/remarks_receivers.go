package lint

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// store is a database that accepts remote write at a path of its own.
type store struct {
	host  *lazyregexp.Regexp // matches the first word of the host
	path  *lazyregexp.Regexp // matches the paths at which it accepts samples
	write string             // what to write; empty if it accepts no remote write
	name  string
	ports map[string]string // ports that are for something else
}

// stores are recognized by the name of their Service. Other hosts may be anything.
var stores = []store{
	{lazyregexp.New(`mimir`), lazyregexp.New(`^/api/v1/push$|^/otlp/`), "/api/v1/push", "Mimir", nil},
	{lazyregexp.New(`cortex`), lazyregexp.New(`^/api/(v1|prom)/push$`), "/api/v1/push", "Cortex", nil},
	{lazyregexp.New(`thanos.*receive`), lazyregexp.New(`^/api/v1/receive$`), "/api/v1/receive", "Thanos Receive", map[string]string{"10901": "gRPC", "10902": "its own metrics and probes"}},
	{lazyregexp.New(`vminsert`), lazyregexp.New(`^/insert/(multitenant|\d+(:\d+)?)/prometheus/?(api/v1/write)?$`), "/insert/0/prometheus/api/v1/write", "vminsert", nil},
	{lazyregexp.New(`^(vmsingle|victoria-metrics-single)`), lazyregexp.New(`^/(prometheus/)?(api/v1/(write|push))$`), "/api/v1/write", "VictoriaMetrics", nil},
	{lazyregexp.New(`^loki`), lazyregexp.New(`^$`), "", "Loki", nil},
}

// storeRemark reports a URL of remote write that the database behind it answers with an error, as its name says.
func storeRemark(say says, field, text string) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.HasSuffix(u.Hostname(), ".grafana.net") {
		return
	}
	if host := u.Hostname(); (host == "localhost" || host == "127.0.0.1") && u.Port() == "9090" {
		say(field, "%s is the pod itself, so the Prometheus writes to its own port; write the address of the other one, such as that of its Service", host)
		return
	}
	if use := queried(u.Path); use != "" {
		say(field, "%s is the path for %s, which accepts no samples: write that for remote write, such as /api/v1/write of a Prometheus with enableRemoteWriteReceiver: true", u.Path, use)
		return
	}
	word, _, _ := strings.Cut(u.Hostname(), ".")
	for _, s := range stores {
		if !s.host.MatchString(word) {
			continue
		}
		path := strings.TrimSuffix(u.Path, "/")
		switch use := s.ports[u.Port()]; {
		case s.write == "":
			say(field, "%s is, by its name, a %s, which stores logs and accepts no remote write", word, s.name)
		case !s.path.MatchString(path):
			say(field, "%s is, by its name, %s, which accepts remote write at %s, and this path is %s: write %s", word, s.name, s.write, orRoot(path), fmt.Sprintf("%s://%s%s", u.Scheme, u.Host, s.write))
		case use != "":
			say(field, "port %s of %s is for %s; remote write has a port of its own, 19291 unless --remote-write.address says otherwise", u.Port(), s.name, use)
		}
		return
	}
}

// otherPaths are ends of paths of the HTTP API of Prometheus that do not accept remote write.
var otherPaths = []struct{ end, use string }{
	{"/api/v1/query", "queries"}, {"/api/v1/query_range", "queries"}, {"/api/v1/series", "queries"}, {"/api/v1/read", "remote read"}, {"/federate", "federation"}, {"/metrics", "its own metrics"}, {"/graph", "its pages"},
}

// queried returns for what a path is that does not accept remote write; empty if it may.
func queried(path string) string {
	for _, other := range otherPaths {
		if strings.HasSuffix(strings.TrimSuffix(path, "/"), other.end) {
			return other.use
		}
	}
	return ""
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// amazonWorkspace matches the host of a workspace of Amazon Managed Service for Prometheus; the first group is its region.
var amazonWorkspace = lazyregexp.New(`(?:^|\.)aps-workspaces(?:-fips)?\.([a-z0-9-]+)\.(?:vpce\.)?(?:amazonaws\.com(?:\.cn)?|api\.aws)$`)

// unsignedRemark reports remote write to Amazon's service without the signature that each request needs.
func unsignedRemark(say says, path string, to *v1.RemoteWriteSpec) {
	u, err := url.Parse(to.URL)
	if err != nil || to.Sigv4 != nil || to.ProxyURL != "" {
		return // a proxy may sign
	}
	if m := amazonWorkspace.FindStringSubmatch(u.Hostname()); m != nil {
		say(path+".sigv4", "is not set, and Amazon's service refuses requests without a signature (403 Missing Authentication Token): write sigv4: {region: %s}, with the role of the pod or accessKey and secretKey", m[1])
	}
}
