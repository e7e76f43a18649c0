package workload

// Gate is one command-line argument that only some versions of its program
// know, for documentation pages.
type Gate struct {
	// Program is "prometheus", "thanos sidecar" and the like.
	Program string
	// Argument is what is written: "--web.page-title", "--enable-feature=agent".
	Argument string
	// Since is the first version with it, Until the first without; empty is open.
	Since, Until string
	// Field of the object asks for it; empty when nobody has to ask, or when
	// another key reports the missing version.
	Field string
}

// GatesOf describes the rows of one table that have limits. Rows for features
// are told apart by their value, which does not depend on the object in.
func GatesOf[In any](program string, rows []Row[In], in In) []Gate {
	var out []Gate
	for _, row := range rows {
		if row.In == (Versions{}) {
			continue
		}
		a := Arg{Name: row.Name}
		if row.Name == "enable-feature" && row.Value != nil {
			a.Value, _ = row.Value(in)
		}
		out = append(out, Gate{
			Program: program, Argument: a.String(),
			Since: row.In.Since, Until: row.In.Until, Field: row.Field,
		})
	}
	return out
}
