package lint

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Addresses and ports of each form that targets have. An annotation for a port may be missing, or have the name of one.
var (
	someAddresses = []string{"10.0.0.1:8080", "10.0.0.1", "[fd00::1]:8080", "web.example.com:8080", "web"}
	somePorts     = []string{"9090", "", "metrics"}
)

// noAddressAndPort returns what the address and the port of a target are joined to, if a regex never matches it: it is
// for the address alone, or for one that has the port already. Empty if it may match, and for other source labels.
func noAddressAndPort(s *v1.RelabelConfig, re *syntax.Regexp, separator string) string {
	if len(s.SourceLabels) != 2 || s.SourceLabels[0] != model.AddressLabel || !general(re) {
		return ""
	}
	if port := string(s.SourceLabels[1]); !strings.HasSuffix(port, "_port") && !strings.HasSuffix(port, "_port_number") {
		return ""
	}
	whole, err := regexcost.Whole(s.Regex)
	if err != nil {
		return ""
	}
	for _, address := range someAddresses {
		for _, port := range somePorts {
			if whole.MatchString(address + separator + port) {
				return ""
			}
		}
	}
	return someAddresses[0] + separator + somePorts[0]
}

// general reports whether an expression has no literals but those between the parts of an address, and no numbers of
// repetitions: it matches every address of a form, or none.
func general(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpRepeat:
		return false
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !strings.ContainsRune(":;.", r) })
	case syntax.OpCharClass:
		for _, r := range "059" {
			if !mayContain(re, r) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !general(sub) })
}
