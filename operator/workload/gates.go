package workload

import (
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// Gate is one command-line argument that only some versions of its program
// know, for documentation pages.
type Gate struct {
	// Program is "prometheus", "prometheus agent" or "thanos sidecar"; arguments
	// that servers and agents share are listed under "prometheus" only.
	Program string
	// Argument is what is written: "--web.page-title", "--enable-feature=agent".
	Argument string
	// Since is the first version with it, Until the first without; empty is open.
	Since, Until string
	// Field of the object asks for it; empty when nobody has to ask, or when
	// another key reports the missing version.
	Field string
}

// Gates lists the gated arguments in the order in which they are written.
func Gates() []Gate {
	server := ForServer(&v1.Prometheus{}, Config{})
	agent := ForAgent(&v1alpha1.PrometheusAgent{}, Config{})
	out := gatesOf("prometheus", commonArgs, server)
	out = append(out, gatesOf("prometheus", serverArgs, server)...)
	out = append(out, gatesOf("prometheus agent", agentArgs, agent)...)
	return append(out, gatesOf("thanos sidecar", thanosArgs, nil)...)
}

// gatesOf describes the rows of one table that have limits. Rows for features
// are told apart by their value, which does not depend on the owner.
func gatesOf(program string, rows []argRow[*Owner], o *Owner) []Gate {
	var out []Gate
	for _, row := range rows {
		if row.in == (versions{}) {
			continue
		}
		a := arg{name: row.name}
		if row.name == "enable-feature" {
			a.value, _ = row.value(o)
		}
		out = append(out, Gate{
			Program: program, Argument: a.String(),
			Since: row.in.since, Until: row.in.until, Field: row.field,
		})
	}
	return out
}
