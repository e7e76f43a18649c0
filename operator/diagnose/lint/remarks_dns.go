package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// portOfName matches a port at the end of a name.
var portOfName = lazyregexp.New(`^(.*):(\d+)$`)

// serviceName matches the names of SRV records.
var serviceName = lazyregexp.New(`^_[^.]+\._(tcp|udp|sctp|tls)\.`)

// dnsRemarks reports names of a DNS discovery that have no such records.
func dnsRemarks(say says, m *v1alpha1.ScrapeConfig) {
	for i := range m.Spec.DNSSDConfigs {
		sd := &m.Spec.DNSSDConfigs[i]
		for j, name := range sd.Names {
			field := fmt.Sprintf("spec.dnsSDConfigs[%d].names[%d]", i, j)
			if _, rest, is := strings.Cut(name, "://"); is {
				say(field, "is a name of the DNS, not a URL: write %s", strings.TrimSuffix(rest, "/"))
			} else if part := portOfName.FindStringSubmatch(name); part != nil {
				say(field, "is a name of the DNS, which has no port: write %s here, and port: %s beside names", part[1], part[2])
			}
		}
		if addresses := strings.ToUpper(string(sd.Type)); addresses == "A" || addresses == "AAAA" {
			if n := slices.IndexFunc(sd.Names, serviceName.MatchString); n >= 0 {
				say(fmt.Sprintf("spec.dnsSDConfigs[%d].type", i), "%s asks for addresses, and %s is the name of SRV records, which has none: write type: SRV, without port", addresses, sd.Names[n])
			}
		}
		srv := sd.Type == "" || strings.EqualFold(string(sd.Type), "SRV")
		if srv && sd.Port != nil && *sd.Port > 0 && len(sd.Names) > 0 && !strings.HasPrefix(sd.Names[0], "_") {
			say(fmt.Sprintf("spec.dnsSDConfigs[%d].port", i), "has no effect with records of type SRV, the default, of which the port is a part; write type: A for the addresses of %s", sd.Names[0])
		}
	}
}
