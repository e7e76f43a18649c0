package workload

// Gate is a command-line argument that only some versions of its program support, for the documentation.
type Gate struct {
	// Program is, for example, "prometheus" or "thanos sidecar".
	Program string
	// Argument is the argument as written: "--web.page-title", "--enable-feature=agent".
	Argument string
	// Since is the first version with the argument, and Until the first without it; empty means no limit.
	Since, Until string
	// Field is the field that sets the argument. It is empty if there is none, or if
	// another field reports the missing version.
	Field string
}

// GatesOf returns the version limits in a table. Rows for features are distinguished by
// their value, which does not depend on in.
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
