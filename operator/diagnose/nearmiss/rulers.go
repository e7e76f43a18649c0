package nearmiss

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ThanosRuler returns hints about addresses of a ThanosRuler, of queriers and Alertmanagers, that lead to no Service.
func (v *View) ThanosRuler(w v1.Workload) (out []Hint) {
	ruler, is := w.(*v1.ThanosRuler)
	if !is {
		return nil
	}
	if ruler.Spec.QueryConfig == nil {
		for i, text := range ruler.Spec.QueryEndpoints {
			out = append(out, v.resolved(fmt.Sprintf("spec.queryEndpoints[%d]", i), text, w.GetNamespace())...)
		}
	}
	if ruler.Spec.AlertmanagersConfig == nil {
		for i, text := range ruler.Spec.AlertmanagersURL {
			out = append(out, v.resolved(fmt.Sprintf("spec.alertmanagersUrl[%d]", i), text, w.GetNamespace())...)
		}
	}
	return once(out)
}

// lookups are the prefixes of addresses that Thanos looks up in the DNS.
var lookups = []string{"dns", "dnssrv", "dnssrvnoa"}

// resolved returns hints about an address of Thanos: [LOOKUP+][SCHEME://]HOST[:PORT][/PATH], where the host of a lookup of SRV
// records is _PORT._tcp.SERVICE….
func (v *View) resolved(field, text, own string) []Hint {
	a := address{field: field, own: own, client: "the ThanosRuler"}
	lookup, rest, is := strings.Cut(text, "+")
	if is && !strings.ContainsAny(lookup, ":/.") {
		a.before, text = lookup+"+", rest
		if !slices.Contains(lookups, lookup) {
			return []Hint{{Code: Remark, Field: field, Message: fmt.Sprintf("Thanos has no lookup %s+, so the address is never found; there are %s+", lookup, strings.Join(lookups, "+, "))}}
		}
	}
	if scheme, rest, is := strings.Cut(text, "://"); is {
		a.before, a.tls, text = a.before+scheme+"://", scheme == "https", rest
	}
	a.host, _, _ = strings.Cut(text, "/")
	if strings.Contains(a.host, "@") {
		return nil
	}
	if strings.HasPrefix(a.before, lookups[1]) {
		labels := strings.SplitN(a.host, ".", 3)
		if len(labels) < 3 || !strings.HasPrefix(labels[0], "_") || labels[1] != "_tcp" {
			return nil
		}
		a.before, a.port, a.host = a.before+labels[0]+"._tcp.", labels[0][1:], labels[2]
	}
	return v.unserved(a)
}
